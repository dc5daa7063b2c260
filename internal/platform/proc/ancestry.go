package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// Shim is the first argument of the process under which ferrus starts an agent. The duty of the
// agent and the path of its slot, below the .ferrus of its project, follow. Every process can read
// the arguments of a running process, and an agent cannot change those of its shim.
const Shim = "--ferrus-agent-shim"

// Variables in the environment of an agent that ferrus has started: its identity, as
// role:name:index, and the folder of its project. The check reads the environment with which the
// agent's process began, so removing the variables in a shell below it does not help.
const (
	agentVar   = "FERRUS_AGENT"
	ProjectVar = "FERRUS_PROJECT"
)

// An entry is what the system reports about a process.
type entry struct {
	pid, parent, session int
	name                 string   // of the program
	args                 []string // nil if they cannot be read
}

// A system reads processes. Tests have one of their own.
type system interface {
	look(pid int) (entry, bool)
	environ(pid int) []string // at its start; nil if it cannot be read
	folder(pid int) string    // working directory, "" if it cannot be read
	all() []int               // ids of all processes
	replaced(pid int) bool    // another file is where its program was; false if that cannot be read
}

// An Agent is the process of an agent from which this one descends.
type Agent struct {
	Pid  int
	Role string // executor, supervisor, or that of a worker in its pipeline
	Name string // role:name:index if it is known, else the role
	How  string // how it was recognised, for a person
}

func (a Agent) String() string {
	return fmt.Sprintf("%s (process %d, %s)", a.Name, a.Pid, a.How)
}

// Supervisor reports whether the agent may decide about the work of others.
func (a Agent) Supervisor() bool { return a.Role == "supervisor" }

// AgentAbove returns the nearest agent of the project in root from which this process descends, as far
// as the system reports.
func AgentAbove(root string) (Agent, bool) { return agentAbove(here{}, os.Getpid(), root) }

// AboveHere returns AgentAbove of this process for many projects. All processes are looked at once, when it is asked first.
func AboveHere() func(root string) (Agent, bool) { return aboveIn(here{}, os.Getpid()) }

func aboveIn(sys system, pid int) func(root string) (Agent, bool) {
	once := &looked{system: sys, pids: sync.OnceValue(sys.all), seen: map[int]func() (entry, bool){}}
	return func(root string) (Agent, bool) { return agentAbove(once, pid, root) }
}

// A looked is a system whose processes are looked at once.
type looked struct {
	system
	pids func() []int
	mu   sync.Mutex
	seen map[int]func() (entry, bool)
}

func (l *looked) all() []int { return l.pids() }

func (l *looked) look(pid int) (entry, bool) {
	l.mu.Lock()
	look := l.seen[pid]
	if look == nil {
		look = sync.OnceValues(func() (entry, bool) { return l.system.look(pid) })
		l.seen[pid] = look
	}
	l.mu.Unlock()
	return look()
}

// ExecutorAbove is AgentAbove for agents that are not supervisors: those whose work a supervisor
// reviews.
func ExecutorAbove(root string) (Agent, bool) {
	return nearestAbove(here{}, os.Getpid(), root, func(a Agent) bool { return !a.Supervisor() })
}

// SlotAbove returns the path of the slot of the agent of the project from which this process descends, if
// ferrus has started it.
func SlotAbove(root string) (path string, ok bool) { return slotAbove(here{}, os.Getpid(), root) }

func slotAbove(sys system, pid int, root string) (string, bool) {
	root = real(root)
	p, ok := sys.look(pid)
	for depth := 0; ok && root != "" && depth < maxDepth; depth++ {
		if p, ok = sys.look(p.parent); !ok || p.pid <= 1 {
			break
		}
		if _, ours := shim(p, root); ours {
			return p.args[3], true
		}
	}
	return "", false
}

func agentAbove(sys system, pid int, root string) (Agent, bool) {
	return nearestAbove(sys, pid, root, func(Agent) bool { return true })
}

// maxDepth bounds the search upwards. Parents form no ring, but ids may be reused while they are
// read.
const maxDepth = 64

func nearestAbove(sys system, pid int, root string, counts func(Agent) bool) (Agent, bool) {
	root = real(root)
	self, ok := sys.look(pid)
	if !ok || root == "" {
		return Agent{}, false
	}
	var clients map[int]bool
	shimmed := false // a process above a shim has not started the processes below it directly
	for p, depth := self, 0; depth < maxDepth; depth++ {
		parent, ok := sys.look(p.parent)
		if !ok || parent.pid <= 1 {
			break
		}
		if a, ok := shim(parent, root); ok {
			if counts(a) {
				return a, true
			}
			shimmed = true
		}
		if a, ok := launched(sys, parent, root); ok && counts(a) {
			return a, true
		}
		// The client of both servers, as in a test, is not a shell of an executor: it is this
		// process's own parent.
		if depth > 0 && !shimmed && !shell(parent.name) {
			if clients == nil {
				clients = clientsOf(sys, root)
			}
			if a := (Agent{parent.pid, "executor", "executor", "the client of an executor's server"}); clients[parent.pid] && counts(a) {
				return a, true
			}
		}
		p = parent
	}
	return Agent{}, false
}

