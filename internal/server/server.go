// Package server is the program ferrusd: it gives a server process an identity and a transport, and
// serves the tools of its role.
//
// Over stdio one process serves one client and is one agent session; only MCP messages go to
// stdout. Over HTTP (http.go) one process serves many clients, and their tokens identify them.
//
// internal/tools has the tools, internal/server/web the HTTP handlers, internal/server/tokens the
// tokens.
//
// Start reading at server.go.
package server

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/checks"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/platform/sandbox"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/tools"
)

// Exit codes of Main.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2

	exitForbidden = 4 // started below an agent whose work it would review
)

// Config is the configuration of a server, from its arguments.
type Config struct {
	Role     state.Role    // Supervisor, Executor, worker or tools.None
	Agent    string        // name of the agent, such as codex
	Index    int           // distinguishes agents with the same name
	Root     string        // a folder in the project; the working directory when empty
	Branch   string        // of the machine in Root; "" finds it
	Wait     time.Duration // the longest wait of one call; the value of ferrus.toml when zero
	Headless bool
	HTTP     HTTP // instead of stdio
	Worker   Worker
	Client   Client // instead of a role
}

// Identity returns role:agent:index, the name of this server's client in the journal. A worker's
// role is its role in the pipeline, its index the number of the attempt.
func (c Config) Identity() string {
	role, index := c.Role, c.Index
	switch role {
	case tools.None:
		role = "none"
	case workerRole:
		role, index = state.Role(c.Worker.Name), c.Worker.Attempt
	}
	return fmt.Sprintf("%s:%s:%d", role, c.Agent, index)
}

