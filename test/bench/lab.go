package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A lab is where everything is measured and kept.
type lab struct {
	ctx     context.Context
	short   bool
	dir     string // temporary
	systems []system
	peers   []string // the names of those systems that are peers
	beside  []system // another build of ferrus, if one was given

	projects map[string]string // of the starts, by the system's name
	results  results

	mu      sync.Mutex
	samples samples
	notes   []string
}

// newLab builds ours and finds the peers. The caller removes its dir.
func newLab(ctx context.Context, o options) (*lab, error) {
	dir, err := os.MkdirTemp("", "ferrus-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{ctx: ctx, short: o.short, dir: dir, projects: map[string]string{}, results: results{}, samples: samples{}}
	bin := filepath.Join(dir, "bin")
	if _, err := output(ctx, "", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin+"/", "./cmd/ferrus", "./cmd/ferrusd", "./test/bench/bare"); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	l.systems = []system{ferrus(bin), bare(bin)}
	if o.beside != "" {
		other := ferrus(o.beside)
		other.Name = "beside"
		other.New = func(ctx context.Context, dir string, _ int) error { return projectOf(ctx, o.beside, dir) }
		l.beside = []system{other}
	}
	l.invite(o)
	return l, nil
}

// invite adds the peers that are to be measured and notes why others are not.
func (l *lab) invite(o options) {
	if o.peers == "" || o.peers == "none" {
		l.note("no peers were measured: -peers %s", o.peers)
		return
	}
	home := filepath.Join(l.dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		l.note("no peers were measured: %v", err)
		return
	}
	for _, p := range peers {
		if why := p.absent(l.ctx, o); why != "" {
			l.note("%s was not measured: %s", p.name(), why)
			continue
		}
		l.systems, l.peers = append(l.systems, p.system(o.peers, home)), append(l.peers, p.name())
	}
	if len(l.peers) > 0 && offline == nil {
		l.note("the peers were not cut off from the network: the system does not let us")
	}
}

// absent says why a peer is not measured, "" if it is. It installs it where needed.
func (p peer) absent(ctx context.Context, o options) string {
	if o.short && !o.invited {
		return "-short without -peers"
	}
	if p.Size != "" && !o.all {
		return "its installation takes " + p.Size + " and its starts take minutes; -all-peers measures it"
	}
	for _, program := range []string{"npm", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			return "there is no " + program
		}
	}
	if err := p.install(ctx, o.peers); err != nil {
		return err.Error()
	}
	return ""
}

// failed is the error of a measurement, which a peer's only notes: the other figures are not lost by it.
func (l *lab) failed(s system, err error) error {
	switch {
	case err == nil || l.ctx.Err() != nil:
		return l.ctx.Err()
	case slices.Contains(l.peers, s.Name):
		l.note("%s failed: %.300s", s.Name, err)
		return nil
	}
	return fmt.Errorf("%s: %w", s.Name, err)
}

// took remembers how long something took.
func (l *lab) took(name string, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples[name] = append(l.samples[name], d)
}

// note adds a line below the table, once.
func (l *lab) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "); !slices.Contains(l.notes, line) {
		l.notes = append(l.notes, line)
	}
}

// rounds picks a number for -short and for a usual run.
func (l *lab) rounds(short, usual int) int {
	if l.short {
		return short
	}
	return usual
}

// A part is measured as a whole.
type part struct {
	name string
	run  func(*lab) error
}

// parts are all there are, in the order in which they are measured.
var parts = slices.Concat(packages(), []part{
	{"start", func(l *lab) error {
		for range l.rounds(5, 20) {
			if err := l.starts(supervisor(l.systems[0])); err != nil {
				return err
			}
		}
		return nil
	}},
	{"crowd8", func(l *lab) error { return l.gatherings(8, l.rounds(1, 5)) }},
	{"crowd32", func(l *lab) error { return l.gatherings(32, l.rounds(1, 2)) }},
	{"flow", (*lab).flows},
	{"large", (*lab).large},
})

// each is how many calls of a kind each client of a crowd makes in a round; eachPeer is fewer, because theirs may take
// many seconds.
const (
	each     = 10
	eachPeer = 4
)

func (l *lab) gatherings(n, rounds int) error {
	for range rounds {
		if err := l.crowds(n); err != nil {
			return err
		}
	}
	return nil
}

// packages are the parts that are benchmarks of a package.
func packages() (list []part) {
	for _, s := range suites {
		list = append(list, part{s.Name, func(l *lab) error {
			err := s.run(l.ctx, l.results, l.short, l.rounds(1, 5))
			if errors.Is(err, errSkipped) {
				l.note("%s was not measured: go test %s says why", s.Name, s.Package)
				return nil
			}
			return err
		}})
	}
	return list
}

func names() string {
	var list []string
	for _, p := range parts {
		list = append(list, p.name)
	}
	return strings.Join(list, ", ")
}
