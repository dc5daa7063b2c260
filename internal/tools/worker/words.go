package worker

// instructions returns the text that clients show their model.
func (who binding) instructions() string {
	text := `ferrus has one piece of work for you. You write one file, and exit.

1. get_assignment: your task, the files you read, your time.
2. wait_for_inputs, if next says so. On status timeout call it again.
3. Do the task. Change no other file.
`
	if who.asks {
		text += "   What only a person may decide: ask_human, then wait_for_answer.\n"
	}
	if who.speaks {
		text += "4. write_output: what you have to say in your turn, with consensus true only if nothing is left to say.\n"
	} else {
		text += "4. write_output: the whole result, once it is complete.\n"
	}
	if who.terminal {
		text += "5. deliver: sends what you wrote as the result. On status sending call it again.\n"
	}
	return text + `
Every answer has message, next and allowed. Call the tool that next names; exit on "stop". A refusal has a code and a
remedy: do what the remedy says. On lease_lost write nothing more: somebody else does your work, or nobody.`
}
