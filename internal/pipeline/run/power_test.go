//go:build unix

package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/workflow"
	"github.com/ferrus-go/ferrus/internal/pipeline"
	"github.com/ferrus-go/ferrus/internal/platform/atomicfile/atomicfiletest"
	"github.com/ferrus-go/ferrus/test/kit"
)

// lone is a pipeline of one worker, whose output is laid by the test.
const lone = `{"p": {"phases": [{"id": "a", "workers": [{"role": "end", "task": "x", "final": true}]}]}}`

const result = "the result\n"

// outside is what is known outside of the disk at a moment of a run.
type outside struct {
	Run   string // its name, once it is launched
	Wrote bool   // the worker has written its output
	Sent  int    // how often the result was printed
	Asked bool   // a person has asked to cancel it
	Over  bool   // the tick that ended it has returned
}

// A voyage is a run from its launch to its end.
type voyage struct {
	name string
	to   config.Deliver
	asks bool // for it to be cancelled
}

var voyages = []voyage{
	{"to stdout", config.Deliver{To: config.ToStdout}, false},
	{"to a file", toBox, false},
	{"cancelled", config.Deliver{To: config.ToStdout}, true},
}

// sail takes a run to its end, and says to now at every step what is known.
func (v voyage) sail(y *yard, now *outside) error {
	all, err := workflow.Parse([]byte(lone))
	if err != nil {
		return err
	}
	f, err := y.place().Launch(all[0], "topic", y.place().Settings(y.conf), time.Now())
	if err != nil {
		return err
	}
	now.Run = f.Name()
	if v.asks {
		if err := f.Ask(Intent{ID: "1", Verb: pipeline.Cancel, By: "ann"}, time.Now()); err != nil {
			return err
		}
		now.Asked = true
	} else {
		if err := f.durably("end.md", []byte(result), 0o600); err != nil {
			return err
		}
		now.Wrote = true
	}
	a, err := f.Tick(y.t.Context(), y.o)
	if err == nil && a.Do != pipeline.Archive {
		err = fmt.Errorf("it ends with %s", a)
	}
	now.Over = err == nil
	return err
}

// prints counts how often a result is printed.
type prints struct{ n *int }

func (p prints) Write(text []byte) (int, error) {
	if string(text) != result {
		return 0, fmt.Errorf("printed is %.40q", text)
	}
	*p.n++
	return len(text), nil
}

// landed goes on with a run from what was left of its project, and says what is wrong with what comes of it.
func (v voyage) landed(y *yard, root string, was outside) error {
	conf := y.conf
	place := At(root, conf.Pipelines)
	if was.Run == "" {
		_, err := place.Names()
		return err
	}
	f, err := place.Open(was.Run)
	if err != nil {
		return fmt.Errorf("the run was launched: %w", err)
	}
	if text, err := f.slurp(deliveryFile); err != nil || text != nil && !json.Valid(text) {
		return fmt.Errorf("torn: %q, %v", text, err)
	}
	box, err := os.ReadFile(filepath.Join(root, "box", was.Run+".md"))
	if err == nil && string(box) != result {
		return fmt.Errorf("the file has %q", box)
	}
	if !was.Wrote && !was.Asked { // or its worker would be started
		_, err := f.View(time.Now())
		return err
	}
	o := y.o
	o.Out = prints{&was.Sent}
	a, err := f.Tick(y.t.Context(), o)
	if err != nil {
		return err
	}
	s, err := f.Status()
	if err != nil {
		return err
	}
	d, err := f.delivery()
	switch {
	case err != nil:
		return err
	case was.Sent > 1:
		return fmt.Errorf("the result was sent %d times", was.Sent)
	case was.Asked && (s.State != pipeline.IsCancelled || was.Sent > 0):
		return fmt.Errorf("it was to be cancelled, and is %s, sent %d times", s.State, was.Sent)
	case was.Asked:
		return nil
	case d.State == pipeline.Uncertain && a.Person && !was.Over && v.to.To == config.ToStdout:
		return nil // a person is asked
	case a.Do != pipeline.Archive || !s.ResultDelivered || d.State != pipeline.Delivered:
		return fmt.Errorf("it is %s, %s, with the delivery %+v", a, s.State, d)
	case v.to.To == config.ToStdout && was.Sent != 1:
		return errors.New("the result is said to be sent, and was not")
	}
	if box, err := os.ReadFile(filepath.Join(root, "box", was.Run+".md")); v.to.To == config.ToFile && string(box) != result {
		return fmt.Errorf("the file has %q, %v", box, err)
	}
	if text, err := os.ReadFile(f.Path(finalFile)); string(text) != result {
		return fmt.Errorf("the saved result is %q, %v", text, err)
	}
	return nil
}