// Main runs ferrusd with its arguments and returns the exit code: 128 plus its number for a signal.
// Over stdio it serves until its client leaves, over HTTP until a signal ends it. prog is the
// program's name in usage messages. metrics is nil for a server without numbers of its project.
func Main(prog string, args []string, metrics Metrics) int {
	sandbox.Stage()
	checks.Helper()
	conf, code := parse(prog, args, os.Stdout, os.Stderr)
	if code < 0 && conf.Client.Name != "" {
		conf, code = conf.assigned(prog)
	}
	if code >= 0 {
		return code
	}
	if err := conf.checkDescent(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", prog, err)
		return exitForbidden
	}
	ctx, stop := proc.Interruptible(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if conf.HTTP.on() {
		return serveHTTP(ctx, conf, prog, os.Stderr, metrics)
	}
	if err := Serve(ctx, conf, os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", prog, err)
		return exitError
	}
	return exitOf(ctx)
}

// Metrics returns the numbers of the project in root, an absolute path. See docs/metrics.md.
type Metrics func(ctx context.Context, root string) ([]format.Metric, error)

// exitOf returns the exit code of a server that ended normally.
func exitOf(ctx context.Context) int {
	if sig := proc.Signalled(ctx); sig != nil {
		return sig.Exit
	}
	return exitOK
}

// parse reads the arguments. A code of 0 or more means that the program must exit with it.
func parse(prog string, args []string, stdout, stderr io.Writer) (Config, int) {
	var c Config
	var role string
	var wait int
	fs := flag.NewFlagSet(prog, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // its messages are replaced by ours
	version := fs.Bool("version", false, "print the version and exit")
	fs.StringVar(&role, "role", "", "`ROLE` of the client: supervisor or executor; without it there is only status; ferrus itself starts servers with worker")
	fs.StringVar(&c.Agent, "agent-name", "agent", "`NAME` of the client's agent, such as codex")
	fs.IntVar(&c.Index, "agent-index", 1, "`N` distinguishes agents with the same name")
	fs.StringVar(&c.Root, "root", os.Getenv("FERRUS_ROOT"), "`DIR` of the project, or below it; default: the working directory")
	fs.StringVar(&c.Branch, "branch", "", "`NAME` of the branch; default: that of the work tree, else none")
	fs.IntVar(&wait, "wait", 0, "`SECS` that one call waits at most; default: server.wait_timeout_secs")
	fs.BoolVar(&c.Headless, "headless", false, "non-interactive: tell an agent without work to stop")
	c.HTTP.flags(fs)
	c.Worker.flags(fs)
	c.Client.add(fs)
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fs.SetOutput(stderr)
		fs.Usage()
		return c, exitOK
	case err != nil:
		fmt.Fprintf(stderr, "%s: %s\n  %s%s --help lists the flags\n", prog, safetext.Reword(err.Error(), flagFaults), meant(fs, err), prog)
		return c, exitUsage
	case *version:
		fmt.Fprintf(stdout, "%s %s\n", prog, Build())
		return c, exitOK
	}
	c.Wait, c.Role = time.Duration(wait)*time.Second, state.Role(role)
	usage := func(text string) (Config, int) {
		fmt.Fprintf(stderr, "%s: %s\n", prog, text)
		return c, exitUsage
	}
	switch {
	case fs.NArg() > 0:
		return usage(fmt.Sprintf("unexpected argument %q", fs.Arg(0)))
	case c.Role != tools.None && c.Role != state.Supervisor && c.Role != state.Executor && c.Role != workerRole:
		return usage(fmt.Sprintf("unknown role %q: --role is supervisor or executor", role))
	case wait < 0 || c.Index < 0:
		return usage("--wait and --agent-index are not negative")
	case !agentName.MatchString(c.Agent):
		return usage(fmt.Sprintf("agent name %q: letters, digits, dot, dash and underscore only", c.Agent))
	case c.Branch != "" && (!agentName.MatchString(c.Branch) || strings.Trim(c.Branch, ".") == ""):
		return usage(fmt.Sprintf("branch name %q: letters, digits, dot, dash and underscore only", c.Branch))
	}
	if wrong := cmp.Or(c.HTTP.check(fs), c.Client.check(fs), c.Worker.check(c.Role, fs)); wrong != "" {
		return usage(wrong)
	}
	return c, -1
}

// meant asks whether a flag that there is was meant by one that there is not.
func meant(fs *flag.FlagSet, err error) string {
	word, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if near := format.Word(word, names); unknown && near != "" {
		return "did you mean --" + near + "? "
	}
	return ""
}

// flagFaults maps the messages of package flag to ours.
var flagFaults = [][2]string{
	{`^flag provided but not defined: -(.*)$`, "unknown flag: --$1"},
	{`^flag needs an argument: -(.*)$`, "--$1 needs a value"},
	{`^invalid value (".*") for flag -([a-z-]+): value out of range$`, "--$2 takes a whole number, and $1 is too large"},
	{`^invalid value (".*") for flag -([a-z-]+): parse error$`, "--$2 takes a whole number, not $1"},
	{`^invalid boolean value (".*") for -([a-z-]+): .*$`, "--$2 takes true or false, not $1"},
}

// Elsewhere reports whether arguments of a server name a project, an address to listen at or a run
// of a pipeline. Without them a server only serves a client over stdio in the folder in which it is
// started.
func Elsewhere(args []string) bool {
	c, _ := parse("ferrusd", args, io.Discard, io.Discard)
	return c.Root != os.Getenv("FERRUS_ROOT") || c.Branch != "" || c.HTTP.on() || c.Role == workerRole
}

// Serve serves one client over a pair of streams until in ends or ctx does.
func Serve(ctx context.Context, conf Config, in io.Reader, out, stderr io.Writer) error {
	log, closeLog := openLog(conf, stderr)
	defer closeLog()
	if conf.Role == tools.None && conf.Client.Name == "" {
		log.Warn("no --role: this server only offers status")
	}
	s, leave := conf.server(log)
	defer leave()
	client := overStdio(in, out)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, client) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done(): // the SDK would wait for waiting calls
	case <-client.left:
		select {
		case err = <-ended:
		case <-ctx.Done():
		case <-time.After(grace):
		}
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// server creates the server of the one client, and returns a function to call when the client has
// left.
func (c Config) server(log *slog.Logger) (*mcp.Server, func()) {
	switch {
	case c.Role == workerRole:
		return c.workerServer(log), func() {}
	case c.Client.Name != "":
		return c.nothing(log), func() {}
	}
	d := &lazyEngine{conf: c, log: log}
	return tools.NewServer(tools.Options{
		Role: c.Role, Wait: c.Wait, Headless: c.Headless, Version: Version(), Log: log,
		Session:   func(*mcp.CallToolRequest) (*engine.Session, error) { return d.session() },
		Engine:    d.engine,
		Locks:     d.locks,
		Delegates: d.delegates,
		Run:       sync.OnceValue(c.run),
	}), d.close
}

// grace is how long a client that has left still gets answers. Clients kill a server that outlives
// them by a tenth of a second.
const grace = 30 * time.Millisecond
