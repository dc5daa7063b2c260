package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/agents/register"
	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/platform/jsonx"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/notify"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/store"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// HookCommand is ferrus hook, which only clients of agents start.
func HookCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   register.HookCommand + " [--client NAME]",
		Short: "Answer a hook of an agent's client",
		Long: `Reads an event of a client from stdin. It answers if the session has the task of
the project and ferrus has not started it. It reads the project and changes
nothing in it. It ends within 200 ms, with 0 whatever happens. --client means
that the plugin of NAME starts it: it leaves the event to a registered hook.`,
		Example: "  ferrus hook",
		Annotations: cli.Reference(`At Stop the session continues while the task waits for it, at most three times
in a row. At SessionStart it gets its work again, as wait_for_task returns it.
At Notification you get what the client says, by the channels of "ferrus
notify". The count of reminders is in the folder of records, under hooks.`, ""),
		Hidden:             true,
		DisableFlagParsing: true, // a wrong flag must not end it: clients take 2 for an answer
		RunE: func(cmd *cobra.Command, args []string) error {
			h := hook{App: a, ctx: cmd.Context()}
			if i := slices.Index(args, "--client"); i >= 0 && i+1 < len(args) {
				h.client = args[i+1]
			}
			a.Err = io.Discard
			if slices.Equal(args, []string{sendFlag}) {
				h.send()
				return nil
			}
			answer := make(chan []byte, 1)
			go func() {
				defer close(answer)
				defer func() { _ = recover() }() // what fails has no answer
				answer <- h.answer()
			}()
			select {
			case text := <-answer:
				_, _ = a.Out.Write(text)
			case <-time.After(hookLimit()):
			}
			return nil
		},
	}
}

// HookLimit is how long the work of a hook may take, as a text of time.Duration; what is left of 200 ms is for the start of the program.
// Half of it is for git; a packet without it says so. Tests of what a hook answers have a longer one, also by go build -ldflags -X: a
// busy computer is no reason to say nothing there.
var HookLimit = "150ms"

func hookLimit() time.Duration {
	d, _ := time.ParseDuration(HookLimit)
	return d
}

const (
	sendFlag = "--send" // with which the process starts that sends a notification

	// maxInput and maxReminders bound what is read of the client's event and of the reminders, in bytes.
	maxInput, maxReminders = 4 << 20, 1 << 10

	// mostReminders is how often in a row a session is told that it still has its task.
	mostReminders = 3
)

// A hook is one event of a client's session.
type hook struct {
	*cli.App
	ctx    context.Context
	client string // whose plugin has started this, "" for a hook of ferrus register
	event
}

// An event is what the client says.
type event struct {
	Event   string `json:"hook_event_name"`
	Cwd     string `json:"cwd"`
	Prompt  string `json:"prompt_id"` // of the person, in Claude Code
	Turn    string `json:"turn_id"`   // the same in Codex
	Again   bool   `json:"stop_hook_active"`
	Message string `json:"message"`
}

// answer returns what the client is told, nil for nothing.
func (h *hook) answer() []byte {
	text, err := io.ReadAll(io.LimitReader(h.In, maxInput))
	if err != nil || json.Unmarshal(text, &h.event) != nil {
		return nil
	}
	dir := cmp.Or(os.Getenv("CLAUDE_PROJECT_DIR"), h.Cwd)
	if dir == "" || h.client != "" && register.Hooks(dir, h.client) {
		return nil
	}
	e, snap := h.held(dir)
	if e == nil {
		return nil
	}
	defer e.Close()
	var says any
	switch h.Event {
	case "Stop":
		says = h.stop(e, snap.Task)
	case "SessionStart":
		says = h.start(e, snap)
	case "Notification":
		h.tell(e.Place())
	}
	if says == nil {
		return nil
	}
	text, err = jsonx.Marshal(says)
	if err != nil {
		return nil
	}
	return text
}

// held returns the machine of the folder if this session has its task: the server that has claimed it runs, and the client that
// started it has started this process, too. The engine is nil otherwise, and in a session that ferrus started.
func (h *hook) held(dir string) (*engine.Engine, store.Snapshot) {
	place, err := project.Find(h.ctx, cmp.Or(os.Getenv("FERRUS_ROOT"), dir))
	if err != nil {
		return nil, store.Snapshot{}
	}
	if _, ours := proc.SlotAbove(place.Root); ours || strings.Contains(os.Getenv("FERRUS_AGENT"), ":") {
		return nil, store.Snapshot{}
	}
	e, err := h.OpenToReadAt(place)
	if err != nil {
		return nil, store.Snapshot{}
	}
	if snap, err := e.View(); err == nil && e.Foreign() == nil && snap.Task.ClaimedBy != "" {
		claim, err := e.Store().First(func(l *store.Line) bool { return l.Epoch >= snap.Task.Epoch })
		if err == nil && claim != nil && claim.Event == state.Claim && claim.Actor.Session == snap.Task.Session && proc.SameClient(claim.Actor.Tree) {
			return e, snap
		}
	}
	e.Close()
	return nil, store.Snapshot{}
}

