package agents

// table lists every agent that ferrus knows.
var table = []Adapter{
	claude,
	codex,
	qwen,
	gemini,
	opencode,
	goose,
	command,
}

// cached is how many seconds a call waits under a client that allows much more. Every poll makes
// the model read its context again, and after five minutes the providers' caches have expired.
const cached = 270
