// Package clients contains only tests. The real Claude Code and the real Codex, connected to a
// scripted model, work for a real ferrus, and the tests kill clients and servers in turn. Gemini
// CLI, Qwen Code and opencode work in the sandboxes of ferrus.
//
// The tests need node and some hundred megabytes of clients, which are installed once. So they run
// only on request:
//
//	go test ./test/e2e/clients -clients
package clients
