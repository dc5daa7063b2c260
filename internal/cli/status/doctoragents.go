package status

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/register"
	"github.com/ferrus-go/ferrus/internal/cli"
	setupcmd "github.com/ferrus-go/ferrus/internal/cli/setup"
	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/server"
	"github.com/ferrus-go/ferrus/internal/server/mcpclient"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status/doctor"
)

// serverLimit is how long a server may take to start and to list its tools.
const serverLimit = 10 * time.Second

func checkExecutor(p *doctor.Context) doctor.Finding   { return checkAgent(p, agents.Executor) }
func checkSupervisor(p *doctor.Context) doctor.Finding { return checkAgent(p, agents.Reviewer) }

// checkAgent looks whether the agent that a run would start is there, and whether the server that it would be given
// starts.
func checkAgent(p *doctor.Context, d agents.Duty) doctor.Finding {
	e, err := p.Engine()
	if err != nil {
		return doctor.Finding{} // other checks say why
	}
	conf, err := e.Config()
	if err != nil {
		return doctor.Finding{}
	}
	who, key := conductor.Agent(conf.HQ, d), "hq."+string(d.Role())+".agent"
	x, err := agents.Find(who.Agent)
	if err != nil {
		return doctor.Bad(key+": "+err.Error(), "name one of them in ferrus.toml")
	}
	self, err := os.Executable()
	if err != nil {
		return doctor.Finding{}
	}
	if err := cli.CheckStartable(p.Ctx, p.Place.Root, who, key+" in ferrus.toml", "hq."+string(d.Role())); err != nil {
		f := cli.Explain(err)
		return doctor.Bad(f.Message+"; ferrus run cannot start it", f.Remedy)
	}
	tools, err := toolsOf(p.Ctx, p.Place.Root, self, "serve", "--role", string(d.Role()), "--agent-name", x.Name)
	if err != nil {
		return doctor.Bad(fmt.Sprintf("the server of the %s does not start: %v", d.Role(), err), refusal.Say("see %s for what it says", p.Path("logs")))
	}
	for _, other := range conductor.Agent(conf.HQ, d).List()[1:] {
		if err := cli.CheckStartable(p.Ctx, p.Place.Root, other, "hq."+string(d.Role())+".fallback in ferrus.toml", ""); err != nil {
			f := cli.Explain(err)
			return doctor.Noted(f.Message+"; it cannot work in place of "+x.Name, f.Remedy)
		}
	}
	if x.Program == "" {
		return doctor.Fine(fmt.Sprintf("%s; its server starts and lists %s", x.Title, format.Count(tools, "tool", "tools")))
	}
	environ := cli.Programs(p.Place.Root)
	path, err := x.Path(environ)
	if err != nil {
		return doctor.Bad(err.Error(), "")
	}
	version, err := x.Version(p.Ctx, environ)
	if err != nil {
		return doctor.Bad(err.Error(), refusal.Say("check that %s works: %s reinstalls it", path, x.Install))
	}
	return doctor.Fine(fmt.Sprintf("%s %s (%s); its server starts and lists %s", x.Name, version, path, format.Count(tools, "tool", "tools")))
}

