package server

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
)

// A release sets them: go build -ldflags "-X github.com/ferrus-go/ferrus/internal/server.version=v1.2.3". In other builds they are
// empty, and Go's own record of the build is used.
var version, commit, date string

// A BuildInfo says from what the program was built.
type BuildInfo struct {
	Version  string `json:"version"`          // as v1.2.3; devel when unknown
	Commit   string `json:"commit,omitempty"` // in full
	Date     string `json:"date,omitempty"`   // of the commit, as in RFC 3339
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Built returns what is known of this build.
func Built() BuildInfo {
	b := BuildInfo{Version: version, Commit: commit, Date: date, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok && b.Version == "" {
		b.Version = strings.TrimPrefix(info.Main.Version, "(devel)")
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.time":
				b.Date = s.Value
			}
		}
	}
	b.Version = cmp.Or(b.Version, "devel")
	return b
}

// String describes the build in a line, from the version on.
func (b BuildInfo) String() string {
	text := b.Version + " " + b.Go + " " + b.Platform
	if b.Commit != "" {
		text += " commit " + b.Commit[:min(12, len(b.Commit))] + " " + b.Date
	}
	return text
}

// Build describes this build: the version, the compiler and system, and the commit where it is known.
func Build() string { return Built().String() }

// Version returns the version of this build of ferrus.
func Version() string { return Built().Version }
