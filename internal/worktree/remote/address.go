package remote

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/worktree/git"
	"github.com/ferrus-go/ferrus/internal/worktree/repository"
)

// An address is how a remote is reached.
type address struct {
	fetch, push string
	remote      string   // its name; "" where the person gave a URL
	protocols   string   // those that git may use, with colons
	headers     []string // of the repository's configuration: key, value, key, value ...
	unused      []string // settings that would matter and are not the person's
}

const (
	networks = "http:https:ssh:git"
	// Every other protocol runs a helper program, ext even a command that stands in the address.
	withPaths = "file:" + networks
)

// findAddress reads the configuration as a list, which runs nothing. What the person has configured for a remote
// of that name comes before what the repository has.
func findAddress(ctx context.Context, repo *repository.Repository, remote string) (address, error) {
	a := address{fetch: remote, protocols: withPaths}
	if !strings.ContainsAny(remote, `/\:`) {
		a.remote, a.fetch = remote, ""
	} else if !strings.Contains(remote, ":") && !filepath.IsAbs(remote) {
		return a, fmt.Errorf("the path %q is not absolute", remote)
	}
	c := git.Command{Dir: repo.Top(), Env: []string{"GIT_DIR=" + repo.GitDir(), "GIT_COMMON_DIR=" + repo.CommonDir()}}
	out, _, err := c.Run(ctx, "config", "-z", "--list", "--includes", "--show-scope")
	if err != nil {
		return a, err
	}
	var theirs address // as the repository has it
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 { // scope, then "key\nvalue"
		key, value, _ := strings.Cut(fields[i+1], "\n")
		of := &a
		switch fields[i] {
		case "command":
			continue
		case "local", "worktree":
			of = &theirs
			a.notice(key, value)
		}
		first := func(at *string) {
			if a.remote != "" && *at == "" {
				*at = value
			}
		}
		switch key {
		case "remote." + a.remote + ".url":
			first(&of.fetch)
		case "remote." + a.remote + ".pushurl":
			first(&of.push)
		}
	}
	if a.fetch == "" {
		a.fetch, a.push, a.protocols = theirs.fetch, theirs.push, networks
	}
	if a.push == "" {
		a.push = a.fetch
	}
	for _, name := range []string{"GIT_SSH_COMMAND", "GIT_SSH", "GIT_ASKPASS"} {
		if os.Getenv(name) != "" {
			a.unused = append(a.unused, name)
		}
	}
	if a.fetch == "" {
		return a, fmt.Errorf("%w; git remote -v lists those of the repository, git remote add %s URL adds one", ErrNoRemote, remote)
	}
	return a, nil
}

var (
	header  = safetext.Lazily(`^http\.(.*\.)?extraheader$`)
	matters = safetext.Lazily(`^(core\.(sshcommand|gitproxy|askpass)|credential\..*|url\..*\.(insteadof|pushinsteadof)|http\..*|remote\..*\.(receivepack|uploadpack|vcs|proxy))$`)
)

// notice looks at a setting of the repository. An Authorization header only says who asks: CI services put it there. All other
// settings are the person's to make, for they run programs, read files or lead elsewhere.
func (a *address) notice(key, value string) {
	switch {
	case header().MatchString(key) && strings.HasPrefix(strings.ToLower(value), "authorization:"):
		a.headers = append(a.headers, key, value)
	case matters().MatchString(key) && !slices.Contains(a.unused, key):
		a.unused = append(a.unused, key)
	}
}

// environ is the environment of a call of git. A header is a secret: not for the list of arguments, which all users see.
func (a *address) environ() []string {
	env := []string{"GIT_ALLOW_PROTOCOL=" + a.protocols, "GIT_CONFIG_COUNT=" + strconv.Itoa(len(a.headers)/2)}
	for i := 0; i < len(a.headers); i += 2 {
		n := strconv.Itoa(i / 2)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+a.headers[i], "GIT_CONFIG_VALUE_"+n+"="+a.headers[i+1])
	}
	return env
}

// A password may have an @: the last one before the path ends it.
var userinfo = safetext.Lazily(`://[^/\s]*@`)

// redact takes user names and passwords out of the addresses in a text.
func redact(text string) string { return userinfo().ReplaceAllString(text, "://") }
