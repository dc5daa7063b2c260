package packaging_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

var schema = flag.String("schema", "", "`FILE` with the schema of the registry of MCP: its module has it, and .ci/release passes it")

// A server is what server.json says, as far as something else must agree with it.
type server struct {
	Schema      string `json:"$schema"`
	Name        string
	Description string
	Version     string
	Packages    []struct {
		RegistryType, Identifier, Version string
		Transport                         struct{ Type string }
		RuntimeArguments                  []argument
		PackageArguments                  []argument
		EnvironmentVariables              []argument
	}
}

type argument struct {
	Type, Name, Value, Default, Description string
	Choices                                 []string
}

func read(t *testing.T, name string, into any) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(name, err)
	}
	return text
}

// TestTheRegistryDescribesWhatIsReleased: server.json, the package of npm and the image have one name, one version and one description.
func TestTheRegistryDescribesWhatIsReleased(t *testing.T) {
	var s server
	var npm struct{ Name, Version, Description, McpName string }
	read(t, "server.json", &s)
	read(t, "npm/package.json", &npm)
	const version = "0.0.0" // packaging/make writes that of the release in its place
	if s.Schema != "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json" || s.Name != npm.McpName || s.Version != version || npm.Version != version {
		t.Errorf("%+v\n%+v", s, npm)
	}
	if len(s.Description) > 100 || s.Description != npm.Description {
		t.Errorf("the registry takes 100 characters, and npm has %q: %q", npm.Description, s.Description)
	}
	for _, m := range regexp.MustCompile(`(?m)^ +description: ([^|].*)$`).FindAllStringSubmatch(string(read(t, "../.goreleaser.yaml", nil)), -1) {
		if m[1] != s.Description {
			t.Errorf(".goreleaser.yaml has the description %q", m[1])
		}
	}
	// What the registry demands beside its schema: an image is named with its version, and has no other field for it.
	kinds := map[string]string{"npm": npm.Name + " " + version, "oci": "ghcr.io/" + strings.TrimPrefix(s.Name, "io.github.") + ":" + version + " "}
	for _, p := range s.Packages {
		if want, ok := kinds[p.RegistryType]; !ok || p.Identifier+" "+p.Version != want || p.Transport.Type != "stdio" {
			t.Errorf("%+v is not %q", p, want)
		}
		delete(kinds, p.RegistryType)
		for _, a := range slices.Concat(p.RuntimeArguments, p.PackageArguments, p.EnvironmentVariables) {
			if a.Type != "positional" && (a.Name == "" || a.Description == "") {
				t.Errorf("%s: %+v has no description", p.RegistryType, a)
			}
		}
	}
	if len(kinds) > 0 {
		t.Errorf("missing: %q", kinds)
	}
}

// TestTheArgumentsOfTheRegistryStartTheServer, with each choice that a person has.
func TestTheArgumentsOfTheRegistryStartTheServer(t *testing.T) {
	var s server
	read(t, "server.json", &s)
	for _, p := range s.Packages {
		for _, role := range []string{"supervisor", "executor"} {
			args := []string{}
			for _, a := range p.PackageArguments {
				switch {
				case a.Type == "positional":
					args = append(args, a.Value)
				case a.Name == "--role" && slices.Contains(a.Choices, role):
					args = append(args, a.Name, role)
				default:
					args = append(args, a.Name, a.Default)
				}
			}
			if p.RegistryType == "oci" { // the image itself has no program that is always started
				if args[0] != "ferrus" {
					t.Fatalf("%q", args)
				}
				args = args[1:]
			}
			cmd := exec.Command(program("ferrus"), args...)
			cmd.Env = append(os.Environ(), "FERRUS_ROOT="+t.TempDir())
			if answer := initialize(t, cmd); !strings.Contains(answer, `"serverInfo":{"name":"ferrus"`) {
				t.Errorf("%s: ferrus %q: %s", p.RegistryType, args, answer)
			}
		}
	}
}

// TestTheServerIsValid by the schema of the registry, which refuses other descriptions.
func TestTheServerIsValid(t *testing.T) {
	if *schema == "" {
		t.Skip("-schema FILE: .ci/release has it from the module of the registry")
	}
	var rules jsonschema.Schema
	read(t, *schema, &rules)
	resolved, err := rules.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, "server.json", nil)
	valid := func(text []byte) error {
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		return resolved.Validate(value)
	}
	if err := valid(text); err != nil {
		t.Error(err)
	}
	for was, is := range map[string]string{
		`"Run coding agents`: `"` + strings.Repeat("x", 100), `ferrus-go/ferrus",`: `ferrus",`, `"identifier"`: `"id"`, `"stdio"`: `"pipe"`, `"positional", "value"`: `"positional", "v"`,
	} {
		if changed := bytes.Replace(text, []byte(was), []byte(is), 1); bytes.Equal(changed, text) || valid(changed) == nil {
			t.Errorf("%s in place of %s is valid, too", is, was)
		}
	}
}
