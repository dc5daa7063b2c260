package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A system starts programs at times, for a person who is not there. Its commands are the arguments of its program.
type system struct {
	name, program string
	usable        []string // succeeds where it works for this person; nil for always
	unfit         string   // characters that no word of a service may have
	unfitPath     string   // and those that the path of the program may not have
	files         func(s service) []serviceFile
	load          func(s service) [][]string // after the files are written; one that begins with a dash may fail
	unload, after func(s service) [][]string // before the files are removed, and after that; they may fail
	loaded        func(s service) []string   // succeeds while the service is active
	logs          func(s service) string     // a command that shows what it printed
	note          string                     // when it rests
}

// A serviceFile is a file of a service, or under the path crontab its line there.
type serviceFile struct {
	Path string `json:"path"`
	Text string `json:"text,omitempty"`
}

const crontab = "crontab"

// edits reports whether the service is a line of a crontab.
func (sys system) edits() bool { return sys.program == crontab }

func commands(list ...string) (out [][]string) {
	for _, line := range list {
		out = append(out, strings.Fields(line))
	}
	return out
}

// gui is the domain of launchd in which a person's jobs are.
func gui() string { return fmt.Sprintf("gui/%d", os.Getuid()) }

// systems are all, in the order in which they are tried.
var systems = []system{
	{
		name: "systemd", program: "systemctl", usable: []string{"--user", "show-environment"}, unfitPath: "\"'\\\n\t",
		files: func(s service) []serviceFile {
			dir := filepath.Join(s.Home, ".config")
			if is := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(is) {
				dir = is
			}
			path := filepath.Join(dir, "systemd", "user", s.Name)
			return []serviceFile{{path + ".service", s.unit()}, {path + ".timer", s.timer()}}
		},
		load: func(s service) [][]string {
			return commands("--user daemon-reload", "--user enable "+s.Name+".timer", "--user restart "+s.Name+".timer")
		},
		unload: func(s service) [][]string {
			return commands("--user disable --now "+s.Name+".timer", "--user stop "+s.Name+".service")
		},
		after: func(s service) [][]string {
			return commands("--user daemon-reload", "--user reset-failed "+s.Name+".service")
		},
		loaded: func(s service) []string { return []string{"--user", "is-active", s.Name + ".timer"} },
		logs:   func(s service) string { return "journalctl --user -u " + s.Name },
		note:   "it rests while you are logged out; with loginctl enable-linger it does not",
	},
	{
		name: "launchd", program: "launchctl",
		files: func(s service) []serviceFile {
			return []serviceFile{{filepath.Join(s.Home, "Library", "LaunchAgents", s.Name+".plist"), s.plist()}}
		},
		load: func(s service) [][]string {
			return [][]string{{"-", "bootout", gui() + "/" + s.Name}, {"bootstrap", gui(), filepath.Join(s.Home, "Library", "LaunchAgents", s.Name+".plist")}}
		},
		unload: func(s service) [][]string { return [][]string{{"bootout", gui() + "/" + s.Name}} },
		after: func(s service) [][]string {
			_ = os.Remove(s.log())
			return nil
		},
		loaded: func(s service) []string { return []string{"print", gui() + "/" + s.Name} },
		logs:   func(s service) string { return "tail " + format.ShellWord(s.log()) },
		note:   "it rests while you are logged out, and while the Mac sleeps",
	},
	{
		name: "cron", program: crontab, unfit: "\n\\", // its implementations do not agree about a backslash
		files: func(s service) []serviceFile { return []serviceFile{{crontab, s.cron()}} },
		logs:  func(s service) string { return "journalctl -t " + s.Name + ", or grep " + s.Name + " /var/log/syslog" },
	},
}

// find returns the first system that works here. Programs of the work tree that dir is in do not count.
func findSystem(ctx context.Context, dir string) (system, error) {
	for _, sys := range systems {
		if sys.there(ctx, dir) {
			return sys, nil
		}
	}
	return system{}, cli.Refuse(refusal.WrongState, "there is no systemd, launchd or cron that works for you", "let your system call this every five minutes: ferrus step")
}

// there reports whether the system works here.
func (sys system) there(ctx context.Context, dir string) bool {
	_, err := proc.LookPath(sys.program, os.Getenv("PATH"), proc.WorkTree(dir))
	if err == nil && sys.usable != nil {
		_, err = sys.run(ctx, dir, "", sys.usable)
	}
	return err == nil
}

