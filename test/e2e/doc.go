// Package e2e contains only tests. They let real server processes work against each other, as
// clients would, and kill, stop or abandon them.
//
// By default the tests run a reduced number of rounds. With -full they run all rounds, with -short
// only a few.
package e2e
