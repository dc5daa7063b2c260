package register

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/worktree/git"
)

// HookCommand is the command of ferrus that a client runs at an event.
const HookCommand = "hook"

// hookEvents are those of which ferrus is told.
var hookEvents = []string{"SessionStart", "Stop", "Notification"}

// hookTime is how many seconds a client waits for a hook of ours, which ends by itself long before.
const hookTime = 5

// hooks are the bits of the hooks in the settings of Claude Code: a program with its arguments, so that no shell reads the path.
func hooks(p Project, a assignment) (list []bit) {
	group := table{{"hooks", []table{{{"type", "command"}, {"command", p.Exe}, {"args", []string{HookCommand}}, {"timeout", hookTime}}}}}
	for _, event := range hookEvents {
		list = append(list, bit{path: []string{"hooks", event}, value: group, item: true, off: !a.hooks,
			ours: func(v any) bool { return ourGroup(p.Exe, v) }})
	}
	return list
}

// ourGroup reports whether all hooks of a group, and at least one, run `ferrus hook`.
func ourGroup(exe string, group any) bool {
	n, all := hooksOf(exe, group)
	return n > 0 && n == all
}

// hooksOf counts the hooks of a group: ours, and all.
func hooksOf(exe string, group any) (ours, all int) {
	m, _ := group.(map[string]any)
	list, _ := m["hooks"].([]any)
	for _, hook := range list {
		argv := commandLine(hook)
		if len(argv) > 1 && argv[1] == HookCommand && (argv[0] == exe || strings.HasPrefix(nameOf(argv[0]), "ferrus")) {
			ours++
		}
	}
	return ours, len(list)
}

// unmixed refuses a file in which a hook of theirs stands in one group with one of ours: the group could not be taken out.
func (r reading) unmixed(exe string) error {
	for _, event := range hookEvents {
		path := []string{"hooks", event}
		v, _ := at(r.tree, path)
		groups, _ := v.([]any)
		for _, group := range groups {
			if n, all := hooksOf(exe, group); n > 0 && n < all {
				return refuse(r.name, r.format.line(r.text, path), "a hook of yours stands in one group with that of ferrus",
					"give it a group of its own, then run this again; nothing was written")
			}
		}
	}
	return nil
}

// Hooks reports whether the agent, in the folder dir, runs hooks of ours from its files there or in a folder above. A file that cannot be
// read has none.
func Hooks(dir, agent string) bool {
	i := slices.IndexFunc(clients, func(c client) bool { return c.name == agent })
	return i >= 0 && clients[i].above(dir, reading.hooked)
}

// hooked reports whether there are hooks of ours in the file.
func (r reading) hooked() bool {
	return r.hooks && slices.ContainsFunc(hooks(Project{}, assignment{}), func(b bit) bool {
		taken, _ := b.in(r.tree)
		return taken
	})
}

// MayHook reports whether there is a place for hooks of the agent that is not committed.
func MayHook(agent string) bool {
	return slices.ContainsFunc(clients, func(c client) bool {
		return c.name == agent && slices.ContainsFunc(c.files, func(f file) bool { return f.hooks })
	})
}

// uncommitted refuses a file that git has.
func (p Project) uncommitted(r reading) error {
	out, _, err := git.Command{Dir: p.Root, Flags: []string{"--literal-pathspecs"}}.Run(context.Background(), "ls-files", "-z", "--", r.name, r.target)
	switch {
	case errors.Is(err, git.ErrNoGit), err == nil && len(out) == 0:
		return nil
	case err != nil:
		return refuse(r.name, 0, "git does not say whether it has this file: "+err.Error(), "run this again without --hooks; nothing was written")
	}
	return refuse(r.name, 0, "git has this file, and your hooks are for you alone",
		"take it out of git (git rm --cached), or run this again without --hooks; nothing was written")
}
