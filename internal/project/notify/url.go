package notify

import (
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// sendURL sends a message to the service that an item names.
func sendURL(item string, m Message) error {
	raw, err := resolve(item)
	if err != nil {
		return err
	}
	if u, err := url.Parse(raw); err != nil || u.Scheme == "" || u.Scheme == "logger" {
		return errors.New("this is not the URL of a service; https://shoutrrr.nickfedor.com lists them")
	}
	service, err := new(router.ServiceRouter).Locate(raw)
	if err != nil {
		return errors.New(scrub(err.Error(), raw))
	}
	if err := service.Send(safetext.Line(m.Title)+"\n"+m.Text, &types.Params{}); err != nil {
		return errors.New(scrub(err.Error(), raw))
	}
	return nil
}

// maxReason bounds the reason of a failure, in bytes: services answer with whole pages.
const maxReason = 300

var (
	link       = safetext.Lazily(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]*`)
	credential = safetext.Lazily(`(?i)\b(basic|bearer) +\S+`)
	word       = safetext.Lazily(`[A-Za-z0-9]+`)
)

// scrub returns a reason as one line without what could be a secret: whole URLs, and each part of
// the given ones. Libraries put URLs into their errors, and servers answer with what they were sent.
func scrub(reason string, secrets ...string) string {
	reason = credential().ReplaceAllString(link().ReplaceAllString(reason, "[url]"), "[...]")
	var parts []string
	for _, raw := range secrets {
		all := raw
		if plain, err := url.PathUnescape(raw); err == nil {
			all += " " + plain
		}
		if u, err := url.Parse(raw); err == nil {
			all = strings.ReplaceAll(all, u.Scheme+"://", "")
			user := u.User.Username()
			password, _ := u.User.Password()
			all += " " + strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(user+":"+password)), "=")
		}
		parts = append(parts, word().FindAllString(all, -1)...)
	}
	slices.SortFunc(parts, func(a, b string) int { return len(b) - len(a) })
	for _, part := range parts {
		if len(part) >= 4 && !slices.Contains(known, strings.ToLower(part)) {
			reason = strings.ReplaceAll(reason, part, "[...]")
		}
	}
	reason = safetext.Line(reason)
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "..."
	}
	return reason
}

// known are parts of URLs that are names of options and no secrets.
var known = []string{"https", "http", "disabletls", "webhook", "hook", "template", "json", "title", "true", "false", "host", "localhost"}
