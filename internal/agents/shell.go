package agents

// CommandWorker is the name, in records of runs, of a worker that is a command and no agent. No
// adapter has the name.
const CommandWorker = "run"

// Shell returns how to start a worker of a pipeline that is a command of the shell. Of s only what
// is said of the run counts. The command is not told how to reach a server of ferrus, and its text
// has no placeholders: what it needs is in the environment.
func Shell(line, topic string, s LaunchSpec) Launch {
	env := inherited(s.Environ, []string{"FERRUS_ROOT=" + s.Root, "FERRUS_RUN_DIR=" + s.Run, "FERRUS_WORKER=" + s.Name,
		"FERRUS_OUTPUT=" + s.Output, "FERRUS_TOPIC=" + topic, "FERRUS_AGENT=" + s.Identity(CommandWorker), "FERRUS_PROJECT=" + s.Root})
	return Launch{Argv: []string{"/bin/sh", "-c", line}, Env: env, Dir: s.Work}
}
