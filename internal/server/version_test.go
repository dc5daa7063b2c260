package server

import (
	"runtime"
	"strings"
	"testing"
)

// TestTheVersionIsThatOfTheRelease: what the linker has set is said; a build without it says what Go has recorded, or devel.
func TestTheVersionIsThatOfTheRelease(t *testing.T) {
	if b := Built(); b.Version == "" || b.Go != runtime.Version() || !strings.HasPrefix(b.Platform, runtime.GOOS+"/") {
		t.Errorf("%+v", b)
	}
	version, commit, date = "v1.2.3", "0123456789abcdef", "2026-11-28T18:43:10Z"
	defer func() { version, commit, date = "", "", "" }()
	want := "v1.2.3 " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + " commit 0123456789ab 2026-11-28T18:43:10Z"
	if got := Build(); got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if Version() != "v1.2.3" {
		t.Error(Version())
	}
}
