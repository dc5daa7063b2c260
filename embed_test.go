package ferrus

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestTheTemplateIsCarriedWhole(t *testing.T) {
	for _, name := range []string{
		"README.md", "TASK.example.md", "skills/ferrus-executor/SKILL.md", "skills/ferrus-supervisor/SKILL.md",
	} {
		got, err := fs.ReadFile(Template(), name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(".ferrus-template/" + name)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s differs from the file: %v", name, err)
		}
	}
	if !strings.Contains(ExampleConfig, "[checks]\n") {
		t.Error("the example configuration is not carried")
	}
}

// A skill that names a tool of the other role sends its reader into a wall.
func TestASkillNamesTheToolsOfItsRoleAndNoOther(t *testing.T) {
	both := []string{"ask_human", "wait_for_answer", "status"}
	tools := map[string][]string{
		"supervisor": {"create_task", "wait_for_review", "review_pending", "approve", "reject", "respond_consult"},
		"executor":   {"wait_for_task", "check", "submit", "consult", "wait_for_consult", "progress", "heartbeat"},
	}
	for role, own := range tools {
		name := "ferrus-" + role
		data, err := fs.ReadFile(Template(), "skills/"+name+"/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if !strings.HasPrefix(text, "---\nname: "+name+"\ndescription: ") {
			t.Errorf("%s: no front matter with its name and description", name)
		}
		for of, names := range tools {
			for _, tool := range names {
				if named := strings.Contains(text, "`"+tool+"`"); named != (of == role) {
					t.Errorf("%s: names %s: %v", name, tool, named)
				}
			}
		}
		for _, tool := range slices.Concat(own, both) {
			if !strings.Contains(text, "`"+tool+"`") {
				t.Errorf("%s does not name %s", name, tool)
			}
		}
	}
}