// stop lets the session continue while its task waits for it, a few times in a row.
func (h *hook) stop(e *engine.Engine, t state.Task) any {
	if who := state.WaitingFor(t).For; who != "executor" && who != "check" {
		return nil
	}
	dir := remindersDir(e.Place().Root)
	if dir == "" {
		return nil
	}
	n, path := 1, filepath.Join(dir, t.Branch+".json")
	row := reminders{Claim: t.Session, Prompt: fmt.Sprintf("%.64s", cmp.Or(h.Prompt, h.Turn))}
	if was := readReminders(path); h.Again && was.Claim == row.Claim && was.Prompt == row.Prompt {
		n = was.Said + 1
	}
	row.Said = n
	if n > mostReminders || row.write(path) != nil {
		return nil
	}
	return map[string]string{"decision": "block", "reason": fmt.Sprintf("The task of ferrus is still yours (reminder %d of %d). Continue with it: check, then submit. "+
		"If only a person can help, ask_human. If you cannot continue, note your progress and tell the person, who can release it: %s",
		n, mostReminders, refusal.OnBranch(t.Branch, "ferrus release{branch}"))}
}

// reminders are those that one session had in a row: since one prompt of the person. They are all that a hook writes, and not in the
// project. A transcript does not do: clients write it later.
type reminders struct {
	Claim  string `json:"claim"` // the session that has the task
	Prompt string `json:"prompt"`
	Said   int    `json:"said"`
}

// remindersDir returns the folder with the reminders of a project, in which each task has a file; "" without a state folder.
func remindersDir(root string) string {
	dir, err := trust.StateDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "hooks", trust.ID(root))
}

// forgetReminders removes those of a project.
func forgetReminders(root string) error {
	dir := remindersDir(root)
	if dir == "" {
		return nil
	}
	err := os.RemoveAll(dir)
	_ = os.Remove(filepath.Dir(dir)) // after the last project
	return err
}

func readReminders(path string) (r reminders) {
	text, err := rootfs.ReadRegular(path, maxReminders)
	if err != nil || json.Unmarshal(text, &r) != nil {
		return reminders{}
	}
	return r
}

func (r reminders) write(path string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	root, err := rootfs.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile(filepath.Base(path), text, 0o600)
}

// start gives the session its work again: its memory may have been cut since it claimed it.
func (h *hook) start(e *engine.Engine, snap store.Snapshot) any {
	ctx, cancel := context.WithTimeout(h.ctx, hookLimit()/2)
	defer cancel()
	m, err := e.Moment(0)
	if err != nil || m.Task.Epoch != snap.Task.Epoch {
		return nil
	}
	r, err := tools.Preview(ctx, e, m, state.Executor)
	if err != nil {
		return nil
	}
	text, err := jsonx.Marshal(r)
	if err != nil {
		return nil
	}
	return map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": h.Event, "additionalContext": "This session has the task of ferrus. " +
		"It is what wait_for_task returns:\n" + string(safetext.MarkJSON(text))}}
}

// tell sends what the client says by the channels of the person, from a process of its own that nobody waits for.
func (h *hook) tell(at project.Place) {
	if to, _ := cli.Channels(at.Root); len(to.List()) == 0 {
		return
	}
	text, err := json.Marshal(sending{at.Root, at.Branch, strings.ToValidUTF8(h.Message[:min(len(h.Message), maxMessage)], "")})
	if err != nil {
		return
	}
	self, err := os.Executable()
	if err != nil {
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	defer r.Close()
	defer w.Close()
	cmd := exec.Command(self, register.HookCommand, sendFlag)
	cmd.Dir, cmd.Stdin, cmd.SysProcAttr = at.Root, r, proc.Leader()
	if cmd.Start() == nil {
		_, _ = w.Write(text) // the pipe holds it
	}
}

// A sending is what the process that sends reads from its stdin. All else stands in the project, so that nobody else can write as ferrus.
type sending struct{ Root, Branch, Message string }

// maxMessage bounds what is sent of a message, in bytes.
const maxMessage = 4 << 10

// send sends one message, once: a channel that fails is not tried again.
func (h *hook) send() {
	var s sending
	text, err := io.ReadAll(io.LimitReader(h.In, maxInput))
	if err != nil || json.Unmarshal(text, &s) != nil {
		return
	}
	e, err := h.OpenToReadAt(project.At(s.Root, s.Branch))
	if err != nil {
		return
	}
	defer e.Close()
	snap, err := e.View()
	if err != nil || e.Foreign() != nil || snap.Task.ClaimedBy == "" {
		return
	}
	t := snap.Task
	id := t.TaskID + " terminal"
	m := notify.Message{
		Title: "ferrus: " + t.ClaimedBy + " waits (" + filepath.Base(s.Root) + ")",
		Text: notify.Text(s.Root, id, []notify.Part{{Others: t.Title}, {Own: t.ClaimedBy + " says in its terminal:", Others: s.Message}},
			[]string{refusal.OnBranch(t.Branch, "ferrus status{branch}")}),
		Env: []string{"FERRUS_EVENT=terminal", "FERRUS_ROOT=" + s.Root, "FERRUS_TASK=" + t.TaskID, "FERRUS_TITLE=" + t.Title, "FERRUS_BRANCH=" + t.Branch,
			"FERRUS_ID=" + id},
	}
	to, _ := cli.Channels(s.Root)
	for _, ch := range to.List() {
		_ = ch.Send(h.ctx, m)
	}
}
