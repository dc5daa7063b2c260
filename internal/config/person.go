package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
)

// PersonFile is the name of a person's own configuration in their configuration folder, such as
// $XDG_CONFIG_HOME/ferrus.
const PersonFile = "config.toml"

// A Person is a person's own configuration: which agents they use in every project. It overrides
// the project's configuration and needs no agreement, because no repository writes it.
type Person struct {
	Path       string // of the file, which need not exist
	Supervisor PersonAgent
	Executor   PersonAgent
	Notify     PersonNotify
	Store      PersonStore
	Day        Day // over all projects of the person on this computer
	Web        PersonWeb
	Projects   map[string]PersonProject // by the path of the project
}

// PersonWeb is [web] of a person's own configuration.
type PersonWeb struct {
	All *bool `toml:"all"` // whether a project is in the view of all projects; nil for yes
}

// PersonProject is [project."PATH"] of a person's own configuration: what holds for one project.
type PersonProject struct {
	Web PersonWeb `toml:"web"`
}

// InAll reports whether the project at root is in the view of all projects. What is said of one project counts before what is said of all.
func (p Person) InAll(root string) bool {
	all := p.Web.All
	if own := p.Projects[root].Web.All; own != nil {
		all = own
	}
	return all == nil || *all
}

// PersonStore is [store] of a person's own configuration.
type PersonStore struct {
	URL string `toml:"url"` // of the database into which ferrus store moves projects; "" for none

	// SilenceSecs is how long a computer may be silent before others take it for lost; 0 for 10 seconds.
	SilenceSecs int `toml:"silence_secs"`

	// Trees is the git remote by which the work trees of projects in a database travel: a name, a URL or an absolute path. By default it is
	// "", for none: whoever can read the remote can read unfinished work.
	Trees string `toml:"trees"`
	// Namespace is where their refs are on the remote, one of [Namespaces]; "" for the first.
	Namespace string `toml:"namespace"`
}

// Namespaces are where the refs of work trees may be on a git remote. Clones leave those of the first one alone, but some hosts refuse it.
var Namespaces = []string{"refs/ferrus", "refs/heads/ferrus"}

