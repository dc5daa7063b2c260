package web

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ferrus-go/ferrus/internal/server/tokens"
)

// A Caller identifies the sender of a call.
type Caller struct {
	Token   tokens.Token
	Session string // the MCP session; "" for a client of a revision that has none
}

const callerKey = "ferrus/caller"

// CallerOf returns the caller of a call that came over a Site, and false for any other call.
func CallerOf(req *mcp.CallToolRequest) (Caller, bool) {
	if req.Extra == nil || req.Extra.TokenInfo == nil {
		return Caller{}, false
	}
	c, ok := req.Extra.TokenInfo.Extra[callerKey].(Caller)
	return c, ok
}

// identify is the middleware for each message. It tells the tools who calls, ends a call with its
// session, and counts calls: a client of the older SSE gets its HTTP answer before its calls are
// done.
func (s *Site) identify(handle mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		v, ok := ctx.Value(visitKey{}).(*identity)
		if !ok {
			return nil, errors.New("the caller is unknown") // a bug of ours
		}
		one := v.session
		if ss, ok := req.GetSession().(*mcp.ServerSession); ok && one == nil && ss.ID() != "" {
			if one = s.sessions.find(ss.ID()); one == nil && method == "initialize" {
				one = s.open(ss.ID(), v.bearer, nil, func() { _ = ss.Close() })
				s.log.Info("session", "token", v.token.ID, "name", v.token.Name, "transport", "streamable")
			}
		}
		// In a session the context of a call is that of the request that opened the session,
		// without its end.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		caller := Caller{Token: v.token}
		if one != nil {
			defer context.AfterFunc(one.ctx, cancel)()
			caller.Session = one.id
		}
		if strings.HasPrefix(method, notification) {
			return handle(ctx, method, req)
		}
		if status := s.calls.take(v.token.ID); status != 0 {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "too many calls at once; wait for some of them to end"}
		}
		defer s.calls.leave(v.token.ID)
		if call, ok := req.(*mcp.CallToolRequest); ok {
			req = introduce(call, caller)
		}
		return handle(ctx, method, req)
	}
}

// introduce returns the request with its caller. The SDK passes the caller on over only one of the
// transports.
func introduce(call *mcp.CallToolRequest, caller Caller) *mcp.CallToolRequest {
	with, extra, info := *call, mcp.RequestExtra{}, auth.TokenInfo{}
	if call.Extra != nil {
		extra = *call.Extra
	}
	if extra.TokenInfo != nil {
		info = *extra.TokenInfo
	}
	if info.Extra = maps.Clone(info.Extra); info.Extra == nil {
		info.Extra = map[string]any{}
	}
	info.Extra[callerKey] = caller
	extra.TokenInfo, with.Extra = &info, &extra
	return &with
}
