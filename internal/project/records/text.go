package records

import (
	"errors"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/atomicfile"
	"github.com/ferrus-go/ferrus/internal/platform/rootfs"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// encode is a list of runs of one task, in a line: commas between runs, spaces between the ten values of each.
func encode(runs []Run) string {
	var b strings.Builder
	for i, r := range runs {
		if i > 0 {
			b.WriteByte(',')
		}
		for _, word := range []string{r.Name, r.Role, r.Agent, r.Model} {
			b.WriteString(url.QueryEscape(word))
			b.WriteByte(' ')
		}
		took := r.Time.Milliseconds()
		if !r.over {
			took = -1
		}
		for _, n := range []int64{r.Started.UnixMilli(), took, r.Usage.Input, r.Usage.Cached, r.Usage.Output} {
			b.WriteString(strconv.FormatInt(n, 10))
			b.WriteByte(' ')
		}
		b.WriteString(strconv.FormatFloat(r.Usage.Dollars, 'g', -1, 64))
	}
	return b.String()
}

var errText = errors.New("no line of the index of what agents used")

// decode reads what encode wrote.
func decode(branch, task, text string) (runs []Run, err error) {
	runs = make([]Run, 0, strings.Count(text, ",")+1)
	for one := range strings.SplitSeq(text, ",") {
		if one == "" {
			continue
		}
		r := Run{Branch: branch, Task: task}
		rest, ok := one, true
		for _, word := range []*string{&r.Name, &r.Role, &r.Agent, &r.Model} {
			var part string
			if part, rest, ok = strings.Cut(rest, " "); !ok {
				return nil, errText
			}
			if *word, err = url.QueryUnescape(part); err != nil {
				return nil, errText
			}
		}
		var started, took int64
		for _, n := range []*int64{&started, &took, &r.Usage.Input, &r.Usage.Cached, &r.Usage.Output} {
			var part string
			part, rest, ok = strings.Cut(rest, " ")
			if *n, err = strconv.ParseInt(part, 10, 64); !ok || err != nil {
				return nil, errText
			}
		}
		if r.Usage.Dollars, err = strconv.ParseFloat(rest, 64); err != nil {
			return nil, errText
		}
		r.Started, r.Time, r.over = time.UnixMilli(started).UTC(), time.Duration(max(0, took))*time.Millisecond, took >= 0
		runs = append(runs, r)
	}
	return runs, nil
}

// keptFile has a line of each record that ferrus gc removed: the name that it had in the index, its branch, its task and its runs, with tabs between
// them.
const keptFile = "archive/runs.kept"

// maxKept bounds what is kept, in bytes: millions of runs.
const maxKept = 1 << 30

// Keep keeps the runs of what ferrus gc is about to remove: files of tasks, or folders of removed branches, by their paths in .ferrus.
func Keep(home *rootfs.Root, paths []string) error {
	var lines strings.Builder
	for _, p := range paths {
		s := scan{home: home}
		m := s.machine(p)
		switch dir, name := path.Dir(p), path.Base(p); {
		case path.Base(dir) == "runs":
			m = s.machine(path.Dir(dir))
			m.only = name
		case dir != project.ArchivedBranches:
			continue // it has no runs
		}
		if err := s.source(m, nil); err != nil {
			return refusal.Folder(err)
		}
		tasks := map[string][]Run{}
		for _, r := range s.runs {
			r.over = true // nothing works there any more
			tasks[r.Task] = append(tasks[r.Task], r)
		}
		for _, task := range slices.Sorted(maps.Keys(tasks)) {
			lines.WriteString(strings.Join([]string{m.key + "/" + task + ".jsonl", m.branch, task, encode(tasks[task])}, "\t") + "\n")
		}
	}
	if lines.Len() == 0 {
		return nil
	}
	return refusal.Folder(atomicfile.Append(home, keptFile, []byte(lines.String()), 0o600))
}

// kept reads the runs that were kept, by the names that their records had. A removal that was cut off has kept some twice.
func (s *scan) kept() (map[string][]Run, error) {
	info, err := s.home.Lstat(keptFile)
	if err != nil || info.ModTime().Before(s.Since.Add(-slack)) {
		return nil, nil // there is none, or none of its runs is so new
	}
	text, err := s.home.ReadFile(keptFile, maxKept)
	if err != nil {
		return nil, err
	}
	all := map[string][]Run{}
	for line := range strings.Lines(string(text)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(parts) != 4 {
			continue // a torn one: its record is still there
		}
		if runs, err := decode(parts[1], parts[2], parts[3]); err == nil {
			all[parts[0]] = append(all[parts[0]], without(runs, all[parts[0]])...)
		}
	}
	return all, nil
}

// without are the runs of a list that are not in another one.
func without(list, other []Run) []Run {
	return slices.DeleteFunc(list, func(r Run) bool {
		return slices.ContainsFunc(other, func(is Run) bool { return is.Name == r.Name && is.Started.Equal(r.Started) })
	})
}
