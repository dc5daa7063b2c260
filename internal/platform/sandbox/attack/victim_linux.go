package attack

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
)

// All returns the attacks, in the order of the documentation.
func All() []Attack { return slices.Clone(attacks) }

// Names of what an attack finds in its environment.
const (
	envBase   = "ATTACK_BASE"
	envPid    = "ATTACK_PID"
	envTCP    = "ATTACK_TCP"
	envUDP    = "ATTACK_UDP"
	envTTY    = "ATTACK_TTY"
	envMemory = "ATTACK_MEMORY"
	envQueue  = "ATTACK_QUEUE"
	envSecret = "ATTACK_SECRET"
)

// Names of what an attack finds below its base.
const (
	readable     = "readable" // a file that it may read
	datagramName = "d"        // a socket of datagrams; an abstract one has it at the end of its name
)

// exitUnknown is the exit code of a process that is asked for an attack that there is not.
const exitUnknown = 2

// Main must be called in main after [sandbox.Stage] and before anything else. In a process that [Try] has started it does not
// return. In every other process it returns at once.
func Main() {
	if len(os.Args) != 3 || os.Args[1] != word {
		return
	}
	secret := os.Getenv(envSecret)
	if os.Args[2] == secret {
		beVictim()
	}
	i := slices.IndexFunc(attacks, func(a Attack) bool { return a.Name == os.Args[2] })
	if i < 0 {
		os.Exit(exitUnknown)
	}
	pid, _ := strconv.Atoi(os.Getenv(envPid))
	base := os.Getenv(envBase)
	err := attacks[i].try(target{base: base, project: base + "/p", ferrus: base + "/p/.ferrus", work: base + "/p/.ferrus/worktrees/one", other: base + "/p/.ferrus/worktrees/two",
		home: base + "/home", pid: pid, tcp: os.Getenv(envTCP), udp: os.Getenv(envUDP), tty: os.Getenv(envTTY), memory: os.Getenv(envMemory), queue: os.Getenv(envQueue), secret: secret})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A victim is what an attack is tried on.
type victim struct {
	base     string
	secret   string // what an attack must not print
	host     string // of its services: no other program of this computer visits it by mistake
	env      []string
	process  *exec.Cmd
	stdin    io.Closer    // of the process, which ends when it is closed
	visitors atomic.Int32 // of the services, without ourselves
	services [][2]string  // networks with addresses
	terminal *terminal    // nil where the system has none
	queue    string       // "" where the system has none
	left     *os.File     // open in the process that starts the command
	close    []func()
}

// Try makes a victim, tries an attack on it, and removes it. self is this program, or one whose main calls [Main]. The error says why
// it could not be tried; it is a *[sandbox.PolicyError] if the way cannot be had at all.
func Try(ctx context.Context, a Attack, w Way, self string) (Result, error) {
	v := &victim{secret: rand.Text(), host: loopback()}
	defer v.remove()
	if err := v.make(self); err != nil {
		return Result{}, fmt.Errorf("make a victim: %w", err)
	}
	return v.tried(ctx, a, w, self)
}

func (v *victim) make(self string) (err error) {
	if v.base, err = os.MkdirTemp("", "ferrus-attack-*"); err != nil {
		return err
	}
	if v.base, err = filepath.EvalSymlinks(v.base); err != nil {
		return err
	}
	for _, dir := range []string{"p/.ferrus/worktrees/one", "p/.ferrus/worktrees/two", "p/.git/hooks", "home/.ssh"} {
		if err := os.MkdirAll(filepath.Join(v.base, dir), 0o755); err != nil {
			return err
		}
	}
	for _, name := range []string{"p/.ferrus/journal.jsonl", "p/.ferrus/STATE.json", "p/.ferrus/STATE.lock", "p/.ferrus/tokens.json", "p/code.txt", "p/ferrus.toml", "p/.git/config",
		"p/.ferrus/worktrees/two/code.txt", "p/.ferrus/worktrees/two/secret", "home/.bashrc", "home/.ssh/id", "home/tool", readable} {
		if err := os.WriteFile(filepath.Join(v.base, name), []byte(v.secret+"\n"), 0o644); err != nil {
			return err
		}
	}
	if err := os.Chmod(filepath.Join(v.base, "home/tool"), 0o755|os.ModeSetuid); err != nil { // a change of its owner clears that bit
		return err
	}
	if h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, filepath.Join(v.base, "p/.ferrus/tokens.json"), 0); err == nil {
		if err := os.WriteFile(filepath.Join(v.base, "p/.ferrus/worktrees/one/handle"), h.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if v.left, err = os.Open(filepath.Join(v.base, "p/.ferrus/tokens.json")); err != nil {
		return err
	}
	v.process = exec.Command(self, word, v.secret)
	v.process.Env = append(os.Environ(), envSecret+"="+v.secret)
	if v.stdin, err = v.process.StdinPipe(); err != nil {
		return err
	}
	ready, err := v.process.StdoutPipe()
	if err == nil {
		err = v.process.Start()
	}
	if err == nil {
		_, err = ready.Read(make([]byte, 1))
	}
	if err != nil {
		return err
	}
	tcp, err := v.serve("tcp", net.JoinHostPort(v.host, "0"))
	if err != nil {
		return err
	}
	dir, err := os.Open(v.base)
	if err != nil {
		return err
	}
	v.close = append(v.close, func() { dir.Close() })
	for _, address := range []string{throughFolder(dir) + "/s", "@" + filepath.Base(v.base)} {
		if _, err := v.serve("unix", address); err != nil {
			return err
		}
	}
	v.terminal, _ = openTerminal() // without one the attack says so
	memory, detach, err := shareMemory(v.secret)
	if err == nil { // so does this one
		v.close = append(v.close, detach)
	}
	unlink, err := postMessage(filepath.Base(v.base), v.secret)
	if err == nil { // and this one
		v.queue = filepath.Base(v.base)
		v.close = append(v.close, unlink)
	}
	for _, address := range []string{throughFolder(dir) + "/" + datagramName, "@" + filepath.Base(v.base) + datagramName} {
		if _, err := v.datagrams("unixgram", address); err != nil {
			return err
		}
	}
	udp, err := v.datagrams("udp", net.JoinHostPort(v.host, "0"))
	v.env = append(os.Environ(), envSecret+"="+v.secret, envBase+"="+v.base, envPid+"="+strconv.Itoa(v.process.Process.Pid), envTCP+"="+tcp, envUDP+"="+udp, envTTY+"="+v.terminal.path(), envMemory+"="+memory, envQueue+"="+v.queue, "HOME="+v.base+"/home")
	return err
}

// remove ends and removes all of the victim.
func (v *victim) remove() {
	for _, end := range slices.Backward(v.close) { // a listener removes its socket by the descriptor of the folder, which others may have next
		end()
	}
	v.terminal.close()
	if v.left != nil {
		v.left.Close()
	}
	if v.stdin != nil {
		_ = v.process.Process.Kill()
		_ = v.process.Wait()
	}
	if v.base != "" {
		_ = os.RemoveAll(v.base)
	}
}

// throughFolder is a short path of an open folder, since that of a socket has at most 107 bytes.
func throughFolder(dir *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) }

// outside is everything but the work tree of the command: names, modes, contents and what else can be changed of files, and how the process is run.
func (v *victim) outside() (map[string]string, error) {
	state, err := condition(v.process.Process.Pid)
	if err != nil && !errors.Is(err, unix.ESRCH) && !errors.Is(err, fs.ErrNotExist) { // it may have been killed
		return nil, err
	}
	all := map[string]string{"the process": state}
	err = filepath.WalkDir(v.base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, "/worktrees/one") {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		more, err := traits(path, info)
		if err != nil {
			return err
		}
		all[path] = info.Mode().String() + more
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			all[path] += string(data)
			return err
		}
		return nil
	})
	return all, err
}

