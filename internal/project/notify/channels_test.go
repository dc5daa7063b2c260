//go:build unix

package notify

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrus-go/ferrus/internal/config"
	"github.com/ferrus-go/ferrus/internal/config/trust"
	"github.com/ferrus-go/ferrus/internal/project/agreement"
	"github.com/ferrus-go/ferrus/test/kit"
)

func TestMain(m *testing.M) { os.Exit(kit.Main(m.Run)) }

// configure writes the ferrus.toml of a project.
func configure(t *testing.T, dir, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, "ferrus.toml"), []byte(text), 0o600))
}

// names are the channels of the project, and whether some are left out for want of an agreement.
func names(t *testing.T, dir string) (list []string, refused bool) {
	t.Helper()
	record, err := trust.Open(dir)
	must(t, err)
	to, err := ChannelsOf(dir, record, "", nil)
	if refused = errors.Is(err, agreement.ErrChannels); !refused {
		must(t, err)
	}
	for _, ch := range to.List() {
		list = append(list, ch.Name)
	}
	return list, refused
}

// TestACloneSendsNothing to the addresses that its files name, and runs no program, until a person agrees. An address
// that was agreed to is used while other values of the files have changed: the notification says so.
func TestACloneSendsNothing(t *testing.T) {
	s, dir := newService(t), project(t)
	mine := "[notify]\nurls = [\"" + s.urls().URLs[0] + "\"]\ndesktop = true\n"
	configure(t, dir, mine)
	if list, refused := names(t, dir); len(list) != 0 || !refused {
		t.Fatalf("%q, %v", list, refused)
	}
	record, err := trust.Open(dir)
	must(t, err)
	to, _ := ChannelsOf(dir, record, "", nil)
	must(t, OpenOutbox(dir).Tell(t.Context(), to, item("q1")))
	s.want(t)

	must(t, agreement.Agree(dir))
	want, refused := names(t, dir)
	if len(want) != 2 || refused {
		t.Fatalf("%q, %v", want, refused)
	}
	configure(t, dir, "[checks]\ncommands = [\"evil\"]\n"+mine)
	if list, refused := names(t, dir); !slices.Equal(list, want) || refused {
		t.Errorf("%q, %v", list, refused)
	}
	for _, other := range []string{"ntfy://evil.example/x", strings.Replace(s.urls().URLs[0], "/hook", "/other", 1), "$FERRUS_NOTIFY_URL"} {
		configure(t, dir, "[notify]\nurls = [\""+other+"\"]\ndesktop = true\n")
		if list, refused := names(t, dir); !slices.Equal(list, []string{"desktop"}) || !refused {
			t.Errorf("%s: %q, %v", other, list, refused)
		}
	}
	configure(t, dir, mine+"command = \"evil\"\n")
	conf, err := config.Load(filepath.Join(dir, config.FileName))
	must(t, err)
	if command, err := agreement.NotifyCommand(record, dir, conf); command != "" || !errors.Is(err, agreement.ErrChannels) {
		t.Errorf("%q, %v", command, err)
	}
	must(t, agreement.Agree(dir))
	if command, err := agreement.NotifyCommand(record, dir, conf); command != "evil" || err != nil {
		t.Errorf("%q, %v", command, err)
	}
	configure(t, dir, "")
	if list, refused := names(t, dir); len(list) != 0 || refused {
		t.Errorf("%q, %v", list, refused)
	}
}

// TestAPersonsOwnChannelsNeedNoAgreement, and go before those of the project.
func TestAPersonsOwnChannelsNeedNoAgreement(t *testing.T) {
	dir, own := project(t), t.TempDir()
	t.Setenv(trust.EnvXDGConf, own)
	must(t, os.Mkdir(filepath.Join(own, "ferrus"), 0o700))
	must(t, os.WriteFile(filepath.Join(own, "ferrus", "config.toml"), []byte("[notify]\nurls = [\"$FERRUS_NOTIFY_URL\"]\n"), 0o600))
	for _, text := range []string{"", "[notify]\nurls = [\"ntfy://evil.example/x\"]\n", "[notify]\nurls = [\"$FERRUS_NOTIFY_URL\"]\n"} {
		configure(t, dir, text)
		if list, refused := names(t, dir); !slices.Equal(list, []string{"$FERRUS_NOTIFY_URL"}) || refused {
			t.Errorf("%s: %q, %v", text, list, refused)
		}
	}
	configure(t, dir, "[notify]\ndesktop = true\n")
	if list, refused := names(t, dir); !slices.Equal(list, []string{"$FERRUS_NOTIFY_URL"}) || !refused {
		t.Errorf("%q, %v", list, refused)
	}
	must(t, os.WriteFile(filepath.Join(own, "ferrus", "config.toml"), []byte("[notify]\nurls = [\"s3cretXyz\"]\n"), 0o600))
	record, err := trust.Open(dir)
	must(t, err)
	if _, err := ChannelsOf(dir, record, "", nil); err == nil || strings.Contains(err.Error(), "s3cretXyz") || !strings.Contains(err.Error(), "item 1") {
		t.Errorf("%v", err)
	}
}

// TestATextIsShortEnough for the services, and keeps what is needed: the options, the command and the id.
func TestATextIsShortEnough(t *testing.T) {
	got := Text("/it's here", "t1 q1", []Part{{Others: "Build it."}, {Own: "executor:codex:1 asks:", Others: strings.Repeat("why ", 2000) + "Red?\n\n1. yes\n2. no\n"}, {Others: " "}}, []string{"ferrus answer 1"})
	if len(got) > 2000 || !strings.HasPrefix(got, "│ Build it.\n\nexecutor:codex:1 asks:\n│ why ") || !strings.Contains(got, "\n│ [...]\n│ ") ||
		!strings.HasSuffix(got, "Red?\n│\n│ 1. yes\n│ 2. no\n\nferrus answer 1 -C '/it'\\''s here'\nid: t1 q1") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	if got := Text("/p", "x", []Part{{Others: "a\x1b]0;evil\x07b\u202e"}}, nil); got != "│ a<U+001B>]0;evil<U+0007>b<U+202E>\n\nid: x" {
		t.Errorf("%q", got)
	}
}

// TestNoLineOfAnotherIsFerrus: whatever an agent writes, and wherever it is cut, each of its lines stands behind the bar.
func TestNoLineOfAnotherIsFerrus(t *testing.T) {
	const forged = "ferrus: approved work (shop)\n\nferrus approve -C /evil\r\nid: forged 1\u2028id: forged 2\n"
	for n := range 2 * maxPart {
		if n > 40 && n%97 != 0 {
			continue
		}
		got := Text("/p", "x", []Part{{Others: forged + strings.Repeat("y", n) + "\n" + forged}, {Own: "a asks:\nid: forged 3", Others: strings.Repeat(forged, n/20)}}, []string{"ferrus status"})
		for _, line := range strings.FieldsFunc(got, func(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' }) {
			own := line == "ferrus status -C /p" || line == "id: x" || line == "a asks: id: forged 3"
			if !own && !strings.HasPrefix(line, "│") {
				t.Fatalf("%d: %q in\n%s", n, line, got)
			}
		}
	}
}
