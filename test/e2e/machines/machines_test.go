//go:build linux

package machines

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/test/kit"
	"github.com/ferrus-go/ferrus/test/postgrestest"
)

// A world is what the reader of the page has: a new database server, a git remote, and computers. The project is on the laptop.
type world struct {
	t        *testing.T
	server   *postgrestest.Server
	remotes  string // the folder with the git remote
	laptop   *computer
	build    *computer // a build server
	other    *computer // another one
	fresh    *computer // has the journal of another project
	password string
}

// A step is what is done about an item of the page.
type step struct {
	kind string // of the item
	text string // with which it begins
	do   func(w *world, text string)
}

// steps are those of the page, in its order. Each command runs as the page has it.
var steps = []step{
	// A server and a database. The file is as Debian's initdb makes it.
	{"console", "openssl req", (*world).asSuperuser},
	{"console", "psql", (*world).asSuperuser},
	{"console", "echo ", (*world).asSuperuser},
	{"console", "systemctl restart postgresql", func(w *world, _ string) { w.server.Restart(w.t) }}, // no systemd runs the server of a test
	{"console", "createuser", func(w *world, text string) {
		answer(w.t, w.server.Command(w.t, "/bin/sh", "-c", text), ": ", w.password)
	}},
	{"console", "createdb", (*world).asSuperuser},

	// Each computer.
	{"text", host + ":5432:", func(w *world, text string) {
		certificate := run(w.t, "server", w.server.Command(w.t, "/bin/cat", "server.crt"))
		for _, c := range w.joined() {
			c.write(".pgpass", text, 0o600)
			c.write(".postgresql/root.crt", certificate, 0o600)
		}
	}},
	{"toml", "[store]\nurl = ", func(w *world, text string) {
		w.configure(text)
		for _, file := range []string{".postgresql/root.crt", ".pgpass"} { // who forgets one is told which
			w.laptop.run("mv ~/" + file + " ~/kept")
			if out, err := w.laptop.command("ferrus store move").CombinedOutput(); err == nil || !strings.Contains(string(out), "~/"+file) {
				w.t.Errorf("without ~/%s: %v\n%s", file, err, out)
			}
			w.laptop.run("mv ~/kept ~/" + file)
		}
	}},
	{"console", "ferrus store move", onLaptop("is in the database now")},
	{"console", "git clone git.example.com:team/website.git", onBuild("")},
	{"console", "cd website", func(w *world, text string) { w.build.dir = strings.TrimSpace(w.build.run(text + " && pwd")) }},
	{"console", "ferrus store join", onBuild("")},
	{"console", "ferrus trust", func(w *world, text string) { agree(w.build, text) }},
	{"console", "ferrus store", func(w *world, text string) {
		for _, c := range []*computer{w.laptop, w.build} {
			w.has(c.run(text), "the state is in postgres://ferrus@"+host+"/team", w.laptop.dir+"  joined ", w.build.dir+"  joined ")
			if here := regexp.MustCompile(regexp.QuoteMeta(c.dir) + `  joined \d+ \w+ ago, no agent has worked there  \(this folder\)`); !here.MatchString(c.run(text)) {
				w.t.Errorf("the output does not match %s:\n%s", here, c.run(text))
			}
		}
	}},
	{"console", "ferrus store join 'postgres://", func(w *world, text string) {
		w.other.run("git clone git.example.com:team/website.git")
		w.other.dir = filepath.Join(w.other.home, "website")
		w.has(w.other.run(text), "website is joined")
		agree(w.other, "ferrus trust")
	}},

	// Nodes.
	{"console", "ferrus node --max", func(w *world, text string) {
		w.build.start(text)
		w.build.until("it waits for tasks", func() bool {
			out, _ := os.ReadFile(w.build.log)
			return strings.Contains(string(out), "waiting for tasks")
		})
	}},
	{"console", "ferrus branch parser --task", onLaptop("parser")},
	{"console", "ferrus status --all", onLaptop("parser")},
	{"console", "ferrus branch --fetch parser", func(w *world, text string) {
		w.laptop.completes("parser")
		w.laptop.run(text)
	}},
	{"console", "ferrus merge parser", func(w *world, text string) {
		w.laptop.run(text)
		if got := w.laptop.read("parser.txt"); !strings.Contains(got, "parse durations too") {
			w.t.Errorf("the laptop has %q", got)
		}
	}},
	{"console", "ferrus node drain", func(w *world, text string) {
		w.has(w.build.run(text), "ended the node")
		if err := w.build.node.Wait(); w.build.node.ProcessState.ExitCode() != 9 {
			w.t.Errorf("the node: %v", err)
		}
		w.build.node = nil
	}},
	{"toml", "[store]\nsilence_secs = ", func(w *world, text string) {
		w.configure(text)
		w.onLaptop("ferrus store")
		w.configure("[store]\nsilence_secs = 2\n") // the move to files below waits for it
	}},

	// The queue. No node is there to take the task.
	{"console", "ferrus queue ", (*world).onLaptop},
	{"console", "ferrus queue", onBuild("update the docs")},
	{"console", "ferrus queue --show docs", onBuild("update the docs")},
	{"console", "ferrus queue --replace docs", onBuild("docs")},
	{"console", "ferrus queue --remove docs", (*world).onLaptop},

	// Work trees. The executor on the build server is the example agent, started by hand.
	{"console", "ferrus branch --fetch try-cache", func(w *world, text string) {
		w.build.run(`ferrus branch try-cache --task "try a cache"`)
		w.build.run(`FERRUS_BRANCH=try-cache FERRUS_DUTY=executor FERRUS_WORK="$PWD/.ferrus/worktrees/try-cache" ` +
			`FERRUS_SERVER="ferrus serve --role executor --branch try-cache" scripted sh work.sh`)
		w.laptop.run(text)
	}},
	{"console", "ferrus diff --branch try-cache", onLaptop("try a cache")},
	{"console", "ferrus approve --branch try-cache", func(w *world, text string) {
		w.laptop.run(text)
		if got := w.build.state("try-cache"); got != "Complete" {
			w.t.Errorf("the build server sees the state %s", got)
		}
	}},
	{"toml", "[store]\nnamespace = ", func(w *world, text string) {
		w.configure(text)
		w.laptop.run(`ferrus branch later --task "another one"`)
		w.has(w.laptop.run("git ls-remote origin"), "refs/heads/ferrus/")
		w.other.run("ferrus branch --fetch later")
	}},

	// Backups, and back to files.
	{"console", "ferrus store export backup.jsonl", (*world).onLaptop},
	{"console", "ferrus store import backup.jsonl", func(w *world, text string) {
		w.fresh.dir = filepath.Join(w.fresh.home, "again")
		w.fresh.write("again/backup.jsonl", w.laptop.read("backup.jsonl"), 0o600)
		w.fresh.run("git init -q && ferrus init")
		w.has(w.fresh.run(text), "every hash and link valid")
		w.has(w.fresh.run("ferrus log"), "begin with this")
	}},
	{"console", "pg_dump", (*world).onLaptop},
	{"console", "pg_restore", func(w *world, text string) {
		w.laptop.run(`ferrus branch gone --task "made after the dump" && ferrus send "after the dump"`)
		w.laptop.run(text)
		if out, err := w.laptop.command("ferrus branch more").CombinedOutput(); err == nil || !strings.Contains(string(out), "ferrus doctor --adopt") {
			w.t.Errorf("the laptop believes an older journal: %v\n%s", err, out)
		}
	}},
	{"console", "ferrus doctor --adopt", func(w *world, text string) {
		w.laptop.run(text)
		out := w.laptop.run("ferrus status && ferrus branches")
		w.has(out, "try-cache", "parser")
		if strings.Contains(out, "gone") {
			w.t.Errorf("what was made after the dump is there:\n%s", out)
		}
		w.has(w.build.run("ferrus branches"), "try-cache")
		w.laptop.run(`ferrus queue "goes on" --name goes-on && ferrus queue --remove goes-on`)
	}},
	{"console", "ferrus store move --files", func(w *world, text string) {
		// The server of the agent on the build server was killed: it is at work until its computer is silent for too long.
		w.laptop.until("the project is moved", func() bool {
			out, err := w.laptop.command(text).CombinedOutput()
			if err != nil && !strings.Contains(string(out), "of try-cache on ") {
				w.t.Fatalf("%v\n%s", err, out)
			}
			return strings.Contains(string(out), "is in files of this computer again")
		})
		w.has(w.laptop.run("ferrus log --branch parser"), " approve ")
		if out, err := w.build.command("ferrus status").CombinedOutput(); err == nil || !strings.Contains(string(out), "files") {
			w.t.Errorf("the build server is not told: %v\n%s", err, out)
		}
	}},
}

