package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A night makes a project in which agents have worked unattended, and in which each kind of need waits
// for a person. Everything is done by commands of this binary and by the agents that they start.
type night struct {
	ctx context.Context
	exe string
	dir string
}

// A chapter is a part of the night.
type chapter struct {
	title string
	play  func(*night) error
}

var chapters = []chapter{
	{"a repository with a small shop", (*night).open},
	{"a task with a failed check, a rejection and an approval", (*night).first},
	{"tasks on branches: approved, failed, stuck, and two attempts with scores", (*night).branches},
	{"one branch is merged, and another conflicts with it", (*night).merge},
	{"the next task, whose agent asks a question", (*night).question},
	{"a submission that no supervisor reviews", (*night).review},
	{"a pipeline that is delivered, and one of which that is uncertain", (*night).pipelines},
	{"a task that was created with another ferrus.toml", (*night).settings},
	{"tasks in the queue", (*night).queue},
}

// atWork is a chapter for those who want to see an agent at work. Its run outlives the night.
var atWork = chapter{"a task that a run works on", (*night).work}

// needsOfNight are the kinds of needs that a night leaves behind.
var needsOfNight = []status.NeedKind{status.NeedAnswer, status.NeedBudget, status.NeedReview, status.NeedFailed, status.NeedStopped, status.NeedConflict,
	status.NeedChoice, status.NeedAgreement, status.NeedDelivery}

// runNight plays the night in the folder dir, which must be new or empty.
func runNight(ctx context.Context, out io.Writer, dir string, working, asJSON bool) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return cli.Refuse(refusal.InvalidInput, "the checks of the night are shell scripts, and Windows has no shell for them", "run it in WSL")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if list, err := os.ReadDir(dir); err != nil {
		return err
	} else if len(list) > 0 {
		return cli.Refuse(refusal.InvalidInput, dir+" is not empty", "name a new folder: ferrus demo --night DIR")
	}
	ctx, cancel := context.WithTimeout(ctx, demoLimit)
	defer cancel()
	n, began := &night{ctx: ctx, exe: exe, dir: dir}, time.Now()
	all := slices.Clone(chapters)
	if working {
		all = append(all, atWork)
	}
	for i, c := range all {
		at := time.Now()
		if err := c.play(n); err != nil {
			return fmt.Errorf("%s: %w (the project is %s)", c.title, err, dir)
		}
		if asJSON {
			err = json.NewEncoder(out).Encode(map[string]any{"scene": i + 1, "title": c.title, "ms": time.Since(at).Milliseconds()})
		} else {
			_, err = fmt.Fprintf(out, "%3d  %-74s %6d ms\n", i+1, c.title, time.Since(at).Milliseconds())
		}
		if err != nil {
			return err
		}
	}
	if err := n.verify(); err != nil || asJSON {
		return err
	}
	fmt.Fprintf(out, "\nThe night took %.1f s. What waits for you in the morning:\n\n", time.Since(began).Seconds())
	text, err := n.ferrus(nil, "status", "--all")
	fmt.Fprintf(out, "%s\nLook at it on a screen or a page. The agents are scripts: answer, approve, merge, and let them go on with ferrus run.\n"+
		"  %[2]s -C %[3]s ui\n  %[2]s -C %[3]s web\n  %[2]s -C %[3]s status --all\n", text, called(), dir)
	return err
}

// open makes the repository.
func (n *night) open() error {
	for name, text := range shop {
		if err := n.write(name, text); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "ferrus demo"}, {"config", "user.email", "demo@localhost"},
		{"config", "commit.gpgsign", "false"}} {
		if err := n.git(args...); err != nil {
			return err
		}
	}
	if _, err := n.ferrus(nil, "init"); err != nil {
		return err
	}
	if err := n.configure("file", 120); err != nil {
		return err
	}
	return n.commit("a small shop")
}

func (n *night) first() error {
	if _, err := n.ferrus(nil, "run", "--headless", taskTotal); err != nil {
		return err
	}
	return n.commit("total the cart")
}

func (n *night) branches() error {
	for _, b := range [][]string{{"tax", "--task", taskTax}, {"discount", "--task", taskDiscount}, {"importer", "--task", taskImport}, {"search", "--task", taskSearch},
		{"fast", "--task", taskFast, "--variant", "command:quick", "--variant", "command:careful"}} {
		if _, err := n.ferrus(nil, append([]string{"branch"}, b...)...); err != nil {
			return err
		}
	}
	_, err := n.ferrus([]int{1, 6}, "run", "--headless", "--parallel", "3")
	return err
}

func (n *night) merge() error {
	if _, err := n.ferrus(nil, "merge", "tax"); err != nil {
		return err
	}
	return n.commit("add taxes")
}

func (n *night) question() error {
	_, err := n.ferrus([]int{6}, "run", "--headless", taskEuro)
	return err
}