func (v voyage) yard(t *testing.T, now *outside) *yard {
	y := newYard(t)
	y.conf.Deliver = v.to
	y.o.Out = prints{&now.Sent}
	return y
}

// TestAPowerCutLosesNoRun: what was launched is there, what a person has asked for is done, what was sent is not sent
// again, and what is said to be sent was.
func TestAPowerCutLosesNoRun(t *testing.T) {
	t.Parallel()
	total := 0
	for i, v := range voyages {
		if !kit.Every(2, i) {
			continue
		}
		var now outside
		y := v.yard(t, &now)
		disk := atomicfiletest.Record(t, y.root, func() string {
			text, err := json.Marshal(now)
			must(t, err)
			return string(text)
		}, func() { must(t, v.sail(y, &now)) })
		cases, err := disk.Cut(t, kit.Full(), func(root, note string) error {
			var was outside
			must(t, json.Unmarshal([]byte(note), &was))
			return v.landed(y, root, was)
		})
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
		total += cases
	}
	t.Logf("rig: cases=%d bad=0; power cuts of a simulated disk during a run", total)
}

// TestAFailingDiskSendsNothingTwice: every operation on the disk may fail, and all that come after it.
func TestAFailingDiskSendsNothingTwice(t *testing.T) {
	t.Parallel()
	total := 0
	for i, v := range voyages {
		for j, all := range []bool{false, true} {
			for n, more := 0, true; more; {
				if n++; !kit.Full() && n%3 != (2*i+j)%3 || !kit.Every(2, n/3) { // what is done in several operations is hit by one of them
					continue
				}
				var now outside
				y := v.yard(t, &now)
				more = atomicfiletest.Fail(t, y.root, n, all, syscall.ENOSPC, func() {
					if err := v.sail(y, &now); err != nil && !errors.Is(err, syscall.ENOSPC) && !strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
						t.Errorf("%s: %v", v.name, err)
					}
				})
				if err := v.landed(y, y.root, now); err != nil {
					t.Errorf("%s: operation %d failed: %v", v.name, n, err)
				}
				total++
			}
		}
	}
	t.Logf("rig: cases=%d bad=0; operations on the disk that failed during a run", total)
}

// TestATornDeliveryIsAskedAbout: a delivery.json that an older version left torn is no leave to send the result again.
func TestATornDeliveryIsAskedAbout(t *testing.T) {
	t.Parallel()
	for _, torn := range []string{"", `{"id": "p-1", "by": "fer`, strings.Repeat("\x00", 200)} {
		y := newYard(t)
		y.conf.Deliver = toMail
		f := y.launch(lone)
		must(t, os.WriteFile(f.Path("end.md"), []byte(result), 0o600))
		must(t, os.WriteFile(f.Path(deliveryFile), []byte(torn), 0o600))
		must(t, os.WriteFile(f.Path(finalFile), []byte(result), 0o600))
		a := y.tick(f)
		d, err := f.delivery()
		must(t, err)
		if !a.Person || d.State != pipeline.Uncertain || y.mails() != 0 || !strings.Contains(d.Target, "mail") {
			t.Errorf("%q: %s, %+v, sent %d times", torn, a, d, y.mails())
		}
		if told := y.lines(f, func(l Line) bool { return strings.Contains(l.Tell, "deliver --confirm, or --again") }); len(told) != 1 {
			t.Errorf("a person is notified %d times\n%s", len(told), y.story(f))
		}
		y.ask(f, pipeline.Confirm)
		if y.ended(f, y.tick(f)); y.mails() != 0 {
			t.Errorf("%q: sent %d times", torn, y.mails())
		}
	}
	y := newYard(t)
	y.conf.Deliver = toBox
	f := y.launch(lone)
	must(t, os.WriteFile(f.Path("end.md"), []byte(result), 0o600))
	must(t, os.WriteFile(f.Path(deliveryFile), nil, 0o600))
	y.tick(f) // no final.md: nobody knows what was sent
	y.ask(f, pipeline.Again)
	y.ended(f, y.tick(f))
	if text, err := os.ReadFile(y.path("box", f.Name()+".md")); !bytes.Equal(text, []byte(result)) {
		t.Errorf("the file has %q, %v", text, err)
	}
}
