//go:build unix

package worker

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/test/golden"
)

// mostBytes is what a list may cost: the model of a worker pays for it in every request.
const mostBytes = 2816

// lists are the workers whose lists differ.
var lists = map[string]string{"terminal": "deliver get_assignment heartbeat wait_for_inputs write_output",
	"other": "get_assignment heartbeat wait_for_inputs write_output", "asker": "ask_human get_assignment heartbeat wait_for_answer wait_for_inputs write_output", "talker": "get_assignment heartbeat wait_for_inputs write_output"}

func listed(t *testing.T, kind string) (*client, *mcp.ListToolsResult) {
	t.Helper()
	c := newStage(t, kinds[kind].workflow, config.Deliver{}).enter(kinds[kind].role)
	list, err := c.ListTools(t.Context(), nil)
	must(t, err)
	return c, list
}

// TestEveryDefinitionIsAsItWasReviewed: what a model reads changes only together with its snapshot; a list is small,
// sorted, for its caller alone, and only the terminal worker's has deliver.
func TestEveryDefinitionIsAsItWasReviewed(t *testing.T) {
	t.Parallel()
	for kind, want := range lists {
		c, list := listed(t, kind)
		text, err := json.MarshalIndent(list.Tools, "", "  ")
		must(t, err)
		golden.Check(t, filepath.Join("testdata", kind+".json"), string(text)+"\n")
		golden.Check(t, filepath.Join("testdata", kind+".txt"), c.InitializeResult().Instructions+"\n")
		wire, err := json.Marshal(list)
		must(t, err)
		t.Logf("%s: %d tools, %d bytes", kind, len(list.Tools), len(wire))
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != want || len(wire) > mostBytes || list.CacheScope != "private" {
			t.Errorf("%s has %s in %d bytes, for %q", kind, got, len(wire), list.CacheScope)
		}
	}
}

// TestEveryDefinitionIsWhatAllClientsTake: annotated, loaded at once, without what some provider refuses.
func TestEveryDefinitionIsWhatAllClientsTake(t *testing.T) {
	t.Parallel()
	for kind := range lists {
		_, list := listed(t, kind)
		for _, tool := range list.Tools {
			a := tool.Annotations
			text, err := json.Marshal(tool)
			must(t, err)
			var schema struct {
				Type       string
				Additional *bool `json:"additionalProperties"`
			}
			raw, err := json.Marshal(tool.InputSchema)
			must(t, err)
			must(t, json.Unmarshal(raw, &schema))
			if a == nil || a.DestructiveHint == nil || *a.DestructiveHint || a.OpenWorldHint == nil || *a.OpenWorldHint || !a.IdempotentHint ||
				tool.Meta["anthropic/alwaysLoad"] != true || tool.Title == "" || tool.OutputSchema != nil || schema.Type != "object" ||
				schema.Additional == nil || *schema.Additional || bytes.Contains(text, []byte("Of\":")) {
				t.Errorf("%s of %s: %s", tool.Name, kind, text)
			}
		}
	}
}

// TestTheInstructionsNameTheWorkersToolsAndNoOther.
func TestTheInstructionsNameTheWorkersToolsAndNoOther(t *testing.T) {
	t.Parallel()
	for kind, tools := range lists {
		c, _ := listed(t, kind)
		text := c.InitializeResult().Instructions
		for _, tool := range Catalogue() {
			own := slices.Contains(strings.Fields(tools), tool.Name) && tool.Name != "heartbeat"
			if named := regexp.MustCompile(`\b` + tool.Name + `\b`).MatchString(text); named != own {
				t.Errorf("%s: the instructions name %s: %v", kind, tool.Name, named)
			}
		}
		caps, err := json.Marshal(c.InitializeResult().Capabilities)
		must(t, err)
		if string(caps) != `{"tools":{}}` || len(text) > 1500 {
			t.Errorf("%s: %d bytes of instructions, capabilities %s", kind, len(text), caps)
		}
	}
}

// TestACodeIsOneOfTheVocabulary that all tools of ferrus have.
func TestACodeIsOneOfTheVocabulary(t *testing.T) {
	t.Parallel()
	codes := func(file string) []string {
		text, err := os.ReadFile(file)
		must(t, err)
		var all []string
		for _, m := range regexp.MustCompile(`Code = "([a-z_]+)"`).FindAllStringSubmatch(string(text), -1) {
			all = append(all, m[1])
		}
		return all
	}
	known, ours := codes("../../state/refusal/refusal.go"), codes("result.go")
	for _, code := range ours {
		if !slices.Contains(known, code) {
			t.Errorf("%s is none of %v", code, known)
		}
	}
	if len(ours) != 10 {
		t.Errorf("there are %v", ours)
	}
}
