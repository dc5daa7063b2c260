package agreement

import (
	"errors"
	"slices"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
)

// ErrChannels means that [notify] of ferrus.toml names channels that no person has agreed to.
var ErrChannels = errors.New("you have not agreed to the channels of [notify] in ferrus.toml")

// Channels returns the channels by which the person of the project at root may be notified: their own, and of ferrus.toml
// those that a person has agreed to, now or earlier. Other values of the project do not matter: a notification may
// say that they have changed. The error is ErrChannels where some are left out, or one of the record. For a nil record all may be used.
func Channels(record *trust.Project, root string, conf config.Config) (config.Channels, error) {
	all, project := conf.Channels, conf.ProjectChannels()
	if record == nil || len(project.URLs) == 0 && !project.Desktop {
		return all, nil
	}
	never, err := neverAgreed(record, root, conf, "notify.urls", "notify.desktop")
	for _, v := range never {
		switch {
		case v.Key == "notify.urls" && len(project.URLs) > 0:
			all.URLs = nil
		case v.Key == "notify.desktop" && project.Desktop:
			all.Desktop = false
		}
	}
	return all, err
}

// NotifyCommand returns the command of [notify] if a person has agreed to it, now or earlier; "" otherwise, with the error of
// Channels.
func NotifyCommand(record *trust.Project, root string, conf config.Config) (string, error) {
	if never, err := neverAgreed(record, root, conf, "notify.command"); len(never) > 0 {
		return "", err
	}
	return conf.Notify.Command, nil
}

// neverAgreed returns those of the project's values at the keys that no person has agreed to. If there are any, the error is
// ErrChannels, or one of the record, which then agrees to none.
func neverAgreed(record *trust.Project, root string, conf config.Config, keys ...string) ([]trust.Value, error) {
	values := Executable(root, conf)
	if ok, err := record.Agreed(values); ok && err == nil {
		return nil, nil
	}
	values = slices.DeleteFunc(values, func(v trust.Value) bool { return !slices.Contains(keys, v.Key) })
	never, err := record.NeverAgreed(values, nil)
	switch {
	case err != nil:
		return values, err
	case len(never) > 0:
		return never, ErrChannels
	}
	return nil, nil
}
