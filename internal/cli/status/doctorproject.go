package status

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/internal/project/notify"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status/doctor"
)

func checkConfig(p *doctor.Context) doctor.Finding {
	conf, err := config.LoadFor(filepath.Join(p.Place.Root, config.FileName))
	switch {
	case err != nil:
		return doctor.Bad(err.Error(), "ferrus config explain lists every key")
	case conf.Checks.Commands == nil:
		return doctor.Bad("names no checks: nothing can be submitted", refusal.Say("%s", cli.SuggestChecks(p.Place.Root)))
	}
	programs := cli.ConfigWarnings(conf, p.Place.Root) // the agents have checks of their own
	switch {
	case len(programs) > 0:
		return doctor.Noted(strings.Join(programs, "; "), "install it, or correct ferrus.toml; ferrus config check{branch} reads it")
	case len(conf.Checks.Commands) == 0:
		return doctor.Noted("commands = []: every check passes", "")
	}
	return doctor.Fine(format.Count(len(conf.Checks.Commands), "check", "checks") + ", every key valid")
}

// checkWorkflows validates workflows.json.
func checkWorkflows(p *doctor.Context) doctor.Finding {
	here := cli.App{Dir: p.Place.Root}
	all, path, err := here.Workflows(p.Ctx)
	switch {
	case refusal.CodeOf(err) == refusal.NotInitialised:
		return doctor.Finding{} // nobody must have pipelines
	case err != nil:
		f := cli.Explain(err)
		return doctor.Bad(f.Message, "ferrus pipeline validate lists them")
	}
	return doctor.Fine(path + " has " + format.Count(len(all), "pipeline", "pipelines"))
}

// checkNotify says which channels of [notify] failed when they were used last.
func checkNotify(p *doctor.Context) doctor.Finding {
	to, err := cli.Channels(p.Place.Root)
	list, unread := notify.OpenOutbox(p.Place.Root).Failures(to)
	switch {
	case unread != nil:
		return doctor.Noted(unread.Error(), "")
	case errors.Is(err, agreement.ErrChannels):
		return doctor.Noted(err.Error(), "ferrus trust")
	case len(list) > 0:
		var texts []string
		for _, f := range list {
			texts = append(texts, f.String())
		}
		return doctor.Noted(strings.Join(texts, "; "), "ferrus notify --test tries every channel")
	case len(to.List()) == 0:
		return doctor.Finding{} // nobody must be notified
	}
	return doctor.Fine(format.Count(len(to.List()), "channel", "channels") + " of [notify]")
}

// checkProcesses says who still runs a ferrus that was replaced.
func checkProcesses(p *doctor.Context) doctor.Finding {
	if text, remedy := cli.Outdated(p.Place.Root); text != "" {
		return doctor.Noted(text, remedy)
	}
	return doctor.Finding{}
}
