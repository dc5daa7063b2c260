package gate

// AskHuman returns the tool by which an agent asks a person, in a task or in a run of a pipeline.
func AskHuman(more ...Arg) Tool {
	return Tool{Name: "ask_human", Title: "Ask a person",
		Doc: "Ask a person what only a person may decide. The task pauses. Then wait_for_answer.",
		Args: append([]Arg{{Name: "question", Doc: "with everything needed to answer it"},
			{Name: "options", Doc: "possible answers, one line each", List: true, Optional: true}}, more...)}
}

// WaitForAnswer returns the tool by which the agent waits for the answer.
func WaitForAnswer(more ...Arg) Tool {
	return Tool{Name: "wait_for_answer", Title: "Wait for the person's answer", ReadOnly: true,
		Doc:  "The answer to your role's newest question. It may be called again at any time; on status timeout call it again.",
		Args: more}
}
