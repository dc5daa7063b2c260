package branch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/engine/branch"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/forge"
	"github.com/ferrus-go/ferrus/internal/state"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
	"github.com/ferrus-go/ferrus/internal/status"
	"github.com/ferrus-go/ferrus/internal/store"
)

// everyFlag lets a test ask more often than a person may want.
const everyFlag = "every"

// A watcher watches the pull request of a task.
type watcher struct {
	*pulling
	task, submission string // that was pushed
	was              string // the commit that this command has replaced last, "" for none
	pushes, most     int

	row   string    // the name of the row of the table that fitted last
	until time.Time // when requests count anew, as long as there were too many
	items []forge.Item
}

// reopenings is how often the task may be reopened by a command that watches. It refuses a task that a person cannot reopen.
func reopenings(e *engine.Engine) (int, error) {
	r, err := status.Read(e)
	if err != nil {
		return 0, err
	}
	if _, err := reopening(r); r.State == state.Complete && err != nil {
		return 0, err
	}
	return r.Reviews.Max, nil
}

// reopening is the act by which a person reopens the task of a report.
func reopening(r *status.Report) (status.Act, error) {
	acts := r.Acts()
	i := slices.IndexFunc(acts, func(a status.Act) bool { return a.Name == "reopen" })
	if i < 0 {
		return status.Act{}, cli.Refuse(refusal.WrongState, "the task cannot be reopened", "ferrus status{branch} shows what you can do")
	}
	return acts[i], nil
}

// watch watches a pull request that was just written, until it is over or ctx ends.
func watch(ctx context.Context, p *pulling, pushed bool, most int) error {
	w := &watcher{pulling: p, task: p.o.Task.TaskID, submission: p.o.Task.Submission.ID, most: most}
	if err := w.tell("written", w.did(), w.facts(pushed)); err != nil {
		return err
	}
	for {
		f, err := w.look(ctx)
		over := false
		if err == nil && ctx.Err() == nil {
			over, err = w.act(ctx, watchDecide(f), f)
		}
		switch {
		case ctx.Err() != nil:
			return p.a.Interrupted(ctx)
		case err != nil || over:
			return err
		}
		select {
		case <-ctx.Done():
			return p.a.Interrupted(ctx)
		case <-time.After(max(p.how.every, time.Until(w.until))):
		}
	}
}

// look reads how the task stands, and asks the forge.
func (w *watcher) look(ctx context.Context) (f watchFacts, err error) {
	e := w.s.Engine()
	now, err := e.View()
	if err != nil {
		return f, err
	}
	r, err := status.Read(e)
	if err != nil {
		return f, err
	}
	t := now.Task
	f = watchFacts{task: t.State, other: t.TaskID != w.task, person: t.TaskID == w.task && r.Waiting.For == "human", idle: r.Resumable(),
		anew: t.State == state.Complete && t.Submission.ID != w.submission, pushes: w.pushes, most: w.most}
	if f.anew && e.Place().Branch == "" {
		_, err := branch.PrepareOutgoing(ctx, w.s, w.how.remote, w.how.as)
		f.loose = refusal.CodeOf(err) == refusal.WrongState
	}
	pull, err := w.client.Look(ctx, w.to, w.old.Number)
	if err == nil {
		f.merged, f.closed = pull.Merged, pull.State == "closed" && !pull.Merged
		switch pull.Head.SHA {
		case w.o.Commit:
		case w.was:
			f.head = earlier
		default:
			f.head = theirs
		}
		if f.closed {
			f.cut, err = w.client.HasBranch(ctx, w.repo, w.o.Branch)
			f.cut = err == nil && !f.cut
		}
	}
	if w.items = nil; err == nil && f.news() {
		err = w.fresh(ctx, now, pull, &f)
	}
	f.asked, f.why = err, forge.WhyOf(err)
	return f, nil
}

// fresh asks what is new about the pull request, and finds what the task was not reopened for.
func (w *watcher) fresh(ctx context.Context, now store.Snapshot, pull forge.PullRequest, f *watchFacts) error {
	items, err := w.client.News(ctx, w.to, pull)
	if err != nil {
		return err
	}
	var texts []string
	for l, err := range w.s.Engine().Store().HistoryFrom(now.Task.Docs[state.TaskDoc].Off) {
		if err != nil {
			return err
		}
		if l.Event == state.Reopen && l.State.TaskID == w.task {
			texts = append(texts, l.Docs[state.ReviewDoc])
		}
	}
	fed, times := forge.Fed(texts)
	f.reopens = times
	w.items = slices.DeleteFunc(items, func(it forge.Item) bool { return fed[it.URL] })
	f.fresh = len(w.items)
	return nil
}

