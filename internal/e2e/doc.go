// Package e2e has no code but its tests: they drive real server processes against each other, as their clients would,
// and kill, stop and forget them.
//
// By default they run shortened; -full runs all rounds, -short only a few.
package e2e
