package tools

import "github.com/ferrus-go/ferrus/internal/state"

// failedRemedy is how a failed task goes on: by a person alone.
const failedRemedy = `a person continues it with ferrus reopen -m "..." or gives it up with ferrus reset`

// instructions are the one text that every client shows its model: the role's loop by tool name.
var instructions = map[state.Role]string{
	state.Executor: `ferrus keeps one task for you: its state, its checks and its review. You are the executor.

1. wait_for_task: claims the work and gives you all there is to know. On status timeout call it again.
2. Edit the files of the work tree as the task, the review and the last check say. Never touch .ferrus.
3. check: runs the project's own checks. Red: mend and check again. Status running: call check again.
4. submit: hands the work in when the checks are green. Then wait_for_task: it may come back with a review.
5. consult, then wait_for_consult: when you cannot decide something about the code or the task.
6. ask_human, then wait_for_answer: only what a person alone may decide.
7. progress: note what is done and what is next. If you stop, another goes on from your notes.

Every answer has state, message, next and allowed. Call the tool that next names; stop on "stop". A refusal has a code
and a remedy: do what the remedy says. from_the_person is a person's word to you: it goes before all else.
On lease_lost stop editing at once: somebody else has the work. Do not commit, do not reset, do not edit ferrus.toml or
the checks to make them pass.`,
	state.Supervisor: `ferrus keeps one task between you and an executor. You are the supervisor.

1. create_task: say what must be true in the end and how it is checked; the executor sees nothing else of you.
2. wait_for_review: waits until you are needed. On status timeout call it again.
3. A submission: review_pending shows it. Read the patch against the task, not the summary alone. Then approve, or
   reject with notes that say what is wrong and how you will judge it next time.
4. A consultation: respond_consult with a decision; the executor waits for you.
5. ask_human, then wait_for_answer: only what a person alone may decide.
6. queue_task: what should be done another time, beside this task. history: how the task came to where it is.
   select: which of several attempts (branches) is taken.

Every answer has state, message, next and allowed. Call the tool that next names; on "choose" take one of allowed; stop
on "stop". A refusal has a code and a remedy: do what the remedy says. from_the_person is a person's word to you: it goes
before all else. You do not edit files yourself.`,
	None: `ferrus keeps one task between agents. This connection has no role: it can only look at the status.
Start ferrusd with --role executor or --role supervisor to take part.`,
}

// mustName is what a caller without a session must name, by role: nothing is remembered from call to call.
var mustName = map[state.Role]string{
	state.Executor: "\n\nName the claim that wait_for_task gives you, as claim, in every later call.",
	state.Supervisor: "\n\nName what you were shown: its submission_id as submission in approve and reject, its consultation_id as consultation " +
		"in respond_consult.",
}

func (o Options) instructions() string {
	if o.Remote {
		return instructions[o.Role] + mustName[o.Role]
	}
	return instructions[o.Role]
}

// prompts are what a person picks in a client to set an agent going.
var prompts = []struct {
	role         state.Role
	name, doc    string
	title, order string
}{
	{state.Executor, "executor", "Work as the executor of the ferrus task until it is done", "Work on the task",
		"You are the executor. Call wait_for_task and do the work it gives you; after every answer call the tool that next names, until it says stop."},
	{state.Supervisor, "supervisor", "Work as the supervisor of the ferrus task until it is done", "Supervise the task",
		"You are the supervisor. Call status; after every answer call the tool that next names, until it says stop. If there is no task, ask me what should be done and give it with create_task."},
}
