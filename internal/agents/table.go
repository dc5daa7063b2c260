package agents

// table is every agent that ferrus knows.
var table = []Adapter{
	claude,
	codex,
	qwen,
	gemini,
	opencode,
	goose,
	command,
}

// cached is how many seconds a call waits under a client that would bear far more: every poll makes the model read its
// context again, and beyond five minutes the providers' caches have forgotten it.
const cached = 270
