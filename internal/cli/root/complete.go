package root

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/queue"
)

// names are what a shell completes: those of a project. Errors complete nothing.
type names = func(place project.Place) []string

func branches(place project.Place) []string {
	list, _ := project.Branches(place.Root)
	return list
}

func waiting(place project.Place) (list []string) {
	items, _ := queue.Heads(project.At(place.Root, "").Dir())
	for _, it := range items {
		list = append(list, it.Name)
	}
	return list
}

// completed are the commands whose first argument is a name, and the flags of commands that have one.
var completed = []struct {
	command, flag string
	names         names
}{
	{"branch", "", branches}, {"merge", "", branches}, {"pr", "", branches}, {"select", "", branches},
	{"queue", "needs", waiting}, {"queue", "remove", waiting}, {"queue", "replace", waiting}, {"queue", "show", waiting}, {"task", "needs", waiting},
}

// complete has the shell complete names of branches and of tasks that wait. Commands that the tree does not have are left out.
func complete(root *cobra.Command, a *cli.App) {
	of := func(names names, most int) cobra.CompletionFunc {
		return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			place, err := a.Place(cmd.Context())
			if err != nil || len(args) > most {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return names(place), cobra.ShellCompDirectiveNoFileComp
		}
	}
	root.RegisterFlagCompletionFunc("branch", of(branches, math.MaxInt)) // its only error is that there is no such flag
	for _, cmd := range root.Commands() {
		for _, c := range completed {
			switch {
			case c.command != cmd.Name():
			case c.flag == "":
				cmd.ValidArgsFunction = of(c.names, 0)
			default:
				cmd.RegisterFlagCompletionFunc(c.flag, of(c.names, math.MaxInt))
			}
		}
	}
}