// shim returns the agent of a shim of the project.
func shim(p entry, root string) (Agent, bool) {
	if len(p.args) != 4 || p.args[1] != Shim || !rootfs.Within(root, real(p.args[3])) {
		return Agent{}, false
	}
	a := Agent{p.pid, "supervisor", p.args[2], "the shim that ferrus started it under"}
	if p.args[2] == "executor" || p.args[2] == "worker" {
		a.Role = p.args[2]
	}
	return a, true
}

// launched returns the agent of the project as which a process was started.
func launched(sys system, p entry, root string) (Agent, bool) {
	var name, project string
	for _, entry := range sys.environ(p.pid) {
		if v, ok := strings.CutPrefix(entry, agentVar+"="); ok {
			name = v
		}
		if v, ok := strings.CutPrefix(entry, ProjectVar+"="); ok {
			project = v
		}
	}
	role, _, ok := strings.Cut(name, ":")
	if !ok || role == "" || project == "" || real(project) != root {
		return Agent{}, false
	}
	return Agent{p.pid, clean(role), clean(name), "it began with " + agentVar + " set"}, true
}

// clientsOf returns the processes that have started an executor's server of the project.
func clientsOf(sys system, root string) map[int]bool {
	clients := map[int]bool{}
	for _, pid := range sys.all() {
		p, ok := sys.look(pid)
		if !ok || !serves(p.args, "executor") {
			continue
		}
		if standsIn(sys, p, root) {
			clients[p.parent] = true
		}
	}
	return clients
}

// serves reports whether a command line starts a server in the role.
func serves(args []string, role string) bool {
	return len(args) > 1 && strings.Contains(filepath.Base(args[0]), "ferrus") && option(args, "role") == role
}

// option returns the value of a flag in a command line, "" if it is missing.
func option(args []string, name string) string {
	for i, arg := range args {
		flag := strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
		if flag == arg {
			continue
		}
		if flag == name && i+1 < len(args) {
			return args[i+1]
		}
		if v, ok := strings.CutPrefix(flag, name+"="); ok {
			return v
		}
	}
	return ""
}

// shells run what a person types, in a terminal in which an executor and a supervisor may both
// work.
var shells = []string{"sh", "bash", "zsh", "fish", "dash", "ash", "ksh", "tcsh", "csh", "nu", "elvish", "pwsh", "powershell", "cmd"}

func shell(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "-"), ".exe"))
	return slices.Contains(shells, name)
}

// real returns path without links, as far as it exists.
func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	if dir := filepath.Dir(path); dir != path && path != "" {
		return filepath.Join(real(dir), filepath.Base(path))
	}
	return path
}

// Limits of the text of an ancestry.
const (
	maxNames = 8  // processes
	maxName  = 32 // bytes of a name
	// MaxAncestry is the longest text in bytes that Ancestry returns.
	MaxAncestry = maxNames * (maxName + 16)
)

// Ancestry returns this process and those above it up to the leader of its session, as in "ferrusd 412
// < codex 409 < zsh 77", as of the first call. It contains no control characters.
var Ancestry = sync.OnceValue(func() string { return ancestry(here{}, os.Getpid()) })

func ancestry(sys system, pid int) string {
	var names []string
	for p, ok := sys.look(pid); ok && len(names) < maxNames; p, ok = sys.look(p.parent) {
		name := clean(p.name)
		if len(p.args) == 4 && p.args[1] == Shim {
			name += "[" + clean(p.args[2]) + "]"
		}
		names = append(names, fmt.Sprintf("%s %d", name, p.pid))
		if p.pid <= 1 || len(names) > 1 && p.session == p.pid {
			break
		}
	}
	return strings.Join(names, " < ")
}

// SameClient reports whether the client that started this process, directly or by a shell, is the one that started the process with
// the ancestry, which still runs.
func SameClient(ancestry string) bool { return sameClient(here{}, os.Getpid(), ancestry) }

func sameClient(sys system, pid int, ancestry string) bool {
	names := strings.SplitN(ancestry, " < ", 3)
	if len(names) < 2 {
		return false
	}
	server, _ := sys.look(pidOf(names[0]))
	if server.parent <= 1 || server.parent != pidOf(names[1]) {
		return false
	}
	p, ok := sys.look(pid)
	for depth := 0; ok && depth < maxDepth; depth++ {
		if p, ok = sys.look(p.parent); ok && (p.pid == server.parent || !shell(p.name)) {
			return p.pid == server.parent
		}
	}
	return false
}

// pidOf returns the id of a process in an ancestry, 0 for none.
func pidOf(name string) int {
	pid, _ := strconv.Atoi(name[strings.LastIndexByte(name, ' ')+1:])
	return pid
}

// clean returns the name of a program, shortened and without hidden characters.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '<' || r == '>' || r > unicode.MaxASCII || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, name)
	if len(name) > maxName/2 {
		name = name[:maxName/2]
	}
	if name == "" {
		return "?"
	}
	return name
}
