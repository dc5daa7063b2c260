package agents

import "strconv"

// goose is Block's goose. Its row follows the documentation and the source; the program itself is
// untested.
var goose = Adapter{
	Name:     "goose",
	Title:    "goose",
	Program:  "goose",
	Install:  "curl -fsSL https://github.com/block/goose/releases/latest/download/download_cli.sh | bash",
	Wait:     120,
	Executes: "edits files and runs commands (`auto`)",
	Reviews:  "our tools only",
	Works:    "edits files and runs commands (`auto`)",
	Speaks:   "what a worker may: its tools for files and for commands come together",
	Lacks: []string{
		"Untested: this row follows goose's documentation.",
		"A reviewer, consultant or supervisor has the tools of ferrus and no others: it sees only the part of the work that they show.",
		"Its commands run without a sandbox: those of an executor can do what you can.",
		"If its version can start other agents without asking, a worker can, too.",
		"It reports no tokens and no dollars.",
	},
	launch: launchGoose,
	read:   readPlain,
	heeds:  plainHeeds,
}

func launchGoose(a Adapter, s LaunchSpec) (Launch, error) {
	argv := []string{a.Program, "run", "--no-profile", "--with-extension=" + quoted(a.server(s))}
	env := []string{"GOOSE_DEFAULT_EXTENSION_TIMEOUT=" + strconv.Itoa(a.limit())}
	if s.Duty.Writes() {
		argv = append(argv, "--with-builtin=developer")
	}
	if s.Headless {
		argv = append(argv, "--no-session", "--quiet")
	}
	// Without the developer tools only our own tools can ask for permission.
	if s.Headless || !s.Duty.Writes() {
		env = append(env, "GOOSE_MODE=auto")
	} else {
		env = append(env, "GOOSE_MODE=smart_approve")
	}
	if s.Model != "" {
		env = append(env, "GOOSE_MODEL="+s.Model)
	}
	l := Launch{Argv: append(argv, s.Args...), Env: env}
	switch {
	case s.Headless:
		l.Argv, l.Stdin = append(l.Argv, "--instructions=-"), s.Prompt
	case s.Prompt != "":
		l.Argv = append(l.Argv, "--interactive", "--text="+s.Prompt)
	default:
		l.Argv[1] = "session"
	}
	return l, nil
}
