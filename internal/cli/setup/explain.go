package setup

import (
	"slices"
	"strings"

	"github.com/ferrus-go/ferrus/internal/cli"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// explained returns the rows of keys of ferrus.toml, in their order there: a key, or a table with all of its keys, such as checks, hq
// or rules. No keys are all of them.
func explained(rows []config.Row, keys []string) ([]config.Row, error) {
	var names []string
	for _, r := range rows {
		names = append(names, r.Key)
		for i, c := range r.Key {
			if c == '.' || c == '[' {
				names = append(names, r.Key[:i])
			}
		}
	}
	for _, key := range keys {
		if slices.Contains(names, key) {
			continue
		}
		var remedy refusal.Own = "ferrus config explain lists every key"
		if near := format.Word(key, names); near != "" {
			remedy = refusal.Say("did you mean %s? %s", near, remedy)
		}
		return nil, cli.UsageError(remedy, "ferrus.toml has no key %q", key)
	}
	return slices.DeleteFunc(rows, func(r config.Row) bool {
		return len(keys) > 0 && !slices.ContainsFunc(keys, func(key string) bool {
			rest, within := strings.CutPrefix(r.Key, key)
			return within && (rest == "" || rest[0] == '.' || rest[0] == '[')
		})
	}), nil
}
