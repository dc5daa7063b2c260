package remote_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/worktree/remote"
	"github.com/ferrus-go/ferrus/test/kit"
)

// A trap is something that an agent writes into the repository so that git runs a program.
type trap struct {
	name string
	set  func(t *testing.T, h *host, dir, run string)
	show []string // a call of the user's git that falls into it
}

var traps = []trap{
	{"core.sshCommand", func(t *testing.T, h *host, dir, run string) {
		runGit(t, dir, "config", "core.sshCommand", run)
		runGit(t, dir, "config", "ssh.variant", "simple")
		runGit(t, dir, "remote", "set-url", "origin", "ssh://127.0.0.1/x.git")
	}, []string{"ls-remote", "origin"}},
	{"remote.uploadpack and receivepack", func(t *testing.T, h *host, dir, run string) {
		runGit(t, dir, "config", "remote.origin.uploadpack", run+";git-upload-pack")
		runGit(t, dir, "config", "remote.origin.receivepack", run+";git-receive-pack")
	}, []string{"ls-remote", "origin"}},
	{"an address that is a command", func(t *testing.T, h *host, dir, run string) {
		runGit(t, dir, "config", "protocol.ext.allow", "always")
		runGit(t, dir, "remote", "set-url", "origin", "ext::sh -c "+strings.ReplaceAll(run, " ", "% "))
	}, []string{"ls-remote", "origin"}},
	{"url.insteadOf that leads to a command", func(t *testing.T, h *host, dir, run string) {
		runGit(t, dir, "config", "protocol.ext.allow", "always")
		runGit(t, dir, "config", "protocol.allow", "always")
		runGit(t, dir, "config", "url.ext::sh -c "+strings.ReplaceAll(run, " ", "% ")+" %S.insteadOf", h.dir)
	}, []string{"ls-remote", "origin"}},
	{"remote.vcs", func(t *testing.T, h *host, dir, run string) {
		runGit(t, dir, "config", "protocol.ext.allow", "always")
		runGit(t, dir, "config", "remote.origin.vcs", "ext")
		runGit(t, dir, "remote", "set-url", "origin", "sh -c "+strings.ReplaceAll(run, " ", "% "))
	}, []string{"ls-remote", "origin"}},
	{"an address that is an option", func(t *testing.T, h *host, dir, run string) {
		runGit(t, dir, "config", "remote.origin.url", "--upload-pack="+run+";git-upload-pack "+h.dir+"/../host.git")
	}, nil},
	{"a path to a repository with hooks", func(t *testing.T, h *host, dir, run string) {
		evil := filepath.Join(t.TempDir(), "evil.git")
		runGit(t, dir, "clone", "-q", "--bare", dir, evil)
		executable(t, filepath.Join(evil, "hooks", "pre-receive"), run)
		runGit(t, dir, "remote", "set-url", "origin", evil)
	}, []string{"push", "-q", "origin", "HEAD:refs/heads/x"}},
	{"credential.helper and core.askPass", func(t *testing.T, h *host, dir, run string) {
		url := h.http(t, func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return false
		})
		runGit(t, dir, "config", "credential.helper", "!"+run)
		runGit(t, dir, "config", "core.askPass", run)
		runGit(t, dir, "remote", "set-url", "origin", url+"/host.git")
	}, []string{"ls-remote", "origin"}},
	{"hooks", func(t *testing.T, h *host, dir, run string) {
		for _, hook := range []string{"pre-push", "reference-transaction", "post-update", "push-to-checkout"} {
			executable(t, filepath.Join(dir, ".git", "hooks", hook), run+"; exit 1")
		}
	}, []string{"push", "-q", "origin", "HEAD:refs/heads/x"}},
	{"core.hooksPath", func(t *testing.T, h *host, dir, run string) {
		executable(t, filepath.Join(dir, "evil", "pre-push"), run+"; exit 1")
		executable(t, filepath.Join(dir, "evil", "reference-transaction"), run+"; exit 1")
		runGit(t, dir, "config", "core.hooksPath", filepath.Join(dir, "evil"))
	}, []string{"push", "-q", "origin", "HEAD:refs/heads/x"}},
	{"core.fsmonitor, pager and alternates", func(t *testing.T, h *host, dir, run string) {
		for _, key := range []string{"core.fsmonitor", "core.pager", "core.alternateRefsCommand", "uploadpack.packObjectsHook", "core.gitProxy", "core.editor", "gpg.program"} {
			runGit(t, dir, "config", key, run)
		}
		runGit(t, dir, "config", "push.gpgSign", "if-asked")
	}, []string{"status"}},
	{"a promisor that fetches what is missing", func(t *testing.T, h *host, dir, run string) {
		runGit(t, dir, "config", "core.repositoryFormatVersion", "1")
		runGit(t, dir, "config", "extensions.partialClone", "evil")
		runGit(t, dir, "config", "remote.evil.url", "file://"+h.dir)
		runGit(t, dir, "config", "remote.evil.promisor", "true")
		runGit(t, dir, "config", "remote.evil.uploadpack", run)
		blob := strings.TrimSpace(runGit(t, dir, "rev-parse", "HEAD:a.txt"))
		remove(t, dir, ".git/objects/"+blob[:2]+"/"+blob[2:])
	}, []string{"cat-file", "-p", "HEAD:a.txt"}},
	{"the configuration of the private git directory", func(t *testing.T, h *host, dir, run string) {
		for _, key := range []string{"core.sshCommand", "core.fsmonitor", "credential.helper", "url.ext::" + run + ".insteadOf"} {
			runGit(t, dir, "config", "--file", ".ferrus/git/repository/config", key, run)
		}
		executable(t, filepath.Join(dir, ".ferrus/git/repository/hooks/pre-push"), run+"; exit 1")
	}, nil},
}

