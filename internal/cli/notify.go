package cli

import (
	"context"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/agreement"
	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/outbox"
	"github.com/ferrus-go/ferrus/internal/platform/notify"
	"github.com/ferrus-go/ferrus/internal/trust"
)

// Channels returns the channels by which the person of the project at root may be notified, as the project's files are now: without
// those that nobody has agreed to. The error says why some are left out.
func Channels(root string) (notify.Channels, error) {
	record, err := trust.Open(root)
	if err != nil {
		return notify.Channels{}, err
	}
	command := ""
	if conf, err := config.LoadFor(filepath.Join(root, config.FileName)); err == nil {
		if ok, err := record.Agreed(agreement.Executable(root, conf)); ok && err == nil {
			command = conf.Notify.Command
		}
	}
	return outbox.Channels(root, record, command, nil)
}

// Resend sends the notifications of the project at root that could not be sent before and are due.
func (a *App) Resend(ctx context.Context, root string) {
	to, _ := Channels(root) // doctor says what is wrong with it
	if err := outbox.Open(root).Send(ctx, to); err != nil {
		Warnings(a.Err).Warn("notifications were not sent", "error", err)
	}
}