// checkStore returns an error for a value of [store] that has no meaning.
func (p *Person) checkStore() error {
	s := p.Store
	if s.Namespace != "" && !slices.Contains(Namespaces, s.Namespace) {
		return fmt.Errorf("%s: [store] namespace is %s; it is one of %s", p.Path, quote(s.Namespace), strings.Join(Namespaces, ", "))
	}
	path := strings.ContainsAny(s.Trees, `/\`) && !strings.Contains(s.Trees, ":")
	if path && !filepath.IsAbs(s.Trees) || strings.HasPrefix(s.Trees, "-") {
		return fmt.Errorf("%s: [store] trees is %s; it is the name of a remote, a URL or an absolute path", p.Path, quote(s.Trees))
	}
	if n := s.SilenceSecs; n < 0 || n == 1 || n > maxSilence {
		return fmt.Errorf("%s: [store] silence_secs is %d; it is a number from 2 to %d", p.Path, n, maxSilence)
	}
	return nil
}

// maxSilence bounds SilenceSecs: tasks of a computer that is gone wait as long.
const maxSilence = 3600

// TTL returns how long a computer may be silent, 0 for the usual time.
func (s PersonStore) TTL() time.Duration { return time.Duration(s.SilenceSecs) * time.Second }

// PersonNotify is [notify] of a person's own configuration. What is not set keeps the project's
// value.
type PersonNotify struct {
	URLs    []string `toml:"urls"`
	Desktop *bool    `toml:"desktop"`
}

// PersonAgent is [hq.supervisor] or [hq.executor] of a person's own configuration. An empty value
// keeps the project's value.
type PersonAgent struct {
	Agent   string              `toml:"agent"`
	Model   string              `toml:"model"`
	Command string              `toml:"command"`
	Args    map[string][]string `toml:"args"` // by the name of the agent they are for
}

// LoadPerson reads the configuration of the person who runs this process. A missing file means the
// zero Person. Only that person may be able to write the folder and the file.
func LoadPerson() (Person, error) {
	path, err := PersonPath()
	if err != nil {
		return Person{}, err
	}
	return ReadPerson(path)
}

// PersonPath returns the path that LoadPerson reads. The error is one of trust.ConfigDir.
func PersonPath() (string, error) {
	dir, err := trust.ConfigDir()
	return filepath.Join(dir, PersonFile), err
}

// ReadPerson is LoadPerson for the file at path. PersonPath has verified its folder.
func ReadPerson(path string) (Person, error) {
	p := Person{Path: path}
	data, err := rootfs.ReadFile(p.Path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = trust.Private(p.Path)
	}
	if err != nil {
		return p, fmt.Errorf("read %s: %w", p.Path, rootfs.Cause(err))
	}
	return p, p.parse(data)
}

// parse reads the text of the file.
func (p *Person) parse(data []byte) error {
	var file struct {
		HQ struct {
			Supervisor PersonAgent `toml:"supervisor"`
			Executor   PersonAgent `toml:"executor"`
		} `toml:"hq"`
		Notify PersonNotify `toml:"notify"`
		Store  PersonStore  `toml:"store"`
		Limits Day          `toml:"limits"`
		Web    PersonWeb    `toml:"web"`

		Projects map[string]PersonProject `toml:"project"`
	}
	md, err := toml.Decode(string(data), &file)
	if err != nil {
		return fmt.Errorf("%s: %s", p.Path, visible(err.Error()))
	}
	if unknown := md.Undecoded(); len(unknown) > 0 {
		return fmt.Errorf("%s: unknown key %s; known are agent, model, command and args.AGENT in [hq.supervisor] and [hq.executor], urls and desktop in [notify], max_day_minutes, max_day_tokens, max_day_dollars and day_zone in [limits], url, trees, namespace and silence_secs in [store], and all in [web] and in [project.\"PATH\".web]",
			p.Path, dotted(unknown[0]))
	}
	p.Supervisor, p.Executor, p.Notify, p.Store, p.Day = file.HQ.Supervisor, file.HQ.Executor, file.Notify, file.Store, file.Limits
	p.Web, p.Projects = file.Web, file.Projects
	for path := range p.Projects {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return fmt.Errorf("%s: [project.%s] is not the path of a project; it is an absolute one, as ferrus trust shows it", p.Path, quote(path))
		}
	}
	if err := p.checkDay(); err != nil {
		return err
	}
	if err := p.checkStore(); err != nil {
		return err
	}
	for i, item := range p.Notify.URLs {
		if err := checkURL(item); err != nil {
			return fmt.Errorf("%s: [notify] urls: item %d %w", p.Path, i+1, err)
		}
	}
	agent, _ := find("hq.executor.agent")
	for _, table := range []string{"hq.supervisor", "hq.executor"} {
		own := p.Supervisor
		if table == "hq.executor" {
			own = p.Executor
		}
		named := slices.Collect(maps.Keys(own.Args))
		if own.Agent != "" {
			named = append(named, own.Agent)
		}
		for _, name := range named {
			if !slices.Contains(agent.words, name) {
				return fmt.Errorf("%s: [%s]: %w", p.Path, table, agent.meant(fmt.Errorf("there is no agent %s; it is %s", quote(name), agent.allowed()), name))
			}
		}
	}
	return nil
}

// With returns c with a person's own configuration over it. If the person names another agent, the
// project's other settings of that agent do not apply.
func (c Config) With(p Person) Config {
	c.project, c.lent = &projectValues{c.HQ, c.Channels}, map[string]bool{}
	if p.Notify.URLs != nil {
		c.Channels.URLs, c.lent["notify.urls"] = slices.Clone(p.Notify.URLs), true
	}
	if p.Notify.Desktop != nil {
		c.Channels.Desktop, c.lent["notify.desktop"] = *p.Notify.Desktop, true
	}
	c.HQ.Supervisor = c.overlay("hq.supervisor", c.HQ.Supervisor, p.Supervisor)
	c.HQ.Executor = c.overlay("hq.executor", c.HQ.Executor, p.Executor)
	return c
}

func (c Config) overlay(table string, a Agent, own PersonAgent) Agent {
	if own.Agent != "" && own.Agent != a.Agent {
		a = Agent{Agent: own.Agent, Args: []string{}, Fallback: []string{}}
		c.lent[table] = true
	}
	if own.Model != "" {
		a.Model = own.Model
	}
	if own.Command != "" {
		a.Command = own.Command
	}
	if args, ok := own.Args[a.Agent]; ok {
		a.Args = slices.Clone(args)
		c.lent[table] = true
	}
	return a
}

// ProjectArgs returns the arguments of agents that come from the project's file and apply, by
// table.
func (c Config) ProjectArgs() map[string]Agent {
	all := map[string]Agent{"hq.supervisor": c.HQ.Supervisor, "hq.executor": c.HQ.Executor}
	maps.DeleteFunc(all, func(table string, a Agent) bool { return c.lent[table] || len(a.Args) == 0 })
	return all
}

// PersonLine returns the line of a person's own configuration that gives an agent these arguments.
func PersonLine(table, agent string, args []string) string {
	return strings.Join([]string{"[" + table + ".args]", printable(agent) + " = " + literal(args)}, "\n")
}

// LoadFor reads the project's file at path and applies the person's own configuration.
func LoadFor(path string) (Config, error) {
	c, err := Load(path)
	if err != nil {
		return c, err
	}
	p, err := LoadPerson()
	if err != nil {
		return c, err
	}
	return c.With(p), nil
}

// personPage is what the page of the keys says of a person's own file, with ' for the mark of code.
const personPage = `
## Your own file

'~/.config/ferrus/config.toml' (or 'XDG_CONFIG_HOME') is yours alone and holds in
every project. No repository writes it, so it needs no agreement.

| table | keys |
|---|---|
| '[hq.executor]', '[hq.supervisor]' | 'agent', 'model', 'command' and 'args.AGENT', before those of the project |
| '[notify]' | 'urls', 'desktop': [notifications](notifications.md) |
| '[limits]' | 'max_day_minutes', 'max_day_tokens', 'max_day_dollars', 'day_zone' over all your projects: [the conductor](conductor.md) |
| '[store]' | 'url', 'trees', 'namespace', 'silence_secs': [several computers](machines.md) |
| '[web]' | 'all = false': no project is in 'ferrus web --all' and 'ferrus ui --all' |
| '[project."PATH".web]' | 'all = false' or 'true' for the project at this path, before '[web]' |
`