// TestNoProgramOfTheRepositoryRuns, whatever an agent writes there, by the name of a remote or by its address.
func TestNoProgramOfTheRepositoryRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	for i, trap := range traps {
		if !kit.Every(2, i) {
			continue
		}
		t.Run(trap.name, func(t *testing.T) {
			t.Parallel()
			dir := committed(t)
			h := newHost(t, dir)
			write(t, dir, "new", "x")
			tree := open(t, dir)
			id := fingerprint(t, tree)
			clean := openRemote(t, tree, h.dir)
			at := push(t, tree, clean, epoch(1, ""), h.main)
			canary := filepath.Join(t.TempDir(), "canary")
			trap.set(t, h, dir, "touch "+canary)
			if trap.show != nil {
				cmd := exec.Command("git", append([]string{"-C", dir}, trap.show...)...)
				cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
				out, _ := cmd.CombinedOutput()
				if !exists(canary) {
					t.Fatalf("the trap does not work: git %v: %s", trap.show, out)
				}
				if err := os.Remove(canary); err != nil {
					t.Fatal(err)
				}
			}
			opened := []*remote.Remote{clean}
			again := open(t, dir)
			for _, name := range []string{"origin", h.by(t, "daemon")} {
				r, err := remote.Open(t.Context(), again.Repository, remote.Options{Remote: name, Project: "p"})
				if err != nil {
					t.Logf("%s: %v", name, err)
					continue
				}
				opened = append(opened, r)
			}
			if _, err := remote.FetchBranch(t.Context(), again.Repository, "origin", "main"); err != nil {
				t.Logf("origin/main: %v", err)
			}
			for i, r := range opened {
				// By the name of the remote they fail where the trap lies in the address. None may run anything.
				_, pushed := r.Push(t.Context(), remote.Ref{Task: "t", Epoch: uint64(i + 2)}, id, h.main)
				_, fetched := r.Fetch(t.Context(), at, h.main)
				failed := errors.Join(pushed, fetched, r.Restore(t.Context(), remote.Ref{Task: "u", Epoch: uint64(i + 2), Commit: at.Commit}), r.Probe(t.Context()))
				_, swept := r.Sweep(t.Context(), func(at remote.Ref) bool { return at.Task == "t" })
				_, _, counted := r.Ahead(t.Context(), h.main)
				if failed = errors.Join(failed, swept, counted); failed != nil && i != 1 && trap.name != "a promisor that fetches what is missing" {
					t.Errorf("by %s: %v", r.Address(), failed)
				}
				if exists(canary) {
					t.Fatalf("a program of the repository ran by %s", r.Address())
				}
			}
		})
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestAProgramInTheWorkTreeIsNotStarted, though its folder is on PATH.
func TestAProgramInTheWorkTreeIsNotStarted(t *testing.T) {
	dir := committed(t)
	h := newHost(t, dir)
	canary := filepath.Join(t.TempDir(), "canary")
	executable(t, filepath.Join(dir, "bin", "ssh"), "touch "+canary+"; exit 1")
	tree := open(t, dir)
	r := openRemote(t, tree, "ssh://127.0.0.1/x.git")
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	if cmd := exec.Command("git", "ls-remote", "ssh://127.0.0.1/x.git"); cmd.Run() == nil || !exists(canary) {
		t.Fatal("the user's git does not start it")
	}
	remove(t, filepath.Dir(canary), "canary")
	for _, at := range []string{dir, h.dir} {
		t.Chdir(at)
		if _, err := r.List(t.Context(), ""); err == nil || exists(canary) {
			t.Errorf("in %s: it was started, or %v", at, err)
		}
	}
}

// person has git read a configuration of the user.
func person(t *testing.T, text string) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "config", text)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, "config"))
}

