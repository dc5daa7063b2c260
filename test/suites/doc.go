// Package suites contains only tests. Real test suites of Go, npm and cargo, and the clients of a real PostgreSQL, run as the checks
// of a task in each sandbox.
//
// The suite of Go compiles the standard library for a cache of its own, so that it runs only on request:
//
//	go test ./test/suites -suites
package suites
