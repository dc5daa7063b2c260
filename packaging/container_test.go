package packaging_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheDevContainerHasWhatCIUses: the Go of go.mod, and each program that .ci/run installs from Debian.
func TestTheDevContainerHasWhatCIUses(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var container struct {
		Image             string
		PostCreateCommand string
	}
	if err := json.Unmarshal([]byte(read("../.devcontainer/devcontainer.json")), &container); err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read("../go.mod"))
	if want := "golang:" + version[1] + "-bookworm"; container.Image != want {
		t.Errorf("the image is %s, not %s", container.Image, want)
	}
	if info, err := os.Stat("../" + container.PostCreateCommand); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("%s cannot be run: %v", container.PostCreateCommand, err)
	}
	programs := regexp.MustCompile(`--no-install-recommends(?: \\\n)? *([a-z -]+)`)
	has := strings.Fields(programs.FindStringSubmatch(read("../.devcontainer/setup"))[1])
	wants := programs.FindAllStringSubmatch(read("../.ci/run"), -1)
	for _, m := range wants {
		for _, name := range strings.Fields(m[1]) {
			if !slices.Contains(has, name) {
				t.Errorf("it has %q, and not %s", has, name)
			}
		}
	}
	if len(wants) < 5 {
		t.Errorf("only %d lines of .ci/run install something", len(wants))
	}
}
