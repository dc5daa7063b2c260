package gate

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// Remedy returns the remedy of a refusal from what the caller may do next: a tool, "choose" for one
// of allowed, or "stop".
func Remedy(next string, allowed []string) string {
	switch next {
	case "stop":
		return "stop: no call helps now"
	case "choose":
		return "call one of " + strings.Join(allowed, ", ")
	}
	return "call " + next
}

// answer returns the answer of a tool: a JSON object as structured content and, with the same
// bytes, as the only text block, because clients show a model one or the other. Hidden characters of
// files, and of what an older ferrus has stored, are marked.
func answer(object []byte, refused bool) *mcp.CallToolResult {
	object = safetext.MarkJSON(object)
	return &mcp.CallToolResult{StructuredContent: json.RawMessage(object), IsError: refused,
		Content: []mcp.Content{&mcp.TextContent{Text: string(object)}}}
}

// progress sends progress notifications to a client that asked for them, until the returned
// function is called.
func progress(ctx context.Context, req *mcp.CallToolRequest, every time.Duration) func() {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		began, tick := time.Now(), time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token,
					Progress: time.Since(began).Seconds(), Message: "waiting"})
			}
		}
	}()
	return cancel
}
