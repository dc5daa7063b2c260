package register

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/agents"
)

// A Server is an entry of ours, as a client's file has it now.
type Server struct {
	Agent string
	Role  agents.Duty // "" when the entry names none that we know
	File  string      // relative to the project, with slashes
	Argv  []string    // how the client starts it
}

// Servers returns the entries of ours in the project's files. The errors are refusals, or of the system.
func (p Project) Servers() ([]Server, error) {
	var found []Server
	for _, c := range clients {
		for _, f := range c.files {
			r, err := p.read(f)
			if err != nil {
				return nil, err
			}
			entry, there := r.entry()
			if role, ok := ours(p.Exe, entry); there && ok {
				found = append(found, Server{Agent: c.name, Role: role, File: f.place(p.Root), Argv: commandLine(entry)})
			}
		}
	}
	return found, nil
}

// Serves reports whether the agent, in the folder dir, starts a server of ours from its files there or in a folder above, beside
// that of a plugin. Only an agent that keeps both apart does; with the others a server of a file replaces that of a plugin. A file
// that cannot be read starts none.
func Serves(dir, agent string) bool {
	i := slices.IndexFunc(clients, func(c client) bool { return c.name == agent && c.apart })
	return i >= 0 && clients[i].above(dir, func(r reading) bool {
		_, ok := r.server("")
		return ok
	})
}

// above reports whether has is true of a file of the client in the folder dir or in a folder above.
func (c client) above(dir string, has func(reading) bool) bool {
	for at := ""; at != dir; dir = filepath.Dir(dir) {
		at = dir
		for _, f := range c.files {
			if r, err := (Project{Root: dir}).read(f); err == nil && has(r) {
				return true
			}
		}
	}
	return false
}

// entry is what stands at the place of our server, and whether anything does.
func (r reading) entry() (any, bool) {
	for _, b := range r.bits(Project{}, assignment{}) {
		if v, there := at(r.tree, b.path); there && b.serves() {
			return v, true
		}
	}
	return nil, false
}

// server is the role of our server in the file, and whether it is there and ours.
func (r reading) server(exe string) (agents.Duty, bool) {
	entry, there := r.entry()
	if !there {
		return "", false
	}
	return ours(exe, entry)
}

// serves reports whether the bit is the entry of our server.
func (b bit) serves() bool { return b.path[len(b.path)-1] == agents.ServerName && !b.item }

// ours reports whether an entry of a client's list of servers runs `ferrus serve` or ferrusd, and for which role.
func ours(exe string, server any) (role agents.Duty, ok bool) {
	argv := commandLine(server)
	if len(argv) == 0 {
		return "", false
	}
	for i, arg := range argv[:len(argv)-1] {
		if arg == "--role" || arg == "-role" {
			role = agents.Duty(argv[i+1])
		}
	}
	serves := len(argv) > 1 && argv[1] == "serve" && (argv[0] == exe || strings.HasPrefix(nameOf(argv[0]), "ferrus"))
	return role, serves || nameOf(argv[0]) == "ferrusd"
}

// nameOf is the name of a program by its path on any system.
func nameOf(program string) string {
	return strings.TrimSuffix(strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:]), ".exe")
}

// commandLine is how a client starts the server of an entry: it stands in command and args, either of which may be a
// string or a list.
func commandLine(server any) []string {
	m, _ := server.(map[string]any)
	var argv []string
	for _, key := range []string{"command", "args"} {
		switch v := m[key].(type) {
		case string:
			argv = append(argv, v)
		case []any:
			for _, item := range v {
				s, _ := item.(string)
				argv = append(argv, s)
			}
		}
	}
	return argv
}
