package server

import (
	"cmp"
	"context"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/agents"
	"github.com/ferrus-go/ferrus/internal/agents/register"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/tools/gate"
)

// A Client names the client whose plugin starts the server, in any folder and in every session. What the server is for is known
// only there: it becomes the server of the client's role, or serves nothing.
type Client struct {
	Name  string   // as in ferrus.toml; "" for a server with a role
	flags []string // the other flags that were given
}

func (c *Client) add(fs *flag.FlagSet) {
	fs.StringVar(&c.Name, "client", "", "`NAME` of the client whose plugin starts this server, such as claude-code, in place of --role: "+
		"the project knows its role")
}

// check returns what is wrong with the flags, "" if nothing is.
func (c *Client) check(fs *flag.FlagSet) string {
	if c.Name == "" {
		return ""
	}
	if _, err := agents.Find(c.Name); err != nil {
		return "--client: " + err.Error()
	}
	wrong := ""
	fs.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "client":
		case "root", "branch", "wait":
			c.flags = append(c.flags, "--"+f.Name+"="+f.Value.String())
		default:
			wrong = "--" + f.Name + ": a client gets its role from the project; leave out --client or this"
		}
	})
	return wrong
}

// assigned becomes the server that "ferrus register" would write for the client. It is another process image, so that commands
// that look for the server of an executor find it by its arguments. Where a process cannot become another, as on Windows, it
// returns the configuration of that server. A code of 0 or more means that the program must exit with it. Where the client is to have
// nothing it returns c.
func (c Config) assigned(prog string) (Config, int) {
	role := c.role()
	if role == "" {
		return c, -1
	}
	adapter, err := agents.Find(c.Client.Name)
	if err != nil {
		return c, -1 // check has found it
	}
	args := append(register.Flags(adapter, role), c.Client.flags...)
	if exe, err := proc.Executable(); err == nil {
		argv := slices.Concat(os.Args[:1], strings.Fields(prog)[1:], args)
		_ = syscall.Exec(exe, argv, os.Environ()) // returns only if it cannot
	}
	return parse(prog, args, os.Stdout, os.Stderr)
}

// role returns the role of the client in its project, "" if it is to have no tools of this server: there is no project, ferrus has
// started the session, which has a server of its own, or the client's files in the project start one. A client without a role,
// or with both, is the supervisor: ferrus run starts executors.
func (c Config) role() agents.Duty {
	place, err := c.place()
	if err != nil {
		return ""
	}
	dir, err := filepath.Abs(cmp.Or(c.Root, "."))
	if err != nil {
		return ""
	}
	if _, below := proc.AgentAbove(place.Root); below || strings.Contains(os.Getenv("FERRUS_AGENT"), ":") {
		return ""
	}
	if register.Serves(dir, c.Client.Name) {
		return ""
	}
	conf, err := config.LoadFor(filepath.Join(place.Root, config.FileName))
	if err == nil && conf.HQ.Executor.Agent == c.Client.Name && conf.HQ.Supervisor.Agent != c.Client.Name {
		return agents.Executor
	}
	return agents.Supervisor
}

// nothing returns a server without tools and instructions. Gemini CLI reports one that offers nothing at all as broken, at each
// start: it gets a prompt, which only a person sees.
func (c Config) nothing(log *slog.Logger) *mcp.Server {
	if c.Client.Name != "gemini" {
		return gate.NewServer(Version(), "", &mcp.ServerCapabilities{}, log)
	}
	s := gate.NewServer(Version(), "", &mcp.ServerCapabilities{Prompts: &mcp.PromptCapabilities{}}, log)
	s.AddPrompt(&mcp.Prompt{Name: "ferrus", Description: "Why ferrus has no tools here"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: noTools}}}}, nil
	})
	return s
}

// noTools tells a person why there are no tools.
const noTools = "Tell me: ferrus has tools only in a folder with a project of ferrus, which `ferrus init` makes, and after a restart of " +
	"this client. A session that ferrus has started has a server of its own."