// TestThePageWorks: its commands, in their order and as they are written, lead from a new database server to a project of several computers.
func TestThePageWorks(t *testing.T) {
	found := items(t, "../../../docs/machines.md")
	for i := range max(len(found), len(steps)) {
		switch {
		case i == len(found):
			t.Fatalf("docs/machines.md has no %q any more", steps[i].text)
		case i == len(steps) || found[i].kind != steps[i].kind || !strings.HasPrefix(found[i].text, steps[i].text):
			t.Fatalf("docs/machines.md:%d: no step carries this out: add one\n%s", found[i].line, found[i].text)
		}
	}
	kit.Long(t, "the scripts of cmd/ferrus/testdata/database do the same")
	need(t)
	w := newWorld(t, found)
	for i, s := range steps {
		if s.do(w, found[i].text); t.Failed() {
			t.Fatalf("docs/machines.md:%d: this does not work as it is written:\n%s", found[i].line, found[i].text)
		}
	}
}

// newWorld makes what the page takes for granted: a new server, a project, and its remote.
func newWorld(t *testing.T, found []item) *world {
	t.Helper()
	w := &world{t: t, remotes: t.TempDir(), server: postgrestest.NewServer(t, postgrestest.Options{Bare: true, Durable: true})}
	for _, name := range []struct {
		name string
		at   **computer
	}{{"laptop", &w.laptop}, {"build", &w.build}, {"other", &w.other}, {"fresh", &w.fresh}} {
		*name.at = newComputer(t, name.name, w.remotes)
	}
	for _, i := range found {
		if i.kind == "text" {
			w.password = strings.TrimSpace(i.text[strings.LastIndex(i.text, ":")+1:])
		}
	}
	w.laptop.dir = filepath.Join(w.laptop.home, "website")
	for name, text := range map[string]string{
		"work.sh":   `cat >"${FERRUS_BRANCH:-own}.txt"`,
		"review.sh": "grep -q .",
		"ferrus.toml": `[checks]
commands = ["true"]
[hq.executor]
agent = "command"
command = "scripted sh work.sh"
[hq.supervisor]
agent = "command"
command = "scripted sh review.sh"
`} {
		w.laptop.write("website/"+name, text, 0o644)
	}
	w.laptop.run(`git init -q -b main && git init -q --bare -b main ` + w.remotes + `/team/website.git && ferrus init && git add -A && git commit -qm begin &&
git remote add origin git.example.com:team/website.git && git push -qu origin main`)
	agree(w.laptop, "ferrus trust")
	w.laptop.run(`ferrus run --headless "begin with this" && git add -A && git commit -qm own && git push -q`)
	return w
}