// act does what a row of the table says, and reports whether the command ends.
func (w *watcher) act(ctx context.Context, row watchRow, f watchFacts) (over bool, err error) {
	was := w.row
	w.row, w.until = row.name, time.Time{}
	if was == "offline" && row.name != "offline" {
		if err := w.tell("online", w.to.Host+" answers again", nil); err != nil {
			return true, err
		}
	}
	says := row.says.With("PULL", w.old.URL).With("HOST", w.to.Host)
	switch row.do {
	case watchEnd:
		return true, cli.CannotDo("watch", "", cli.Refuse(row.code, says.On(w.s.Engine().Place().Branch), row.remedy.With("PULL", w.old.URL)))
	case watchFail:
		return true, cli.CannotDo("watch", "", f.asked)
	case watchReset:
		return false, w.wait(ctx, was != row.name)
	case watchPush:
		return false, w.push(ctx)
	case watchReopen:
		return false, w.reopen(ctx)
	}
	if says != "" && was != row.name {
		err = w.tell(row.name, says.On(w.s.Engine().Place().Branch), nil)
	}
	return row.do == watchDone, err
}

// wait has the next look come when requests count anew, a minute later where that is not known.
func (w *watcher) wait(ctx context.Context, first bool) error {
	until, err := w.client.Reset(ctx, w.to.Host)
	if err != nil || until.IsZero() {
		until = time.Now().Add(time.Minute)
	}
	if w.until = until.Add(time.Second); !first {
		return nil
	}
	return w.tell("limited", fmt.Sprintf("%s takes no more requests until %s; waiting", w.to.Host, format.Clock(until)), map[string]any{"until": until})
}

// push pushes what was approved anew, and updates the text.
func (w *watcher) push(ctx context.Context) error {
	agreed, was := w.o.Earlier, w.o.Commit
	w.how.earlier = true
	if err := w.prepare(ctx); err != nil {
		return err
	}
	for _, file := range w.o.Earlier {
		if !slices.Contains(agreed, file) {
			return cli.CannotDo(cannotOpen, "", cli.Refuse(refusal.Conflict, file+" was changed before the task began, and nobody agreed that it goes along", "run the command again, which asks"))
		}
	}
	pushed, err := w.write(ctx)
	if err != nil {
		return err
	}
	w.submission, w.was = w.o.Task.Submission.ID, was
	w.pushes++
	return w.tell("written", w.did(), w.facts(pushed))
}

// reopen reopens the task for all that is fresh, and has its run continue.
func (w *watcher) reopen(ctx context.Context) error {
	r, err := status.Read(w.s.Engine())
	if err != nil {
		return err
	}
	what, err := reopening(r)
	if err != nil {
		if r.State != state.Complete { // the person was quicker
			err = nil
		}
		return err
	}
	for i, it := range w.items {
		w.items[i] = w.client.WithLog(ctx, w.to, it)
	}
	text := forge.Feedback(w.to, w.old.Number, w.items)
	fed, _ := forge.Fed([]string{text})
	var urls []string
	for _, it := range w.items {
		if fed[it.URL] {
			urls = append(urls, it.URL)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	done, err := w.a.Do(ctx, r.Root, w.a.Via, what, map[string]string{"message": text})
	if err != nil {
		return err
	}
	if done.Failed() {
		return cli.Refuse(refusal.WrongState, "cannot reopen the task: "+done.Message, refusal.Say("%s", done.Remedy))
	}
	return w.tell("reopened", "reopened the task for:\n"+strings.Join(urls, "\n")+"\n"+done.Text, map[string]any{"urls": urls})
}

// tell shows what has happened.
func (w *watcher) tell(kind, text string, facts map[string]any) error {
	now := time.Now()
	if w.a.JSON {
		line := map[string]any{"kind": kind, "at": now, "text": text}
		maps.Copy(line, facts)
		return w.a.PrintJSONLine(line)
	}
	first, rest, _ := strings.Cut(text, "\n")
	w.a.Say("%s  %s\n", format.Clock(now), first)
	if rest != "" {
		w.a.Say("%s\n", format.Frame(rest, "          "))
	}
	return nil
}
