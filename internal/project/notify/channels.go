package notify

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
)

// ChannelsOf returns the channels of the project at root: a command that the caller has frozen or
// agreed to, with its environment (nil means that of this process), and the others that a person
// has agreed to. The error says which are left out; the channels are usable all the same. Without a
// record of agreements everything may be used.
func ChannelsOf(root string, record *trust.Project, command string, environ []string) (Channels, error) {
	to := Channels{Command: command, Dir: root, Environ: environ}
	conf, err := config.Load(filepath.Join(root, config.FileName))
	if err != nil {
		conf = config.Default()
	}
	own, unread := config.LoadPerson()
	if unread == nil {
		conf = conf.With(own)
	}
	allowed, refused := agreement.Channels(record, root, conf)
	to.URLs, to.Desktop = allowed.URLs, allowed.Desktop
	return to, errors.Join(err, unread, refused)
}

// Warnings says, in a line each, which channels of the project at root failed when they were used
// last.
func Warnings(root string, record *trust.Project, command string) (lines []string) {
	b := OpenOutbox(root)
	if r, err := b.read(); err == nil && len(r.Failures) == 0 {
		return nil
	}
	to, _ := ChannelsOf(root, record, command, nil)
	list, err := b.Failures(to)
	if err != nil {
		return []string{"notify: " + err.Error()}
	}
	for _, f := range list {
		lines = append(lines, "notify: "+f.String()+"; ferrus notify --test tries every channel")
	}
	return lines
}

// String says what failed, and when.
func (f Failure) String() string {
	return fmt.Sprintf("%s failed at %s: %s", f.Channel, f.At.Local().Format("15:04"), f.Reason)
}
