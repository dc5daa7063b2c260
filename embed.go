// Package ferrus holds the files that the binaries carry with them: what
// `ferrus init` copies into a project and the example of its configuration.
// The program itself is in cmd and internal.
package ferrus

import (
	"embed"
	"io/fs"
)

// ExampleConfig is the text of ferrus.toml.example: every key with its default
// and one comment each.
//
//go:embed ferrus.toml.example
var ExampleConfig string

//go:embed all:.ferrus-template
var files embed.FS

// Template is the tree that `ferrus init` copies into a project's .ferrus:
// README.md, TASK.example.md and skills/<name>/SKILL.md, one skill a role.
func Template() fs.FS {
	sub, err := fs.Sub(files, ".ferrus-template")
	if err != nil {
		panic(err) // the name is a constant and valid
	}
	return sub
}