// TestThePersonsConfigurationIsUsed: addresses, credentials and programs that the user has configured.
func TestThePersonsConfigurationIsUsed(t *testing.T) {
	dir := committed(t)
	h := newHost(t, dir)
	locked := h.http(t, func(w http.ResponseWriter, r *http.Request) bool {
		name, password, _ := r.BasicAuth()
		if name == "me" && password == "secret" {
			return true
		}
		w.Header().Set("WWW-Authenticate", "Basic")
		w.WriteHeader(http.StatusUnauthorized)
		return false
	})
	const token = "Authorization: Basic bWU6c2VjcmV0"
	ssh := filepath.Join(t.TempDir(), "ssh")
	executable(t, ssh, `shift $(($# - 1)); eval "$1"`)
	local := open(t, dir)
	n := uint64(0)
	for name, c := range map[string]struct {
		config string
		remote string
		of     []string // the repository's configuration
		fails  error
	}{
		"a helper":                       {"[credential]\n\thelper = \"!f() { echo username=me; echo password=secret; }; f\"\n", locked + "/host.git", nil, nil},
		"no helper":                      {"", locked + "/host.git", nil, remote.ErrAccess},
		"an address with a password":     {"", strings.Replace(locked, "://", "://me:secret@", 1) + "/host.git", nil, nil},
		"a wrong password":               {"", strings.Replace(locked, "://", "://me:wrong@", 1) + "/host.git", nil, remote.ErrAccess},
		"url.insteadOf":                  {fmt.Sprintf("[url %q]\n\tinsteadOf = team:\n", filepath.Dir(h.dir)+"/"), "team:host.git", nil, nil},
		"core.sshCommand":                {fmt.Sprintf("[core]\n\tsshCommand = %s\n[ssh]\n\tvariant = simple\n", ssh), "ssh://nowhere" + h.dir, nil, nil},
		"a remote of the person's":       {fmt.Sprintf("[remote \"mine\"]\n\turl = %s\n", h.dir), "mine", []string{"remote.mine.url=/nowhere"}, nil},
		"push options of the person's":   {"[push]\n\tgpgSign = true\n\tfollowTags = true\n\trecurseSubmodules = on-demand\n\tuseForceIfIncludes = true\n[submodule]\n\trecurse = true\n", h.dir, nil, nil},
		"a header of a CI service":       {"", "ci", []string{"remote.ci.url=" + locked + "/host.git", "http." + locked + "/.extraHeader=" + token}, nil},
		"another header":                 {"", "ci", []string{"remote.ci.url=" + locked + "/host.git", "http.extraHeader=Host: " + token}, remote.ErrAccess},
		"a path in the repository's":     {"", "path", []string{"remote.path.url=" + h.dir}, remote.ErrAccess},
		"an address in the repository's": {"", "there", []string{"remote.there.url=" + h.by(t, "daemon")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			person(t, c.config)
			at := filepath.Join(t.TempDir(), "clone")
			runGit(t, dir, "clone", "-q", dir, at)
			for _, setting := range c.of {
				key, value, _ := strings.Cut(setting, "=")
				runGit(t, at, "config", key, value)
			}
			tree := open(t, at)
			n++
			r := openRemote(t, tree, c.remote)
			ref, err := r.Push(t.Context(), epoch(n, ""), fingerprint(t, tree), h.main)
			if err == nil {
				_, err = openRemote(t, local, h.dir).Fetch(t.Context(), ref, h.main)
			}
			if !errors.Is(err, c.fails) {
				t.Errorf("err = %v", err)
			}
			if strings.Contains(fmt.Sprint(err, r.Address()), "me:") {
				t.Errorf("a secret is shown: %v, %s", err, r.Address())
			}
		})
	}
	if tags := runGit(t, h.dir, "tag"); tags != "" {
		t.Errorf("tags were pushed: %s", tags)
	}
}
