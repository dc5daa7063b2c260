// Command systems checks that all packages, and their tests, are correct Go on other operating systems:
//
//	go run ./test/systems darwin windows
//
// It reads the types of everything that they import from source, without the bodies of functions. go vet would compile all of it first, once for each
// system, which takes minutes in a clean cache.
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	failed := false
	for _, system := range os.Args[1:] {
		for _, problem := range problems(system, ".", "./...") {
			fmt.Fprintf(os.Stderr, "%s: %v\n", system, problem)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// problems returns what is wrong with the packages that match in a folder, on an operating system by its name in GOOS.
func problems(system, dir string, patterns ...string) (list []error) {
	loaded, err := packages.Load(&packages.Config{
		Mode:  packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule,
		Dir:   dir,
		Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		Tests: true,
	}, patterns...)
	if err != nil {
		return []error{err}
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			list = append(list, e)
		}
	}
	return list
}