// checkRegistered looks whether the clients' own files start our server, and whether one that a person opens gets its role.
func checkRegistered(p *doctor.Context) doctor.Finding {
	project, err := setupcmd.ProjectOf(p.Place.Root)
	if err != nil {
		return doctor.Bad(err.Error(), "")
	}
	servers, err := project.Servers()
	if err != nil {
		f := cli.Explain(err)
		return doctor.Bad(f.Message, f.Remedy)
	}
	if len(servers) == 0 {
		return doctor.Finding{} // who lets ferrus run start the agents needs none
	}
	self, err := os.Executable()
	if err != nil {
		return doctor.Finding{}
	}
	var named, strange []string
	for _, s := range servers {
		again := refusal.Say("ferrus register --%s %s writes it again", string(s.Role), s.Agent)
		if s.Role != agents.Supervisor && s.Role != agents.Executor {
			return doctor.Bad(s.File+" starts the server of ferrus without a role", refusal.Say("ferrus register --supervisor %s, or --executor", s.Agent))
		}
		if why := notOurs(self, p.Place.Root, s.Argv); why != "" {
			strange = append(strange, fmt.Sprintf("%s names %q for the %s: not started: %s", s.File, s.Argv[0], s.Role, why))
			continue
		}
		tools, err := toolsOf(p.Ctx, p.Place.Root, self, s.Argv[1:]...)
		if err != nil {
			return doctor.Bad(fmt.Sprintf("%s cannot start the server of the %s: %v", s.File, s.Role, err), again)
		}
		named = append(named, fmt.Sprintf("%s is the %s by %s (%s)", s.Agent, s.Role, s.File, format.Count(tools, "tool", "tools")))
	}
	if len(strange) > 0 {
		return doctor.Noted(strings.Join(append(strange, named...), "; "), refusal.Say("ferrus register writes the entries again, with %s", self))
	}
	if f := checkPair(p, project, named); f.Text != "" {
		return f
	}
	return doctor.Fine(strings.Join(named, "; "))
}

// checkPair looks whether ferrus run starts the agents that the clients' files name. named is what was found in those.
func checkPair(p *doctor.Context, project register.Project, named []string) doctor.Finding {
	found, err := project.Registered()
	if err != nil {
		return doctor.Finding{}
	}
	conf, err := config.LoadFor(filepath.Join(p.Place.Root, config.FileName))
	if err != nil {
		return doctor.Finding{} // its own check says why
	}
	var differ []string
	again := "ferrus register"
	for i, who := range []config.Agent{conf.HQ.Supervisor, conf.HQ.Executor} {
		if assigned, ok := found[setupcmd.Duties[i]]; ok {
			again += " --" + string(setupcmd.Duties[i]) + " " + assigned.Agent
			if assigned.Agent != who.Agent {
				differ = append(differ, "ferrus run starts "+who.Agent+" as the "+string(setupcmd.Duties[i]))
			}
		}
	}
	if differ == nil {
		return doctor.Finding{}
	}
	return doctor.Noted(strings.Join(append(named, differ...), "; "), refusal.Say("%s makes ferrus run{branch} start the same agents; ferrus register alone changes the clients' files instead", again))
}

// notOurs says why the doctor does not start what a client's file names, "" if it is this very program, started as a
// client starts a server over stdio. A project's file must not make the doctor run anything else.
func notOurs(self, root string, argv []string) string {
	program := argv[0]
	if !filepath.IsAbs(program) {
		found, err := proc.LookPath(program, os.Getenv("PATH"), proc.WorkTree(root))
		if strings.ContainsAny(program, `/\`) || err != nil {
			return "it is not this ferrus"
		}
		program = found
	}
	here, errHere := os.Stat(self)
	there, errThere := os.Stat(program)
	if errHere != nil || errThere != nil || !os.SameFile(here, there) {
		return "it is not this ferrus"
	}
	if len(argv) < 2 || argv[1] != "serve" {
		return "it is not ferrus serve"
	}
	if server.Elsewhere(argv[2:]) {
		return "its arguments name another project or an address"
	}
	return ""
}

// toolsOf starts a server as a client would, and counts the tools that it lists. It does so in a folder without a
// machine, because a server repairs what it finds and the doctor was not asked to. No program of the project at root is on its
// PATH: in that folder git would not be known as the project's own. program is the running ferrus.
func toolsOf(ctx context.Context, root, program string, args ...string) (int, error) {
	dir, err := os.MkdirTemp("", "ferrus-doctor")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, serverLimit)
	defer cancel()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stderr = dir, io.Discard
	cmd.Env = append(cli.Programs(root), "PWD="+dir, "FERRUS_ROOT=")
	client, err := mcpclient.Start(ctx, "doctor", cmd)
	if err == nil {
		defer client.Close()
		var list *mcp.ListToolsResult
		if list, err = client.Session().ListTools(ctx, nil); err == nil {
			return len(list.Tools), nil
		}
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("no answer within %v", serverLimit)
	}
	return 0, err
}