// joined are the computers of the project.
func (w *world) joined() []*computer { return []*computer{w.laptop, w.build, w.other} }

func (w *world) asSuperuser(text string) {
	w.t.Helper()
	run(w.t, "server", w.server.Command(w.t, "/bin/sh", "-c", text))
}

func (w *world) onLaptop(text string) { w.laptop.run(text) }

// onLaptop runs a command there that prints a text.
func onLaptop(prints string) func(*world, string) {
	return func(w *world, text string) { w.has(w.laptop.run(text), prints) }
}

// onBuild is onLaptop on the build server.
func onBuild(prints string) func(*world, string) {
	return func(w *world, text string) { w.has(w.build.run(text), prints) }
}

// configure adds to the config.toml of each computer.
func (w *world) configure(text string) {
	for _, c := range w.joined() {
		name := ".config/ferrus/config.toml"
		was, _ := os.ReadFile(filepath.Join(c.home, name))
		c.write(name, addTo(string(was), text), 0o600)
	}
}

// agree stands in for the person who reads what ferrus trust shows, and agrees.
func agree(c *computer, line string) {
	c.t.Helper()
	answer(c.t, c.command(line), "[y/N] ", "y")
}

// has fails the test if an output lacks a text.
func (w *world) has(out string, texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			w.t.Errorf("the output has no %q:\n%s", text, out)
		}
	}
}