// review has an agent submit in a step: nobody takes the next one.
func (n *night) review() error {
	if _, err := n.ferrus(nil, "branch", "receipt", "--task", taskReceipt); err != nil {
		return err
	}
	if _, err := n.ferrus(nil, "step"); err != nil {
		return err
	}
	return n.await("receipt", func(at standing) bool { return at.State == "Reviewing" && len(at.Agents) == 0 })
}

// work starts a run as a process of its own, and waits until its agent has a plan.
func (n *night) work() error {
	if _, err := n.ferrus(nil, "branch", "labels", "--task", taskLabels); err != nil {
		return err
	}
	cmd := exec.Command(n.exe, "-C", n.dir, "run", "--headless", "--branch", "labels")
	cmd.Env, cmd.SysProcAttr = n.env(), proc.Leader()
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return n.await("labels", func(at standing) bool { return at.Progress != nil && len(at.Agents) == 1 })
}

func (n *night) pipelines() error {
	if _, err := n.ferrus(nil, "pipeline", "run", "notes", "the changes of this week"); err != nil {
		return err
	}
	if err := n.configure("command", 120); err != nil {
		return err
	}
	_, err := n.ferrus([]int{1, 6}, "pipeline", "run", "notes", "the changes of this month")
	return err
}

func (n *night) settings() error {
	if err := n.configure("command", 60); err != nil {
		return err
	}
	if _, err := n.ferrus(nil, "branch", "stock", "--task", taskStock); err != nil {
		return err
	}
	return n.configure("command", 120)
}

func (n *night) queue() error {
	for _, task := range [][2]string{{"invoice", taskInvoice}, {"rounding", taskRounding}} {
		if _, err := n.ferrus(nil, "queue", "--name", task[0], task[1]); err != nil {
			return err
		}
	}
	return nil
}

// verify finds every kind of need.
func (n *night) verify() error {
	text, err := n.ferrus(nil, "status", "--all", "--json")
	if err != nil {
		return err
	}
	var v struct {
		Needs []status.Need `json:"needs_you"`
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return err
	}
	for _, kind := range needsOfNight {
		if !slices.ContainsFunc(v.Needs, func(need status.Need) bool { return need.Kind == kind }) {
			return fmt.Errorf("nothing of the kind %s waits for a person", kind)
		}
	}
	return nil
}

// A standing is what the night asks of ferrus status --json.
type standing struct {
	State    string
	Agents   []struct{}
	Progress *struct{}
}

// await waits until a branch is as it should be.
func (n *night) await(branch string, good func(standing) bool) error {
	for {
		text, err := n.ferrus(nil, "status", "--branch", branch, "--json")
		if err != nil {
			return err
		}
		var at standing
		if err := json.Unmarshal([]byte(text), &at); err != nil {
			return err
		}
		if good(at) {
			return nil
		}
		select {
		case <-n.ctx.Done():
			return fmt.Errorf("branch %s is %s: %w", branch, at.State, n.ctx.Err())
		case <-time.After(settle):
		}
	}
}

// configure writes ferrus.toml and agrees to it: the project was made here a moment ago.
func (n *night) configure(deliver string, timeout int) error {
	if err := n.write("ferrus.toml", configuration(n.exe, deliver, timeout)); err != nil {
		return err
	}
	text, err := n.ferrus(nil, "trust", "--show", "--json")
	if err != nil {
		return err
	}
	var shown struct{ Digest string }
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		return err
	}
	_, err = n.ferrus(nil, "trust", "--digest", shown.Digest)
	return err
}

// ferrus runs a command of this binary and returns what it printed. Its exit code must be 0 or one of those.
func (n *night) ferrus(exits []int, args ...string) (string, error) {
	cmd := exec.CommandContext(n.ctx, n.exe, append([]string{"-C", n.dir}, args...)...)
	cmd.Env = n.env()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && slices.Contains(exits, exit.ExitCode()) || err == nil {
		return string(out), nil
	}
	return "", fmt.Errorf("ferrus %s: %v: %s%s", strings.Join(args, " "), err, out, stderr.String())
}

// env is the environment of the commands: another project, and an agreement to it, are not meant.
func (n *night) env() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"FERRUS_ROOT", "FERRUS_TRUST", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}, name)
	})
	return append(env, "NO_COLOR=1")
}

func (n *night) git(args ...string) error {
	cmd := exec.CommandContext(n.ctx, "git", append([]string{"-C", n.dir}, args...)...)
	cmd.Env = n.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %v: %s", args, err, out)
	}
	return nil
}

func (n *night) commit(message string) error {
	if err := n.git("add", "-A"); err != nil {
		return err
	}
	return n.git("commit", "-qm", message)
}

func (n *night) write(name, text string) error {
	return os.WriteFile(filepath.Join(n.dir, name), []byte(text), 0o644)
}
