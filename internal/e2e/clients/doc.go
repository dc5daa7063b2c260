// Package clients has no code but its tests: they let the real Claude Code and the real Codex, on a scripted model, work
// for a real ferrus, and kill now these, now that one.
//
// They need node and some hundred megabytes of clients, which are installed once, so they run only when asked:
//
//	go test ./internal/e2e/clients -clients
package clients