// policy is one under which the command has its work tree.
func (v *victim) policy(self string, network bool) sandbox.Policy {
	f := v.base + "/p/.ferrus"
	p := sandbox.System()
	p.Write, p.Dir, p.Network = []string{f + "/worktrees/one"}, f+"/worktrees/one", network
	p.Read = append(p.Read, self, filepath.Join(v.base, readable))
	p.Deny = []string{f + "/journal.jsonl", v.base + "/home"}
	return p
}

// tried tries an attack, and looks at the victim before and afterwards.
func (v *victim) tried(ctx context.Context, a Attack, w Way, self string) (Result, error) {
	before, err := v.outside()
	if err != nil {
		return Result{}, err
	}
	reached, err := v.visits()
	if err != nil {
		return Result{}, err
	}
	argv, err := sandbox.CommandHeld(w.Mechanism, w.Landlock, v.policy(self, !w.Offline), self, []string{self, word, a.Name})
	if err != nil {
		return Result{}, err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	input, err := cmd.StdinPipe()
	if err != nil {
		return Result{}, err
	}
	out, errs := answer{name: func() { v.showName(); input.Close() }}, bytes.Buffer{}
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Dir = v.env, &out, &errs, v.base+"/p/.ferrus/worktrees/one"
	cmd.ExtraFiles = []*os.File{v.left}
	failed := cmd.Run()
	var exit *exec.ExitError
	if failed != nil && (!errors.As(failed, &exit) || exit.ExitCode() != 1) {
		return Result{}, fmt.Errorf("%s: %w: %s", a.Name, failed, strings.TrimSpace(errs.String()))
	}
	after, err := v.outside()
	if err != nil {
		return Result{}, err
	}
	visits, err := v.visits()
	if err != nil {
		return Result{}, err
	}
	taken := false
	if v.queue != "" {
		text, _ := receive(v.queue)
		taken = text != v.secret
	}
	intruded, err := v.terminal.used()
	if err != nil {
		return Result{}, err
	}
	why := strings.TrimSpace(errs.String())
	through := false
	for _, sign := range []struct {
		seen bool
		text string
	}{
		{visits != reached, fmt.Sprintf("%d visits in place of %d", visits, reached)}, {intruded, "the terminal was used"}, {taken, "the message was taken"},
		{strings.Contains(out.text, v.secret), "the secret was printed"}, {!maps.Equal(before, after), "it has changed: " + differing(before, after)}, {v.killed(), "the process was killed"},
	} {
		if sign.seen {
			through, why = true, why+"; "+sign.text
		}
	}
	return Result{Through: through, Why: why}, nil
}

// An answer is the output of an attack. When one asks for a name, name is called.
type answer struct {
	text  string
	name  func()
	named bool
}

func (a *answer) Write(data []byte) (int, error) {
	a.text += string(data)
	if !a.named && strings.Contains(a.text, askName) {
		a.named = true
		a.name()
	}
	return len(data), nil
}

// showName makes a file with the secret as its name appear in the home folder, and nothing of it stays.
func (v *victim) showName() {
	home := filepath.Join(v.base, "home")
	info, err := os.Stat(home)
	if err != nil {
		return
	}
	name := filepath.Join(home, v.secret)
	_ = os.WriteFile(name, nil, 0o600)
	_ = os.Remove(name)
	_ = os.Chtimes(home, time.Time{}, info.ModTime())
}

// killed ends the process of the victim, and reports whether something else had ended it.
func (v *victim) killed() bool {
	_ = v.process.Process.Signal(unix.SIGCONT) // a trace has stopped it
	v.stdin.Close()
	_ = v.process.Wait()
	v.stdin = nil
	return !v.process.ProcessState.Success()
}

// differing are what two conditions of what is outside differ in.
func differing(before, after map[string]string) string {
	var list []string
	for name := range after {
		if before[name] != after[name] {
			list = append(list, fmt.Sprintf("%s: %q, %q", name, before[name], after[name]))
		}
	}
	for name := range before {
		if _, there := after[name]; !there {
			list = append(list, name+" is gone")
		}
	}
	return strings.Join(list, ", ")
}
