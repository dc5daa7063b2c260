package agents

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// A login says how to ask a client whether it is logged in. The client reads its own files and asks
// no provider.
type login struct {
	ask  []string                    // arguments of its program
	env  []string                    // added to its environment, so that no version takes the arguments for a prompt
	free func(environ []string) bool // reports whether it needs no login; nil: it always needs one
	keys []string                    // variables with one of which it needs neither a login nor settings of the person's
	file string                      // where it keeps a login, relative to the home folder
}

// loginTime is how long a client may take to report its login.
const loginTime = 10 * time.Second

var loggedOut = safetext.Lazily(`(?i)"loggedIn":\s*false|not logged in`)

// LoggedOut reports whether the agent's client says that it is not logged in. It returns false if
// the client cannot be asked, does not answer, or needs no login. It ends with ctx.
func (a Adapter) LoggedOut(ctx context.Context, environ []string) bool {
	if len(a.login.ask) == 0 || a.login.free != nil && a.login.free(environ) {
		return false
	}
	path, err := a.Path(environ)
	if err != nil {
		return false
	}
	return answered(ctx, "login of "+path, func() bool { return a.loggedOut(ctx, path, environ) })
}

func (a Adapter) loggedOut(ctx context.Context, path string, environ []string) bool {
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	cmd := a.asked(ctx, path, environ, a.login.ask...)
	cmd.Env = append(cmd.Env, a.login.env...)
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	return errors.As(err, &exit) && ctx.Err() == nil && loggedOut().Match(said)
}

// Keyed reports whether an environment has all that the agent's client needs to reach its model, without a login and settings in
// a home folder.
func (a Adapter) Keyed(env []string) bool {
	return slices.ContainsFunc(a.login.keys, func(name string) bool { return proc.Lookup(env, name) != "" })
}

// Keys are the variables one of which the agent's client needs in order to be keyed; none where ferrus knows of none.
func (a Adapter) Keys() []string { return slices.Clone(a.login.keys) }

// LoginFile returns where the agent's client keeps a login, relative to the home folder, with slashes; "" where ferrus does not
// know it.
func (a Adapter) LoginFile() string { return a.login.file }

// LoggedIn reports whether a home folder has a login of the agent's client.
func (a Adapter) LoggedIn(home string) bool {
	return a.login.file != "" && rootfs.Exists(filepath.Join(home, filepath.FromSlash(a.login.file)))
}

// asked returns a command of the agent's program. It runs in the program's own folder, because some
// programs read settings of the working directory, which may be a project.
func (a Adapter) asked(ctx context.Context, path string, environ []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = inherited(environ, nil), filepath.Dir(path), time.Second
	return cmd
}

// codexFree reports whether Codex needs no login: its environment has a key, or its configuration
// names another provider.
func codexFree(env []string) bool {
	if proc.Lookup(env, "CODEX_API_KEY") != "" {
		return true
	}
	var conf struct {
		Provider string `toml:"model_provider"`
	}
	files := codexFiles(LaunchSpec{Environ: env, Work: codexHome(env)})
	return slices.ContainsFunc(files, func(file string) bool {
		conf.Provider = ""
		_, err := toml.DecodeFile(file, &conf)
		return err == nil && conf.Provider != "" && conf.Provider != "openai"
	})
}
