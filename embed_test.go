package ferrus

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config/workflow"
)

func TestTheTemplateIsCarriedWhole(t *testing.T) {
	for _, name := range []string{
		"README.md", "TASK.example.md", "skills/ferrus-executor/SKILL.md", "skills/ferrus-supervisor/SKILL.md",
		"workflows.json",
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

// ready are the pipelines of the template.
func ready(t *testing.T) workflow.Workflows {
	t.Helper()
	text, err := fs.ReadFile(Template(), "workflows.json")
	if err != nil {
		t.Fatal(err)
	}
	all, err := workflow.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestThePipelinesOfTheTemplateAreReady(t *testing.T) {
	const want = "research: Two views of a topic, brought together with their sources, 2 phases, 3 workers\n" +
		"write: A text from notes to draft to a corrected whole, 3 phases, 3 workers\n" +
		"code-review: Several lenses on a change, and one judge of what they find, 2 phases, 5 workers\n"
	all := ready(t)
	got := ""
	for _, w := range all {
		workers := 0
		for _, p := range w.Phases {
			workers += len(p.Workers)
		}
		got += fmt.Sprintf("%s: %s, %d phases, %d workers\n", w.Name, w.Description, len(w.Phases), workers)
	}
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, w := range all {
		if w.All() != (w.Name == "write") {
			t.Errorf("%s starts all at once: %v", w.Name, w.All())
		}
		if n := len(w.Phases[0].Workers); n > w.Cap() {
			t.Errorf("%s begins with %d workers of at most %d at a time", w.Name, n, w.Cap())
		}
		tasks := map[string]bool{}
		for _, p := range w.Phases {
			for _, k := range p.Workers {
				if k.Agent != "" || k.Model != "" {
					t.Errorf("%s of %s is bound to %s %s, which not everybody has", k.Role, w.Name, k.Agent, k.Model)
				}
				if tasks[k.Task] {
					t.Errorf("%s of %s has the task of another", k.Role, w.Name)
				}
				tasks[k.Task] = true
			}
		}
	}
}

// A result from which an output was left out would lose it without a word.
func TestThePipelinesOfTheTemplateUseAllThatIsWritten(t *testing.T) {
	for _, w := range ready(t) {
		role, _ := w.Final()
		for _, p := range w.Phases {
			for _, k := range p.Workers {
				if final, _ := w.Worker(role); !k.Final && !slices.Contains(final.Reads, k.File()) {
					t.Errorf("%s: %s does not read %s", w.Name, role, k.File())
				}
			}
		}
	}
}

func TestTheReviewersFindTheChangeAndLeaveItAlone(t *testing.T) {
	w, _ := ready(t).Find("code-review")
	for _, p := range w.Phases {
		for _, k := range p.Workers {
			for _, must := range []string{"git diff", "git show HEAD", "Change no file of the project, and nothing in git."} {
				if !strings.Contains(k.Task, must) {
					t.Errorf("%s is not told %q", k.Role, must)
				}
			}
		}
	}
}

// A worker learns nothing of what comes after it.
func TestThePipelinesOfTheTemplateTellNobodyOfAnother(t *testing.T) {
	for _, w := range ready(t) {
		var roles []string
		for _, p := range w.Phases {
			for _, k := range p.Workers {
				roles = append(roles, k.Role)
			}
		}
		for _, role := range roles {
			k, _ := w.Worker(role)
			for _, other := range append(roles, "phase", "pipeline") {
				if strings.Contains(k.Task, other) {
					t.Errorf("%s: the task of %s speaks of %s", w.Name, role, other)
				}
			}
		}
	}
}
