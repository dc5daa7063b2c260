package notify

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/ferrus-go/ferrus/internal/platform/proc"
	"github.com/ferrus-go/ferrus/internal/platform/safetext"
)

// A program shows notifications on a desktop. The message comes as arguments, or in the variables
// NOTICE_TITLE and NOTICE_TEXT: it is never part of a script.
type program struct {
	name string
	args func(title, text string) []string
}

// programs are by operating system; that of "" counts for every other one.
var programs = map[string]program{
	"": {"notify-send", func(title, text string) []string {
		return []string{"--app-name=ferrus", "--", html.EscapeString(title), html.EscapeString(text)} // servers read markup
	}},
	"darwin": {"osascript", func(title, text string) []string {
		return []string{"-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", "--", title, text}
	}},
	"windows": {"powershell", func(_, _ string) []string {
		return []string{"-NoProfile", "-NonInteractive", "-Command", `Add-Type -AssemblyName System.Windows.Forms, System.Drawing
$n = New-Object System.Windows.Forms.NotifyIcon
$n.Icon = [System.Drawing.SystemIcons]::Information
$n.Visible = $true
$n.ShowBalloonTip(10000, $env:NOTICE_TITLE, $env:NOTICE_TEXT, 'Info')
Start-Sleep -Seconds 5
$n.Dispose()`}
	}},
}

// desktop shows a message on the desktop of the person who runs this process. The program is looked
// for outside of the project.
func (c Channels) desktop(ctx context.Context, m Message) error {
	p, ok := programs[runtime.GOOS]
	if !ok {
		p = programs[""]
	}
	path, err := proc.LookPath(p.name, os.Getenv("PATH"), c.Dir)
	if err != nil {
		return fmt.Errorf("there is no %s on the PATH", p.name)
	}
	title, text := safetext.Line(m.Title), safetext.Mark(m.Text)
	cmd := exec.CommandContext(ctx, path, p.args(title, text)...)
	cmd.Env = append(os.Environ(), "NOTICE_TITLE="+title, "NOTICE_TEXT="+text)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return errors.New(scrub(fmt.Sprintf("%s: %v: %s", p.name, err, out), c.secrets()...))
	}
	return nil
}

// HasDesktop reports whether the person who runs this process has a desktop that shows notifications. dir is in the project, whose
// programs do not count.
func HasDesktop(dir string) bool {
	p, ok := programs[runtime.GOOS]
	if !ok {
		p = programs[""]
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return false
		}
	}
	_, err := proc.LookPath(p.name, os.Getenv("PATH"), dir)
	return err == nil
}
