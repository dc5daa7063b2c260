package doctor

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/lease"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/project/gc"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/store"
)

// CheckViews compares STATE.json and the documents with the journal. Unlike every other command, it does not restore them.
func CheckViews(p *Context) Finding {
	j := p.journal()
	if c := p.copies(); j.err != nil || c != nil && c.Short(j.end()) > 0 {
		return Finding{} // the journal's own check says it
	}
	if e, err := p.Engine(); err == nil && e.Foreign() != nil {
		return Finding{} // that of the origin does
	}
	task := state.New()
	if j.last != nil {
		task = j.last.State
	}
	var wrong []string
	if why := stateDiffers(p.Path("STATE.json"), task, j); why != "" {
		wrong = append(wrong, "STATE.json "+why)
	}
	for _, doc := range state.Docs() {
		if why := docDiffers(p.Path(string(doc)), task.Docs[doc].SHA256); why != "" {
			wrong = append(wrong, string(doc)+" "+why)
		}
	}
	if len(wrong) > 0 {
		return Bad(strings.Join(wrong, "; "), "the next command, or ferrus doctor{branch} --fix, rewrites them")
	}
	return Fine("STATE.json and the documents match the journal")
}

// stateDiffers says how STATE.json differs from the journal's end, "" when it does not.
func stateDiffers(path string, want state.Task, j *journal) string {
	raw, err := rootfs.ReadOwn(path, project.MaxState)
	if err != nil {
		return unreadable(err)
	}
	var index struct {
		Version int            `json:"schema_version"`
		Journal store.Position `json:"journal"`
	}
	if json.Unmarshal(raw, &index) != nil {
		return "is not JSON"
	}
	if index.Version != state.SchemaVersion {
		return fmt.Sprintf("has schema %d, and this ferrus writes %d", index.Version, state.SchemaVersion)
	}
	var shown state.Task
	if err := json.Unmarshal(raw, &shown); err != nil {
		return "cannot be read: " + err.Error()
	}
	last := store.Position{}
	if j.last != nil {
		last = engine.After(j.last).Journal
	}
	a, errA := json.Marshal(shown)
	b, errB := json.Marshal(want)
	switch {
	case index.Journal != last:
		return "is older than the journal"
	case errA != nil || errB != nil || !bytes.Equal(a, b):
		return "was edited"
	}
	return ""
}

func docDiffers(path, want string) string {
	data, err := rootfs.ReadOwn(path, store.MaxDoc)
	if want == "" && errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if errors.Is(err, rootfs.ErrTooLarge) {
		return "differs from the journal"
	}
	if err != nil {
		return unreadable(err)
	}
	sum := sha256.Sum256(data)
	if hex.EncodeToString(sum[:]) != want {
		return "differs from the journal"
	}
	return ""
}

func unreadable(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "is missing"
	}
	return "cannot be read: " + rootfs.Cause(err).Error()
}

func fixViews(p *Context) (string, error) { return "wrote them again from the journal", p.load() }

func checkArchives(p *Context) Finding {
	if p.journal().err != nil {
		return Finding{}
	}
	missing, ended := p.unarchived()
	if len(missing) > 0 {
		return Noted(format.Count(len(missing), "ended task is", "ended tasks are")+" not in archive/, "+missing[0].Task.TaskID+" for example",
			"ferrus doctor{branch} --fix writes the archive again from the journal")
	}
	return Fine(format.Count(ended, "ended task", "ended tasks"))
}

// unarchived are the tasks that have ended and are not in the archive, nor cleared away, each as it ended last, and how many have ended.
func (p *Context) unarchived() (missing []store.Snapshot, ended int) {
	e, err := p.Engine()
	if err != nil {
		return nil, 0
	}
	last := map[string]store.Snapshot{}
	var order []string
	for _, snap := range p.journal().ended {
		if _, ok := last[snap.Task.TaskID]; !ok {
			order = append(order, snap.Task.TaskID)
		}
		last[snap.Task.TaskID] = snap
	}
	cleared := gc.Cleared(e.Place())
	for _, id := range order {
		if !e.Place().Archived(id) && !slices.Contains(cleared, id) {
			missing = append(missing, last[id])
		}
	}
	return missing, len(order)
}

func fixArchives(p *Context) (string, error) {
	missing, _ := p.unarchived()
	var errs []error
	for _, snap := range missing {
		e, err := p.Engine()
		if err == nil {
			err = e.Place().Archive(e.Store(), snap)
		}
		errs = append(errs, err)
	}
	return "archived " + format.Count(len(missing), "task", "tasks"), errors.Join(errs...)
}

// staleAfter is how old the lock of an ended session is before it is a leftover: until then it may be asked after.
const staleAfter = time.Hour

func checkLeftovers(p *Context) Finding {
	if p.journal().err != nil {
		return Finding{}
	}
	if n := len(p.leftovers()); n > 0 {
		return Noted(format.Count(n, "lock of an ended session", "locks of ended sessions"), "harmless; ferrus doctor{branch} --fix removes them")
	}
	return Fine("none")
}

// leftovers are the liveness locks of sessions that have ended. That of the session which holds the work is none: it
// proves that the work may be claimed.
func (p *Context) leftovers() []string {
	e, err := p.Engine()
	j := p.journal()
	if err != nil || j.err != nil {
		return nil
	}
	entries, _ := rootfs.ListOwn(p.Path("live"))
	var free []string
	for _, entry := range entries {
		session, ok := strings.CutSuffix(entry.Name(), ".lock")
		info, err := entry.Info()
		if !ok || err != nil || uuid.Validate(session) != nil || time.Since(info.ModTime()) < staleAfter ||
			j.last != nil && j.last.State.Session == session {
			continue
		}
		if e.Store().Probe(session) == lease.Gone {
			free = append(free, entry.Name())
		}
	}
	return free
}

func fixLeftovers(p *Context) (string, error) {
	var errs []error
	free := p.leftovers()
	root, live, err := rootfs.For(p.Path("live"))
	if err != nil {
		return "", err
	}
	defer root.Close()
	for _, name := range free {
		errs = append(errs, root.Remove(path.Join(live, name)))
	}
	return "removed " + format.Count(len(free), "lock", "locks"), errors.Join(errs...)
}
