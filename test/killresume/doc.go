// Killresume kills what works on tasks, at random, and counts what becomes of them.
//
//	go run ./test/killresume [-systems NAMES] [-seeds N] [-first SEED] [-tasks N] [-every DURATION] [-out FILE]
//		[-pictures DIR] [-v]
//
// Each system gets the same tasks in a repository of its own, and the same scripted agents instead of a model: they think, write a line,
// and go on, and they continue what they find half done. A killer sends SIGKILL to agents, servers, conductors and checks, and to all of
// them at once. What it kills and when follows from the seed. A manager of services starts the main program of each system again when it
// has ended, and a person edits a file meanwhile. In the end a judge that knows no system looks at the files.
//
// What peers need is installed into the user's cache, of fixed versions (pack.go); one that cannot be installed is left out, and the program
// says why.
//
// The program knows a system by its adapter alone (adapter.go). What agents and checks did stands in a record outside of the project that
// nobody kills (record.go), and the judge reads it (judge.go). It prints a table with the mean and a 95 % interval over the seeds, beside
// runs without kills. With -out each run is a line of JSON, and with -seeds 0 the table is made of these lines.
//
// Start reading at run.go. It needs Linux.
package main
