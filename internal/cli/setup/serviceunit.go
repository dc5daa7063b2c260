package setup

import (
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ferrus-go/ferrus/internal/conductor"
	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

// A service is what a system does for a project without a person.
type service struct {
	Name  string   // of the files and jobs; made of the path of the project
	Root  string   // of the project
	Args  []string // the command, whose first word is the path of ferrus
	Env   []string // NAME=VALUE, of a shell of the person
	Every int      // minutes between two starts, a divisor of 60; 0 for those of Hours
	Hours []int    // of the day, at whose Minute it starts

	Minute int
	Home   string // of the person
}

// serviceName names the service of a project.
func serviceName(root string) string {
	base := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, filepath.Base(root))
	sum := sha256.Sum256([]byte(root))
	return fmt.Sprintf("ferrus-%.30s-%x", base, sum[:4])
}

// hours are those at which a service starts a run between two times: the first one, and each hour after it in which a run that a restart of
// the computer has ended can go on.
func hours(at, until conductor.Clock) (list []int) {
	minutes := (24*60 + until.Hour*60 + until.Minute - at.Hour*60 - at.Minute) % (24 * 60)
	for i := 0; i*60 < minutes; i++ {
		list = append(list, (at.Hour+i)%24)
	}
	return list
}

// unfit refuses a service with words that a system cannot have in its files: control characters, what is not UTF-8, and those that it names,
// for all words and for the path of the program.
func (s service) unfit(sys system) error {
	for i, word := range append(slices.Clone(s.Args), s.Env...) {
		more := sys.unfit
		if i == 0 {
			more += sys.unfitPath
		}
		if strings.ContainsFunc(word, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' || r == utf8.RuneError || strings.ContainsRune(more, r)
		}) {
			return &refusal.RefusedError{Code: refusal.InvalidInput, Message: fmt.Sprintf("%q has characters that a service cannot have here", word),
				Remedy: "give the folder another name"}
		}
	}
	return nil
}

// exits are the codes of a run that is not broken: nothing to do, a question, another run, the end of the night.
const exits = "3 6 7 9"

// unit is the unit of systemd that runs once.
func (s service) unit() string {
	words := []string{unitWord(s.Args[0])}
	for _, w := range s.Args[1:] {
		words = append(words, strings.ReplaceAll(unitWord(w), "$", "$$"))
	}
	var env string
	for _, kv := range s.Env {
		env += "Environment=" + unitWord(kv) + "\n"
	}
	kill := "mixed"
	if s.Every > 0 { // the agents that a step has started go on
		kill = "process"
	}
	return "[Unit]\nDescription=ferrus in " + unitText(s.Root) + "\n\n[Service]\nType=oneshot\n" + env + "ExecStart=" + strings.Join(words, " ") +
		"\nKillMode=" + kill + "\nSuccessExitStatus=" + exits + "\n"
}

// timer is the unit of systemd that starts it.
func (s service) timer() string {
	when := fmt.Sprintf("*:0/%d", s.Every)
	if s.Every == 0 {
		when = fmt.Sprintf("*-*-* %s:%02d:00", commas(s.Hours), s.Minute)
	}
	return "[Unit]\nDescription=ferrus in " + unitText(s.Root) + "\n\n[Timer]\nOnCalendar=" + when + "\n\n[Install]\nWantedBy=timers.target\n"
}

func commas(list []int) string {
	var words []string
	for _, n := range list {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ",")
}

var unitEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "%", "%%")

// unitWord is a word in a unit of systemd. In a command, but for its first word, a dollar has a meaning too.
func unitWord(word string) string { return `"` + unitEscape.Replace(word) + `"` }

// unitText is a text in a unit of systemd.
func unitText(text string) string { return strings.ReplaceAll(format.Line(text), "%", "%%") }

// plist is the property list of launchd.
func (s service) plist() string {
	text := func(tag, value string) string {
		var v strings.Builder
		_ = xml.EscapeText(&v, []byte(value)) // a builder takes all
		return "<" + tag + ">" + v.String() + "</" + tag + ">"
	}
	var args, env, when string
	for _, w := range s.Args {
		args += "\n\t\t" + text("string", w)
	}
	for _, kv := range s.Env {
		name, value, _ := strings.Cut(kv, "=")
		env += "\n\t\t" + text("key", name) + "\n\t\t" + text("string", value)
	}
	for _, h := range s.Hours {
		when += fmt.Sprintf("\n\t\t<dict><key>Hour</key><integer>%d</integer><key>Minute</key><integer>%d</integer></dict>", h, s.Minute)
	}
	when = "<key>StartCalendarInterval</key>\n\t<array>" + when + "\n\t</array>"
	if s.Every > 0 { // the agents that a step has started go on
		when = fmt.Sprintf("<key>StartInterval</key>\n\t<integer>%d</integer>\n\t<key>AbandonProcessGroup</key>\n\t<true/>", s.Every*60)
	}
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>%s
	</array>
	<key>EnvironmentVariables</key>
	<dict>%s
	</dict>
	%s
	<key>StandardOutPath</key>
	%[5]s
	<key>StandardErrorPath</key>
	%[5]s
</dict>
</plist>
`, s.Name, args, env, when, text("string", s.log()))
}

// log is the file of what a job of launchd prints: macOS shows those of this folder in its Console.
func (s service) log() string { return filepath.Join(s.Home, "Library", "Logs", s.Name+".log") }

// mark ends the line of a crontab that is ours.
func (s service) mark() string { return " # " + s.Name }

// cron is the line of a crontab. What it prints goes to the log of the system.
func (s service) cron() string {
	line := fmt.Sprintf("*/%d * * * *", s.Every)
	if s.Every == 0 {
		line = fmt.Sprintf("%d %s * * *", s.Minute, commas(s.Hours))
	}
	for _, kv := range s.Env {
		name, value, _ := strings.Cut(kv, "=")
		line += " " + name + "=" + format.ShellWord(value)
	}
	for _, w := range s.Args {
		line += " " + format.ShellWord(w)
	}
	return strings.ReplaceAll(line, "%", `\%`) + " 2>&1 | logger -t " + s.Name + s.mark() + "\n"
}
