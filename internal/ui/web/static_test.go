package web

import (
	"bytes"
	"io/fs"
	"regexp"
	"testing"
)

// attributes that would be code or style in a page: the policy of the page refuses them, so they would do nothing.
var inline = regexp.MustCompile(`(?i)<[^>]* (on[a-z]+|style)=|<style|<script>|javascript:|https?://`)

// TestThePagesHaveNoCodeInThem, load nothing from elsewhere, and have little script beside them.
func TestThePagesHaveNoCodeInThem(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(sources, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(sources, name)
		if found := inline.Find(text); found != nil {
			t.Errorf("%s: %s", name, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	script, err := fs.ReadFile(static, "static/page.js")
	if lines := bytes.Count(script, []byte("\n")); err != nil || lines == 0 || lines >= 250 {
		t.Errorf("%d lines of JavaScript, %v", lines, err)
	}
}
