package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/ferrus-go/ferrus/internal/tools"
)

// story is the demonstration, scene by scene.
var story = []scene{
	{"a repository with a Go module whose test fails", buildRepository},
	{"a supervisor and an executor connect, each to its own server", connect},
	{"the supervisor creates the task", createTheTask},
	{"the executor claims it", claimFirst},
	{"the checks fail", redCheck},
	{"the executor tries to approve its own work", approveItself},
	{"the executor consults the supervisor", consultSupervisor},
	{"the executor asks the person, who answers with a command", askPerson},
	{"the executor fixes the code; the checks pass", greenCheck},
	{"the executor submits", submitFirst},
	{"the supervisor reads the patch and rejects", rejectFirst},
	{"the executor continues and is killed with SIGKILL", killExecutor},
	{"a second executor takes over, with an empty memory", takeOver},
	{"the second executor hangs; its lease runs out; a third takes over", hang},
	{"the hung executor comes back and is refused", comeBack},
	{"the third executor finishes and submits", finish},
	{"the work tree is edited during the review", tamper},
	{"the supervisor approves the work that it was shown", approveWork},
	{"another task is done on a branch, in its own work tree", besides},
	{"the branch is merged; the checks pass on the merged result", mergeIn},
}

func connect(s *stage) (string, error) {
	if err := s.enter("supervisor", "supervisor", 1); err != nil {
		return "", err
	}
	if err := s.enter("first", "executor", 1); err != nil {
		return "", err
	}
	var proof []string
	for _, name := range []string{"supervisor", "first"} {
		list, err := s.cast[name].Session().ListTools(s.ctx, nil)
		if err != nil {
			return "", err
		}
		proof = append(proof, fmt.Sprintf("process %d offers %d tools", s.cast[name].Process().Pid, len(list.Tools)))
	}
	return strings.Join(proof, "; "), nil
}

func createTheTask(s *stage) (string, error) {
	r, err := s.call("supervisor", "create_task", map[string]any{"description": taskText}, "")
	return fmt.Sprintf("%s is %s", r.TaskID, r.State), err
}

func claimFirst(s *stage) (string, error) {
	r, err := s.call("first", "wait_for_task", nil, "claimed")
	return fmt.Sprintf("%s claimed it, epoch %d", r.ClaimedBy, r.Epoch), err
}

func redCheck(s *stage) (string, error) {
	r, err := s.checkUntil("first", "failed")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %s exit %d, %d of %d retries; state %s", r.CheckID, r.Failures[0].Line, r.Failures[0].ExitCode,
		*r.RetriesUsed, r.RetriesMax, r.State), nil
}

func approveItself(s *stage) (string, error) {
	_, err := s.cast["first"].Call(s.ctx, "approve", nil)
	if err == nil {
		return "", fmt.Errorf("an executor could approve")
	}
	return "refused: " + lastPart(err.Error()), nil
}

func consultSupervisor(s *stage) (string, error) {
	_, err := s.call("first", "consult", map[string]any{"problem": "Sum of an empty slice panics.",
		"tried":    "Reading the callers: none of them passes an empty slice today.",
		"question": "What should Sum of an empty slice be?", "options": []string{"0", "an error"}}, "")
	if err != nil {
		return "", err
	}
	if _, err = s.call("supervisor", "wait_for_review", nil, "consultation"); err != nil {
		return "", err
	}
	if _, err = s.call("supervisor", "respond_consult", map[string]any{"response": "0, as in mathematics."}, ""); err != nil {
		return "", err
	}
	r, err := s.call("first", "wait_for_consult", nil, "answered")
	return fmt.Sprintf("%s answered: %q; back in %s", r.ConsultationID, r.Response, r.State), err
}

func askPerson(s *stage) (string, error) {
	_, err := s.call("first", "ask_human", map[string]any{"question": "May I change the public signature of Sum?",
		"options": []string{"yes", "no, keep it"}}, "")
	if err != nil {
		return "", err
	}
	if _, err = s.person("answer", "2"); err != nil {
		return "", err
	}
	r, err := s.call("first", "wait_for_answer", nil, "answered")
	return fmt.Sprintf("ferrus answer 2: %s %q; back in %s", r.QuestionID, r.Answer, r.State), err
}

func greenCheck(s *stage) (string, error) {
	if err := s.edit("sum.go", sumMended); err != nil {
		return "", err
	}
	r, err := s.checkUntil("first", "passed")
	return fmt.Sprintf("%s passed on tree %.12s; state %s", r.CheckID, r.Tree, r.State), err
}

func submitFirst(s *stage) (string, error) {
	r, err := s.call("first", "submit", map[string]any{"summary": "Sum starts from 0.", "verification": "go test ./..."}, "submitted")
	return fmt.Sprintf("%s of tree %.12s; state %s, not claimed", r.SubmissionID, r.Tree, r.State), err
}

func rejectFirst(s *stage) (string, error) {
	if _, err := s.call("supervisor", "wait_for_review", nil, "submission"); err != nil {
		return "", err
	}
	r, err := s.call("supervisor", "reject", map[string]any{"notes": "The empty slice has no test. Add one; I will look for it."}, "")
	return fmt.Sprintf("%s rejected, %d of 3 reviews; state %s", r.SubmissionID, *r.ReviewCyclesUsed, r.State), err
}