// patience is how long a system may take to answer.
const patience = time.Minute

// run runs a command of the system and returns what it printed to stdout. The error is a refusal with its stderr.
func (sys system) run(ctx context.Context, dir, input string, args []string) (string, error) {
	path, err := proc.LookPath(sys.program, os.Getenv("PATH"), proc.WorkTree(dir))
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = string(filepath.Separator), strings.NewReader(input), time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", &refusal.RefusedError{Code: refusal.StoreError, Message: fmt.Sprintf("%s %s: %v", sys.program, strings.Join(args, " "), rootfs.Cause(err)),
			Output: format.Clip(string(exit.Stderr), 2000), Remedy: "see to it that it works, then try again"}
	}
	return string(out), err
}

// installed reports whether anything of a service is there.
func (sys system) installed(ctx context.Context, s service) bool {
	if sys.edits() {
		_, ours, _ := sys.crontab(ctx, s)
		return ours
	}
	return slices.ContainsFunc(sys.files(s), func(f serviceFile) bool { return rootfs.Exists(f.Path) })
}

// active reports whether the system starts it.
func (sys system) active(ctx context.Context, s service) bool {
	if sys.edits() {
		return sys.installed(ctx, s)
	}
	_, err := sys.run(ctx, s.Root, "", sys.loaded(s))
	return err == nil
}

// install writes a service, in place of one that is there, and has the system start it. What fails leaves nothing.
func (sys system) install(ctx context.Context, s service) error {
	err := sys.write(ctx, s)
	if err != nil {
		_ = sys.remove(context.WithoutCancel(ctx), s) // the cause is reported
	}
	return err
}

func (sys system) write(ctx context.Context, s service) error {
	if sys.edits() {
		return sys.edit(ctx, s, s.cron())
	}
	for _, f := range sys.files(s) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(f.Path), 0o755), os.WriteFile(f.Path, []byte(f.Text), 0o600)); err != nil {
			return err
		}
	}
	for _, args := range sys.load(s) {
		may := args[0] == "-"
		if may {
			args = args[1:]
		}
		if _, err := sys.run(ctx, s.Root, "", args); err != nil && !may {
			return err
		}
	}
	return nil
}

// remove takes a service away, with all that it has left. One that cannot be ended keeps its files.
func (sys system) remove(ctx context.Context, s service) error {
	if sys.edits() {
		return sys.edit(ctx, s, "")
	}
	for _, args := range sys.unload(s) {
		_, _ = sys.run(ctx, s.Root, "", args)
	}
	if sys.active(ctx, s) {
		return cli.Refuse(refusal.StoreError, sys.name+" does not end "+s.Name, refusal.Say("%s says why", sys.logs(s)))
	}
	for _, f := range sys.files(s) {
		if err := gone(os.Remove(f.Path)); err != nil {
			return err
		}
	}
	for _, args := range sys.after(s) {
		_, _ = sys.run(ctx, s.Root, "", args)
	}
	return nil
}

// crontab returns the crontab of the person without the line of a service, and whether that was there. One that is empty is an error of the
// program, which says so.
func (sys system) crontab(ctx context.Context, s service) (rest string, ours bool, err error) {
	text, err := sys.run(ctx, s.Root, "", []string{"-l"})
	if err != nil && strings.Contains(strings.ToLower(refusal.OutputOf(err)), "no crontab") {
		err = nil
	}
	for line := range strings.Lines(text) {
		if strings.HasSuffix(strings.TrimRight(line, "\n"), s.mark()) {
			ours = true
		} else {
			rest += line
		}
	}
	return rest, ours, err
}

// edit puts a line into the crontab in place of that of a service, or with "" takes it away.
func (sys system) edit(ctx context.Context, s service, line string) error {
	rest, ours, err := sys.crontab(ctx, s)
	if err != nil || !ours && line == "" {
		return err
	}
	if rest != "" && !strings.HasSuffix(rest, "\n") {
		rest += "\n"
	}
	args := []string{"-"}
	if rest+line == "" {
		args = []string{"-r"}
	}
	_, err = sys.run(ctx, s.Root, rest+line, args)
	return err
}
