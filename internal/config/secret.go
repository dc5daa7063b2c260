package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// variable matches an item of notify.urls that names a variable of the environment. No other
// variables may be named: a repository could send a person's secrets to itself. Variables of these
// names reach no agent and no check.
var variable = safetext.Lazily(`^\$(FERRUS_NOTIFY[A-Z0-9_]*)$`)

// Variable returns the name of the variable that an item of notify.urls names; "" for a URL.
func Variable(item string) string {
	if m := variable().FindStringSubmatch(item); m != nil {
		return m[1]
	}
	return ""
}

// The mistakes of an item of notify.urls. They do not quote it, because it is a secret.
var (
	errNoURL      = errors.New(`is not a URL such as "ntfy://ntfy.sh/TOPIC"`)
	errNoVariable = errors.New(`names another variable; its name must begin with FERRUS_NOTIFY, as in "$FERRUS_NOTIFY_URL"`)
)

func checkURL(item string) error {
	if Variable(item) != "" {
		return nil
	}
	if strings.HasPrefix(item, "$") {
		return errNoVariable
	}
	if u, err := url.Parse(item); err != nil || u.Scheme == "" || u.Host == "" && u.User == nil {
		return errNoURL
	}
	return nil
}

// addressed are the services whose URL has the address of a server as its host. The host of every
// other one may be a secret.
var addressed = []string{"bark", "generic", "gotify", "lark", "matrix", "mattermost", "ntfy", "rocketchat", "signal", "smtp", "zulip"}

// masked returns items of notify.urls without their secrets: service, server, and a digest of the
// whole, so that another URL is another value.
func masked(items []string) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = item
		if Variable(item) != "" {
			continue
		}
		sum := sha256.Sum256([]byte(item))
		scheme, host := "", ""
		if u, err := url.Parse(item); err == nil {
			scheme = u.Scheme
			if service, _, _ := strings.Cut(scheme, "+"); slices.Contains(addressed, service) {
				host = u.Host
			}
		}
		out[i] = scheme + "://" + host + "/... sha256:" + hex.EncodeToString(sum[:8])
	}
	return out
}
