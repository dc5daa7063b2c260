package doctor

import (
	"errors"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project"
	"github.com/ferrus-go/ferrus/internal/server/tokens"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// checkTokens checks whether tokens for HTTP are left. They have no hard-linked copy: if .ferrus is deleted, they are lost.
func checkTokens(p *Context) Finding {
	list, err := tokens.Open(project.At(p.Place.Root, "").Dir()).List()
	var wrong *refusal.RefusedError
	switch {
	case errors.As(err, &wrong):
		return Bad(wrong.Message, wrong.Remedy)
	case err != nil:
		return Bad(err.Error(), "check that the file can be read")
	case len(list) > 0:
		return Fine(format.Count(len(list), "client", "clients") + " may connect over HTTP; ferrus token list shows them")
	case p.journal().remote:
		return Noted("agents worked over HTTP, and there are no tokens now (git clean -fdx?): no client can connect",
			"run ferrus token new for each client; earlier secrets are not valid any more")
	}
	return Finding{}
}
