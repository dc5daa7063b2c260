package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
	"github.com/ferrus-go/ferrus/internal/status"
)

// A Runner runs a command line in this process and returns its exit code.
type Runner func(a *App, ctx context.Context, args []string) int

// Do carries out an act of a person on the project in the folder root: a run in a process of its own, by its command, and any other act in
// this process. via says by what the person acts: ui or web. The error is that of a value which
// a field does not take; what is refused is in the outcome.
func (a *App) Do(ctx context.Context, root, via string, what status.Act, values map[string]string) (status.Outcome, error) {
	args, err := what.Fill(values)
	if err != nil {
		return status.Outcome{}, err
	}
	if what.Runs {
		return a.startDetached(ctx, append([]string{"--root", root}, args...))
	}
	inner := &App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, InTTY: a.InTTY && via == "ui", Via: via,
		Dir: root, Shown: what.On, Resume: slices.Contains(args, status.Continues)}
	r := status.Request{Kind: status.ActNamed(cmp.Or(what.As, what.Name)), ID: what.ID, Item: what.Item}
	if what.Report != nil {
		inner.Branch, r.Branch = what.Report.Branch, what.Report.Branch
	}
	return inner.do(ctx, r, what, values), nil
}

// do carries out a request. The report by which it was possible is not read again.
func (a *App) do(ctx context.Context, r status.Request, what status.Act, values map[string]string) status.Outcome {
	text := Source{}
	var err error
	for _, f := range what.Fields {
		switch v := strings.TrimSpace(values[f.Name]); f.Name {
		case "seq":
			r.Seq, _ = strconv.ParseUint(v, 10, 64) // it is one
		case "number":
			r.Copies, err = strconv.Atoi(v)
		case "name":
			r.Branch = v
		case "agent":
			r.Fork.Variants, err = Variants([]string{v})
		default:
			text.Message = v
		}
		if err != nil {
			return a.Outcome(err)
		}
	}
	s, err := a.deciding(ctx, &r)
	if err != nil {
		return a.Outcome(err)
	}
	defer s.Engine().Close()
	got, err := a.decide(ctx, s, r, text, nil)
	if err != nil {
		return a.Outcome(err)
	}
	after := got.Report
	if after == nil && r.Continues && !r.Project {
		after = what.Report.After(s.Engine(), got.Snapshot)
	}
	if after != nil {
		got.Lines = append(got.Lines, a.continued(ctx, after)...)
	}
	done := status.Outcome{}
	if got.Left != nil {
		done = a.Outcome(got.Left)
	}
	done.Text = safetext.Mark(strings.TrimSpace(strings.Join(got.Lines, "\n") + "\n" + done.Text))
	return done
}

// Outcome is that of an act that failed.
func (a *App) Outcome(err error) status.Outcome {
	f := Explain(err)
	done := status.Outcome{Exit: max(1, f.Exit), Message: f.Message, Remedy: a.Remedy(f)}
	for _, v := range f.Values {
		done.Text += "\n" + ValueText(v)
	}
	return done
}

// errorsFlag lets a command print its error as JSON, and all else as text: a screen and a page show its parts in their own way.
const errorsFlag = "--json-errors"

// ErrorsFlag adds the flag by which a screen or a page gets the error of a command as values.
func (a *App) ErrorsFlag(flags *pflag.FlagSet) {
	name := strings.TrimLeft(errorsFlag, "-")
	flags.BoolVar(&a.errorsJSON, name, false, "print errors as JSON, and all else as text")
	_ = flags.MarkHidden(name)
}

// outcome is that of a command with errorsFlag: its exit code, what it printed, and what it printed on stderr, of which the last line
// is its error. A command that has said itself why it failed has none: then what it printed is the message.
func outcome(code int, out, errs string) status.Outcome {
	done := status.Outcome{Exit: code, Text: strings.TrimSpace(out)}
	if code == ExitOK {
		return done
	}
	rest, last := "", strings.TrimSpace(errs)
	if at := strings.LastIndexByte(last, '\n'); at >= 0 {
		rest, last = last[:at], last[at+1:]
	}
	var f Failure
	if json.Unmarshal([]byte(last), &f) != nil || f.Message == "" {
		done.Message, done.Text, _ = strings.Cut(strings.TrimSpace(errs+out), "\n")
		return done
	}
	done.Message, done.Remedy = f.Message, f.Remedy.String()
	for _, v := range f.Values {
		rest += "\n" + ValueText(v)
	}
	if f.Output != "" {
		rest += "\n" + f.Output
	}
	for _, also := range f.Also {
		rest += "\n" + also.Message + "\n" + format.Indent(also.Remedy.String(), "  ")
	}
	done.Text = strings.TrimSpace(rest + "\n" + out)
	return done
}

// settled is after what time a run that has not ended is taken to work.
const settled = 1500 * time.Millisecond

// startDetached starts a command of this program as a process of its own, which outlives this one and its terminal. The outcome is
// that of a command that ended at once, and otherwise that it runs.
func (a *App) startDetached(ctx context.Context, args []string) (status.Outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return status.Outcome{}, err
	}
	var logs [2]*os.File // of what it prints, and of its errors
	for i := range logs {
		if logs[i], err = os.CreateTemp("", "ferrus-run-*.log"); err != nil {
			return status.Outcome{}, err
		}
		defer os.Remove(logs[i].Name())
		defer logs[i].Close()
	}
	text, err := textFile(args)
	if err != nil {
		return status.Outcome{}, err
	}
	cmd := exec.Command(self, append([]string{errorsFlag}, args...)...)
	if text != nil {
		defer os.Remove(text.Name())
		defer text.Close()
		cmd.Stdin = text
	}
	cmd.Dir = filepath.Dir(logs[0].Name()) // the project is named; a folder that is in use cannot be removed everywhere
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = logs[0], logs[1], proc.Leader()
	if err := cmd.Start(); err != nil {
		return status.Outcome{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		said, _ := readFrom(logs[0])
		errs, _ := readFrom(logs[1])
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			return status.Outcome{}, err
		}
		code := cmd.ProcessState.ExitCode()
		if code == ExitPerson { // it has run, and waits for the person
			code = ExitOK
		}
		return outcome(code, said, errs), nil
	case <-time.After(settled):
		return status.Outcome{Text: fmt.Sprintf("started: process %d; it continues when this is closed", cmd.Process.Pid)}, nil
	case <-ctx.Done():
		return status.Outcome{}, ctx.Err()
	}
}

// textFile takes the text of a person out of arguments, and returns a file with it, nil where there is none: an argument has a bound,
// and everybody on the computer can read it. The command reads it from its input.
func textFile(args []string) (*os.File, error) {
	at := len(args) - 1
	if at < 1 || args[at-1] != "--" {
		return nil, nil
	}
	f, err := os.CreateTemp("", "ferrus-text-*.md")
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(args[at])
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	args[at] = "-"
	return f, nil
}

func readFrom(f *os.File) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	data, err := io.ReadAll(f)
	return string(data), err
}