func killExecutor(s *stage) (string, error) {
	r, err := s.call("first", "wait_for_task", nil, "claimed")
	if err != nil {
		return "", err
	}
	if _, err = s.call("first", "progress", map[string]any{"note": "sum.go is fixed; the test of the empty slice is still missing"}, ""); err != nil {
		return "", err
	}
	if err := s.enter("second", "executor", 2); err != nil {
		return "", err
	}
	// The second one waits while the first one dies.
	waited := make(chan waiting, 1)
	go func() {
		got, err := s.cast["second"].Call(s.ctx, "wait_for_task", nil)
		waited <- waiting{got, time.Now(), err}
	}()
	s.waiting = waited
	s.killed = time.Now()
	s.cast["first"].Kill()
	return fmt.Sprintf("process %d, which had claimed epoch %d, is gone", s.cast["first"].Process().Pid, r.Epoch), nil
}

// waiting is how a wait for work ended, and when.
type waiting struct {
	tools.Result
	at  time.Time
	err error
}

func takeOver(s *stage) (string, error) {
	got := <-s.waiting
	if got.err != nil || got.Status != "claimed" {
		return "", fmt.Errorf("the second executor got %q: %v", got.Status, got.err)
	}
	if len(got.Progress) == 0 || got.Review == "" || len(got.Decisions) == 0 {
		return "", fmt.Errorf("the packet lacks the note, the review or the decision")
	}
	return fmt.Sprintf("%s has epoch %d, %.1f ms after the kill; it was told: %q", got.ClaimedBy, got.Epoch,
		float64(got.at.Sub(s.killed).Microseconds())/1000, got.Progress[0].Note), nil
}

func hang(s *stage) (string, error) {
	if err := stall(s.cast["second"].Process()); err != nil {
		return "", err
	}
	s.killed = time.Now()
	if err := s.enter("third", "executor", 3); err != nil {
		return "", err
	}
	r, err := s.waitClaim("third")
	if err != nil {
		return "", err
	}
	notice := "no notice"
	if len(r.Notices) > 0 {
		notice = short(r.Notices[0], 70)
	}
	return fmt.Sprintf("%s has epoch %d after %.1f s; %s", r.ClaimedBy, r.Epoch, time.Since(s.killed).Seconds(), notice), nil
}

func comeBack(s *stage) (string, error) {
	proceed(s.cast["second"].Process())
	r, err := s.call("second", "submit", map[string]any{"summary": "mine", "verification": "none"}, "lease_lost")
	return "lease_lost: " + r.Message, err
}

func finish(s *stage) (string, error) {
	if err := s.edit("sum_test.go", testWithEmpty); err != nil {
		return "", err
	}
	// submit runs the checks by itself: the tree has changed since the last check that passed.
	r, err := s.submitUntil("third", "Sum starts from 0, and a test says so.", "go test ./... has TestSumOfNothing")
	return fmt.Sprintf("%s of tree %.12s, its checks run by submit; state %s", r.SubmissionID, r.Tree, r.State), err
}

func tamper(s *stage) (string, error) {
	if _, err := s.call("supervisor", "review_pending", nil, ""); err != nil {
		return "", err
	}
	if err := s.edit("sum.go", sumMended+"\n// sneaked in\n"); err != nil {
		return "", err
	}
	r, err := s.call("supervisor", "approve", nil, "tree_changed")
	if err != nil {
		return "", err
	}
	return "tree_changed: " + r.Message, s.edit("sum.go", sumMended)
}

func approveWork(s *stage) (string, error) {
	r, err := s.call("supervisor", "approve", map[string]any{"note": "clean"}, "")
	if err == nil && r.State != "Complete" {
		err = fmt.Errorf("the state is %s", r.State)
	}
	return fmt.Sprintf("%s approved; state %s", r.SubmissionID, r.State), err
}

// checkUntil calls check until it has an outcome, which must be want.
func (s *stage) checkUntil(name, want string) (tools.Result, error) {
	for {
		r, err := s.cast[name].Call(s.ctx, "check", nil)
		if err != nil {
			return r, err
		}
		if r.Status == "running" {
			continue
		}
		if r.Status != want {
			return r, fmt.Errorf("the check ended with %s%s, not %s: %s", r.Status, r.Code, want, r.Message)
		}
		return r, nil
	}
}

// submitUntil calls submit until its checks have ended. They must pass.
func (s *stage) submitUntil(name, summary, verification string) (tools.Result, error) {
	for {
		r, err := s.cast[name].Call(s.ctx, "submit", map[string]any{"summary": summary, "verification": verification})
		switch {
		case err != nil || r.Status == "submitted":
			return r, err
		case r.Status != "running":
			return r, fmt.Errorf("submit ended with %s%s: %s", r.Status, r.Code, r.Message)
		}
	}
}

// waitClaim calls wait_for_task until it is given the work.
func (s *stage) waitClaim(name string) (tools.Result, error) {
	for {
		r, err := s.cast[name].Call(s.ctx, "wait_for_task", nil)
		if err != nil || r.Status == "claimed" {
			return r, err
		}
	}
}

// lastPart is what a chain of errors ends with.
func lastPart(text string) string {
	return text[strings.LastIndex(text, ": ")+2:]
}
