package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/test/sharedtest"
)

// playedAgent plays the executor, who asks first and fixes more after a rejection, and a reviewer who says nothing.
const playedAgent = `set -e
[ "$FERRUS_DUTY" = executor ] || exec sleep 1000
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkfifo "$dir/in" "$dir/out"
"$@" <"$dir/in" >"$dir/out" &
exec 3>"$dir/in" 4<"$dir/out"
id=0
call() {
  id=$((id + 1))
  printf '{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}\n' $id "$1" "$2" >&3
  while read -r answer <&4; do
    case $answer in *'"id":'"$id"[,}]*) break ;; esac
  done
  printf '%s\n' "$answer"
}
tool() { call tools/call '{"name":"'"$1"'","arguments":'"$2"'}'; }
call initialize '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}'
printf '{"jsonrpc":"2.0","method":"notifications/initialized"}\n' >&3
tool wait_for_task '{}'
case $answer in
*'a second line'*) printf 'fixed\nfixed twice\n' >sum.txt ;;
*'yes, of course'*) echo fixed >sum.txt ;;
*) tool ask_human '{"question":"May I fix it?","options":["yes, of course","no"]}'; exit ;;
esac
tool submit '{"summary":"It is fixed.","verification":"the check"}'
`

// playedProject is a git repository with a project whose agents are played.
func playedProject(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(program string, args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "FERRUS_AGENT=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v: %s", program, args, err, out)
		}
	}
	in("git", "init", "-q")
	in("ferrus", "init")
	sharedtest.Move(t, dir)
	for name, text := range map[string]string{"sum.txt": "broken\n", "agent.sh": playedAgent, "ferrus.toml": `[checks]
commands = ["grep fixed sum.txt"]
[hq.supervisor]
agent = "command"
command = "sh agent.sh {server}"
[hq.executor]
agent = "command"
command = "sh agent.sh {server}"
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := agreement.Agree(dir); err != nil {
		t.Fatal(err)
	}
	in("git", "add", "-A")
	in("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "broken")
	t.Cleanup(func() { _ = ferrusIn(dir, "stop", "--branch", "fix").Run() })
	return dir
}

// TestAWholeTaskOnTheScreen: a new task, its run, a question, the diff, a rejection with a comment, an approval, the merge and a
// rollback, all by keys. The screen is killed in the middle, and the run goes on.
func TestAWholeTaskOnTheScreen(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it plays a whole task")
	}
	dir := playedProject(t)
	x := inTerminal(t, dir, 120, 40, nil, "ferrus")
	x.shows(t, "ferrus  ", "Needs you 0", "q quit")

	// A new task on a branch, and its run.
	x.press(t, "t")
	x.shows(t, "on a branch of its own")
	x.press(t, "2")
	x.shows(t, "What is to be done")
	x.press(t, "Fix the sum", "\t", "fix", "\x13")
	x.shows(t, "Needs you 1", "Fix the sum")
	x.press(t, "n")
	x.shows(t, "Fix the sum", "s resume")
	x.press(t, "s")

	// The agent asks, and is answered by a number.
	x.shows(t, "May I fix it?", "yes, of course", "1-2 answer")
	x.press(t, "1")
	x.shows(t, "Answer: ") // it starts the run again

	// The screen is killed. The run goes on, and another screen shows what it did.
	x.shows(t, "in review", "y approve")
	screen := children(x.cmd.Process.Pid)[0]
	if err := syscall.Kill(screen, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	x.end(t)
	x = inTerminal(t, dir, 120, 40, []string{"NO_COLOR=1"}, "ferrus", "ui")
	x.shows(t, "Fix the sum", "in review")
	x.choose(t, "Fix the sum")
	x.shows(t, "It is fixed.", "x stop") // a run is still at work

	// The diff, and a rejection with a comment.
	x.press(t, "2")
	x.shows(t, "-broken", "+fixed")
	x.press(t, "r")
	x.shows(t, "What is wrong")
	x.press(t, "There must be a second line.", "\x13")
	x.shows(t, "Reject: ")
	x.shows(t, "+fixed twice")
	x.press(t, "1")
	x.shows(t, "submitted s2", "y approve")

	// The approval and the merge.
	x.press(t, "y")
	x.shows(t, "Note (optional)")
	x.press(t, "\r")
	x.shows(t, "approved", "M merge", "z undoes it")
	x.press(t, "M")
	x.until(t, "the merge", func(string) bool {
		text, _ := os.ReadFile(filepath.Join(dir, "sum.txt"))
		return strings.Contains(string(text), "fixed twice")
	})
	x.shows(t, "X remove")

	// A rollback to the line under the cursor: to that of the first submission.
	x.press(t, "6", "\t")
	shown := x.shows(t, "create_task", " merge ")
	x.press(t, "g")
	for l := range strings.SplitSeq(shown, "\n") {
		if strings.Contains(l, " submit ") {
			break
		}
		if entry.MatchString(l) {
			x.press(t, "j")
		}
	}
	x.press(t, "b")
	x.shows(t, "Roll back with files")
	x.press(t, "1")
	x.shows(t, "Entry of the log")
	x.press(t, "\t", "one line was enough", "\r")
	x.shows(t, "Are you sure?")
	x.press(t, "y")
	x.shows(t, "Ready for your review: 1 file, round 1", "y approve")

	if found := coloursIn(x.written()); found != "" {
		t.Errorf("NO_COLOR is set, and there are colours: %q", found)
	}
	x.press(t, "q")
	if code := x.end(t); code != 0 || x.second() || !x.cooked(t) {
		t.Errorf("it ends with %d, and the terminal is not as it was", code)
	}
}

// TestARejectionTypedAtOnceAfterAResumeArrives: both keys, the text and what sends it are there before the run has started.
func TestARejectionTypedAtOnceAfterAResumeArrives(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it plays half a task")
	}
	dir := asked(t)
	ferrusExits(t, dir, 0, "answer", "q1", "1", "--branch", "fix")
	run := ferrusIn(dir, "resume", "--headless", "--branch", "fix")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if r := reportOf(t, dir, "fix"); r.State == state.Reviewing && len(r.Agents) > 0 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("%+v", reportOf(t, dir, "fix"))
		}
	}
	ferrusExits(t, dir, 0, "stop", "--branch", "fix")
	_ = run.Wait() // it was stopped

	x := inTerminal(t, dir, 120, 40, nil, "ferrus", "ui", "--branch", "fix")
	x.shows(t, "Fix the sum", "y approve", "s resume")
	x.press(t, "sr"+"There must be a second line.\x13")
	x.shows(t, "submitted s2")
	if r := reportOf(t, dir, "fix"); r.Reviews.Used != 1 {
		t.Errorf("%d rejections", r.Reviews.Used)
	}
	x.press(t, "q")
	if code := x.end(t); code != 0 || !x.cooked(t) {
		t.Errorf("it ends with %d", code)
	}
}
