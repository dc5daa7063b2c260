package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/golden"
)

// What one role's list may cost: its model pays for it in every request.
const (
	mostTools = 12
	mostBytes = 6144
)

var roles = map[string]state.Role{"supervisor": state.Supervisor, "executor": state.Executor, "none": None}

// bare connects a client to a server without a machine.
func bare(t *testing.T, role state.Role) *mcp.ClientSession {
	return connect(t, NewServer(Options{Role: role, Version: "test", Delegates: func() bool { return true }}), nil)
}

func listed(t *testing.T, role state.Role) *mcp.ListToolsResult {
	t.Helper()
	list, err := bare(t, role).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestEveryDefinitionIsAsItWasReviewed: what a model reads of a tool changes only together with its snapshot.
func TestEveryDefinitionIsAsItWasReviewed(t *testing.T) {
	t.Parallel()
	const dir = "testdata/definitions"
	want := map[string]bool{}
	for name, role := range roles {
		for _, tool := range listed(t, role).Tools {
			text, err := json.MarshalIndent(tool, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			file := fmt.Sprintf("%s-%s.json", name, tool.Name)
			want[file] = true
			golden.Check(t, filepath.Join(dir, file), string(text)+"\n")
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[f.Name()] {
			t.Errorf("%s/%s is the snapshot of no tool", dir, f.Name())
		}
	}
}

// configurations are all combinations of options that could change what a list holds, by their names.
func configurations() map[string]Options {
	all := map[string]Options{}
	for name, role := range roles {
		for bits := range 1 << 4 {
			opts := Options{Role: role, Version: "test", Remote: bits&1 != 0, Headless: bits&2 != 0}
			if bits&4 != 0 {
				may := bits&8 != 0
				opts.Delegates = func() bool { return may }
			}
			all[fmt.Sprintf("%s %04b", name, bits)] = opts
		}
	}
	return all
}

// TestAListIsSmall counts the bytes of a tools/list result as it goes over the wire, in every configuration.
func TestAListIsSmall(t *testing.T) {
	t.Parallel()
	for name, opts := range configurations() {
		list, err := connect(t, NewServer(opts), nil).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d tools, %d bytes", name, len(list.Tools), len(text))
		if len(list.Tools) > mostTools || len(text) > mostBytes {
			t.Errorf("%s: %d tools and %d bytes; at most %d and %d", name, len(list.Tools), len(text), mostTools, mostBytes)
		}
		if list.CacheScope != "private" {
			t.Errorf("%s: the list may be cached by others: %q", name, list.CacheScope)
		}
		if !slices.IsSortedFunc(list.Tools, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%s: the order is not fixed", name)
		}
	}
}

// TestARoleHasItsToolsAndNoOther: what a person alone may do is never a tool.
func TestARoleHasItsToolsAndNoOther(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"supervisor": "approve ask_human create_task history queue_task reject respond_consult review_pending select status wait_for_answer wait_for_review",
		"executor":   "ask_human check consult delegate heartbeat progress status submit wait_for_answer wait_for_consult wait_for_task",
		"none":       "status",
	}
	for name, role := range roles {
		var names []string
		for _, tool := range listed(t, role).Tools {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != want[name] {
			t.Errorf("%s has %s, not %s", name, got, want[name])
		}
	}
}

// TestWithoutDelegatesThereIsNoToolForThem: neither where nobody may have any, nor where this task may not.
func TestWithoutDelegatesThereIsNoToolForThem(t *testing.T) {
	t.Parallel()
	may := false
	for name, opts := range map[string]Options{
		"nobody":    {Role: state.Executor, Version: "test"},
		"this task": {Role: state.Executor, Version: "test", Delegates: func() bool { return may }},
	} {
		client := connect(t, NewServer(opts), nil)
		has := func() bool {
			list, err := client.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return slices.ContainsFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name == delegateTool })
		}
		if may = false; has() {
			t.Errorf("%s: the tool is listed", name)
		}
		if may = true; has() != (opts.Delegates != nil) {
			t.Errorf("%s: the tool is listed: %v", name, has())
		}
	}
}

// TestEveryDefinitionIsWhatAllClientsTake: annotated, loaded at once, without what some provider refuses.
func TestEveryDefinitionIsWhatAllClientsTake(t *testing.T) {
	t.Parallel()
	hints := []string{"readOnlyHint", "idempotentHint", "destructiveHint", "openWorldHint"}
	for name, role := range roles {
		for _, tool := range listed(t, role).Tools {
			text, err := json.Marshal(tool)
			if err != nil {
				t.Fatal(err)
			}
			var def struct {
				Title        string
				Description  string
				Annotations  map[string]any
				Meta         map[string]any `json:"_meta"`
				InputSchema  map[string]any
				OutputSchema any
			}
			if err := json.Unmarshal(text, &def); err != nil {
				t.Fatal(err)
			}
			complain := func(format string, args ...any) {
				t.Errorf("%s of %s: %s", tool.Name, name, fmt.Sprintf(format, args...))
			}
			for _, h := range hints {
				if v, ok := def.Annotations[h].(bool); !ok || (h == "destructiveHint" || h == "openWorldHint") && v {
					complain("%s is %v", h, def.Annotations[h])
				}
			}
			if !regexp.MustCompile(`^[a-z_]{1,64}$`).MatchString(tool.Name) || def.Title == "" || def.Description == "" {
				complain("no name, title or description")
			}
			if def.Meta["anthropic/alwaysLoad"] != true || def.OutputSchema != nil {
				complain("_meta %v, outputSchema %v", def.Meta, def.OutputSchema)
			}
			if def.InputSchema["type"] != "object" || def.InputSchema["additionalProperties"] != false {
				complain("the input is %v", def.InputSchema)
			}
			for _, c := range []string{"anyOf", "oneOf", "allOf", "not", "if"} {
				if def.InputSchema[c] != nil {
					complain("%s at the top of the schema", c)
				}
			}
			if bytes.Contains(text, []byte(`\u00`)) || bytes.Contains(text, []byte(`["null"`)) {
				complain("an escape or a null type: %s", text)
			}
			if bad := unseen(string(text)); bad != "" {
				complain("has %s", bad)
			}
		}
	}
}

// unseen names the first character of a text that a reader does not see or that is not plain text, "" when there is none.
func unseen(text string) string {
	for i, r := range text {
		if r != '\n' && (unicode.Is(unicode.C, r) || unicode.IsMark(r) || unicode.IsSpace(r) && r != ' ') {
			return fmt.Sprintf("%U at byte %d", r, i)
		}
	}
	return ""
}

// TestTheInstructionsAreShortAndNameTheRolesTools: the one text that every client shows its model.
func TestTheInstructionsAreShortAndNameTheRolesTools(t *testing.T) {
	t.Parallel()
	for name, role := range roles {
		client := bare(t, role)
		text := client.InitializeResult().Instructions
		t.Logf("%s: %d bytes", name, len(text))
		if text == "" || len(text) >= 4096 || unseen(text) != "" {
			t.Errorf("%s: %d bytes of instructions; %s", name, len(text), unseen(text))
		}
		for _, tool := range Catalogue() {
			named := regexp.MustCompile(`\b` + tool.Name + `\b`).MatchString(text)
			if own := tool.For(role); named && !own && !english[tool.Name] {
				t.Errorf("%s: the instructions name %s, which the role does not have", name, tool.Name)
			} else if own && !named && (!tool.aside || role == state.Supervisor && tool.Name != "status") {
				t.Errorf("%s: the instructions do not name %s", name, tool.Name)
			}
		}
		caps, err := json.Marshal(client.InitializeResult().Capabilities)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(caps, []byte("listChanged")) || bytes.Contains(caps, []byte("logging")) || !bytes.Contains(caps, []byte("tools")) {
			t.Errorf("%s: capabilities %s", name, caps)
		}
	}
}

// english are tool names that are words, too.
var english = map[string]bool{"check": true, "progress": true, "status": true, "approve": true, "consult": true}

// TestPromptsAndResourcesAreDescribed, for clients that offer them to a person.
func TestPromptsAndResourcesAreDescribed(t *testing.T) {
	t.Parallel()
	for name, role := range roles {
		client := bare(t, role)
		prompts, err := client.ListPrompts(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range prompts.Prompts {
			names = append(names, p.Name)
			args := map[string]string{}
			for _, arg := range p.Arguments {
				if _, err := client.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: args}); err == nil || !strings.Contains(err.Error(), arg.Name) {
					t.Errorf("%s: prompt %s without %s: %v", name, p.Name, arg.Name, err)
				}
				args[arg.Name] = "the value of " + arg.Name
			}
			got, err := client.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: args})
			if err != nil || p.Description == "" || p.Title == "" || len(got.Messages) != 1 {
				t.Fatalf("%s: prompt %+v gives %+v: %v", name, p, got, err)
			}
			text := got.Messages[0].Content.(*mcp.TextContent).Text
			for _, value := range args {
				if !strings.Contains(text, value) {
					t.Errorf("%s: prompt %s does not say %q: %s", name, p.Name, value, text)
				}
			}
			if strings.Contains(text, "%!") {
				t.Errorf("%s: prompt %s: %s", name, p.Name, text)
			}
		}
		if want := map[string]string{"executor": "executor next status", "supervisor": "next pipeline status supervisor", "none": "next status"}; strings.Join(names, " ") != want[name] {
			t.Errorf("%s has the prompts %v", name, names)
		}
		resources, err := client.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var uris []string
		for _, r := range resources.Resources {
			if r.Title == "" || r.MIMEType == "" {
				t.Errorf("%s: %+v", name, r)
			}
			uris = append(uris, strings.TrimPrefix(r.URI, "ferrus://"))
		}
		slices.Sort(uris)
		if got, want := strings.Join(uris, " "), readable[role]; got != want {
			t.Errorf("%s has the resources %s, not %s", name, got, want)
		}
	}
}

// readable are the resources that a role is offered, said once more in other words than the table's.
var readable = map[state.Role]string{
	None:             "state",
	state.Executor:   "answer consult_request consult_response consultations decisions last_check messages progress question review state submission task",
	state.Supervisor: "answer consult_request consult_response consultations decisions history last_check messages progress question review state submission task",
}
