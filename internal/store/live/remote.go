package live

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A claim of a caller over the network is a random secret that wait_for_task hands out and every later call brings along. The
// journal has only a digest of it, bound to the caller's token: two clients that share a token are two sessions, and a claim that
// somebody has read is of no use to another token.

// mark begins the id of every remote session.
const mark = "h-"

// NewSecret returns the secret of a claim that nobody has yet.
func NewSecret() string { return rand.Text() }

// SessionID returns the id of the session of a secret that came with a token, named by the token's id.
func SessionID(token, secret string) string {
	sum := sha256.Sum256([]byte(token + "\x00" + secret))
	return mark + hex.EncodeToString(sum[:16])
}

// IsSession reports whether a session, by its id as the journal has it, is or was that of a caller over the network.
func IsSession(id string) bool { return strings.HasPrefix(id, mark) }

// Claim is what a call must name to be the holder's: the secret, and the epoch under which it holds the work.
func Claim(epoch uint64, secret string) string { return fmt.Sprintf("c%d-%s", epoch, secret) }

// ReadClaim reads what Claim wrote; of "" it reads nothing. The error is a *refusal.RefusedError of code NotClaimed.
func ReadClaim(claim string) (secret string, epoch uint64, err error) {
	if claim == "" {
		return "", 0, nil
	}
	number, secret, ok := strings.Cut(strings.TrimPrefix(claim, "c"), "-")
	epoch, err = strconv.ParseUint(number, 10, 64)
	if !ok || err != nil || epoch == 0 || secret == "" || !strings.HasPrefix(claim, "c") {
		return "", 0, &refusal.RefusedError{Code: refusal.NotClaimed, Message: "claim " + format.OneLine(claim, 40) + " is none that wait_for_task has handed out",
			Remedy: "name the claim as wait_for_task gave it, or call wait_for_task without one"}
	}
	return secret, epoch, nil
}
