// Command make writes what a release has beside its programs:
//
//	go run ./packaging/make files DIR VERSION DATE       man pages, completions, licences, server.json
//	go run ./packaging/make sbom PROGRAM FILE DATE       what the program is made of, as SPDX
//	go run ./packaging/make npm DIST DIR VERSION         the npm packages, from the programs in DIST
//	go run ./packaging/make site DIR VERSION             the documentation as a static site
//	go run ./packaging/make image ROOT FILE PROCESSOR VERSION COMMIT DATE
//	                                                     an image, from the archive of a root
//
// The same arguments write the same bytes. See docs/decisions/0116 and 0119.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// modes are what can be made, with the number of arguments of each.
var modes = map[string]struct {
	arguments int
	run       func(args []string) error
}{
	"files": {3, files},
	"sbom":  {3, sbom},
	"npm":   {3, npm},
	"site":  {2, site},
	"image": {6, image},
}

func main() {
	args := os.Args[1:]
	if len(args) == 0 || modes[args[0]].arguments != len(args)-1 {
		fmt.Fprintln(os.Stderr, "make: files DIR VERSION DATE | sbom PROGRAM FILE DATE | npm DIST DIR VERSION | site DIR VERSION | image ROOT FILE PROCESSOR VERSION COMMIT DATE")
		os.Exit(2)
	}
	if err := modes[args[0]].run(args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

// write writes a file, and the folders above it.
func write(name string, text []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, mode)
}
