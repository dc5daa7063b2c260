package main

// A figure is a row of the table: what was measured of ferrus, beside what the system below it takes for the same, and
// beside peers. Where it is found in the results: From, a space, Ours, Limit or the name of a peer, and each metric.
type figure struct {
	Name    string
	From    string
	Ours    string
	Limit   string // "" where there is none
	Metrics []string
	How     string
}

var (
	times  = []string{"p50-µs", "p99-µs"}
	median = []string{"p50-µs"}
	fates  = []string{"asked-n", "acked-n", "kept-n"}
	rate   = []string{"per-s"}

	connections = []string{"connections"}
	byteCount   = []string{"bytes"}
	mebibytes   = []string{"MiB"}
)

// figures are all rows, in the order of the table.
var figures = []figure{
	{"a transition", "Transition", "apply", "append", times, "limit: the same bytes appended, one fdatasync"},
	{"the same", "Transition", "apply", "append+replace", times, "limit: and a STATE.json replaced without sync"},
	{"a transition after a long history", "Transition", "apply-long", "apply", times, "100,000 journal lines (-short: 10,000); limit: ours with 10"},
	{"a read", "View", "view", "read", times, "limit: the same bytes read, neither parsed nor checked"},
	{"a read after a long history", "View", "view-long", "view", times, "limit: ours with 10 lines"},
	{"a change wakes another process", "Wake", "wake", "inotify", times, "from the moment STATE.json is put in place to the new state read; limit: from a rename to inotify's word"},
	{"an answer reaches the agent", "Answer", "answer", "", times, "from before its commit to the result at the waiting client, over stdio"},
	{"takeover after SIGKILL", "Takeover", "claim", "flock", times, "from the kill to a third process seeing the successor's claim; limit: from the kill to a waiter having a bare flock"},
	{"the same, to the client", "Takeover", "work", "flock", times, "and the successor's client having its resume packet"},

	{"a transition in PostgreSQL", "MachineApply", "postgres", "raw", times, "the server syncs its files, by a Unix socket; limit: BEGIN and SELECT FOR UPDATE, then UPDATE, INSERT and COMMIT of the same bytes, two round trips; aim: 1.5"},
	{"the raw transaction", "MachineApply", "raw", "append", times, "limit: the same bytes appended, one fdatasync"},
	{"a transition in PostgreSQL, beside files", "MachineApply", "postgres", "file", times, "limit: a transition in files"},
	{"a transition in files", "MachineApply", "file", "append", times, "limit: the same bytes appended, one fdatasync"},
	{"in PostgreSQL after a long history", "MachineApply", "postgres-long", "postgres", times, "100,000 journal lines (-short: 10,000); limit: with 10; aim: 1"},
	{"in files after a long history", "MachineApply", "file-long", "file", times, "as before"},
	{"a read in PostgreSQL", "MachineView", "postgres", "raw", times, "limit: a row read by its key on one connection, without its line"},
	{"the same, beside files", "MachineView", "postgres", "file", times, "limit: a read in files"},
	{"the same after a long history", "MachineView", "postgres-long", "postgres", times, "100,000 journal lines (-short: 10,000); limit: with 10; aim: 1"},
	{"a renewal in PostgreSQL", "MachineRenew", "postgres", "raw", times, "does not wait for the disk; limit: BEGIN and SELECT FOR UPDATE, then UPDATE and COMMIT"},
	{"the same, beside files", "MachineRenew", "postgres", "file", times, "limit: a renewal in files"},
	{"another process sees an event, PostgreSQL", "MachineWake", "postgres", "raw", times, "from the call of Apply to the new state read; limit: raw transaction, then NOTIFY, LISTEN, one row read"},
	{"of that after the acknowledgement", "MachineWake", "postgres-acked", "raw-acked", times, "as before"},
	{"another process sees an event, files", "MachineWake", "file", "", times, "from the call of Apply to the new state read"},
	{"of that after the acknowledgement", "MachineWake", "file-acked", "", times, "0 where it was seen before"},
	{"32 writers on one machine, PostgreSQL", "MachineWriters/one", "postgres", "raw", times, "a process each; limit: as many raw transactions on one row"},
	{"per second", "MachineWriters/one", "postgres", "raw", rate, ""},
	{"32 writers on one machine, files", "MachineWriters/one", "file", "append", times, "a process each; limit: lock, append, fdatasync"},
	{"per second", "MachineWriters/one", "file", "append", rate, ""},
	{"32 writers on 32 machines, PostgreSQL", "MachineWriters/many", "postgres", "raw", times, "a process each; limit: as many raw transactions, each on its own row"},
	{"per second", "MachineWriters/many", "postgres", "raw", rate, ""},
	{"32 writers on 32 machines, files", "MachineWriters/many", "file", "append", times, "a process each; limit: lock, append, fdatasync, each its own file"},
	{"per second", "MachineWriters/many", "file", "append", rate, ""},

	{"connections, all pools full", "Scale/connections", "need", "server", connections, "1,000 nodes with one process each: 1 listens, 4 write, 4 read; limit: max_connections of PostgreSQL, where nobody changes it"},
	{"connections at rest", "Scale/connections-rest", "need", "server", connections, "counted in one process with a session and a watcher; 1,000 nodes with one process each; limit: as before"},
	{"connections at rest, a process a branch", "Scale/connections-process", "need", "server", connections, "10,000 processes; limit: as before"},
	{"memory of a connection", "Scale/memory", "idle", "", mebibytes, "of the server, private, of a connection that only listens"},
	{"rings", "Scale/rings", "need", "server", rate, "an event a branch in 30 s; each ring reaches 1,000 listening connections; limit: the server's, measured with as many (-short: 100)"},
	{"rings, a process a branch", "Scale/rings-process", "need", "server", rate, "each ring reaches 10,000 connections; limit: computed from the row before"},
	{"events that 1,000 connections hear", "Scale/events-heard", "need", "server", rate, "32 writers, Apply; rings of one process are joined"},
	{"events", "Scale/events", "need", "server", rate, "an event a branch in 30 s; nobody listens; limit: 32 writers on 10,000 machines (-short: 1,000), Apply"},
	{"renewals", "Scale/renewals", "need", "server", rate, "one a branch in 30 s; limit: 32 processes' connections, Renew"},
	{"reads", "Scale/reads", "need", "server", rate, "a watcher a branch, which looks each second; limit: 32 readers, View"},
	{"beats", "Scale/beats", "need", "server", rate, "one a node in 2 s; limit: 32 connections, the statement of a beat"},
	{"beats, a process a branch", "Scale/beats-process", "need", "server", rate, "as long as each process with a session beats: beat, look for ended sessions, delete old ones"},
	{"claims of a branch by a conductor", "Scale/claims", "need", "server", rate, "all branches within 10 s; the statements by which a post is taken"},
	{"a read beside 10,000 machines", "Scale/view", "many", "few", times, "-short: 1,000; limit: beside one"},
	{"a branch in the database", "Scale/branch", "rows", "", byteCount, "machine, head, lease, session with indexes, without the journal"},
	{"a journal line in the database", "Scale/line", "stored", "length", byteCount, "with indexes; limit: the line"},
	{"growth of the journals a day", "Scale/day", "growth", "", mebibytes, "computed: 10,000 branches, a line each in 30 s"},
	{"git: refs that a push is told", "Scale/git", "all", "hidden", byteCount, "10,000 refs below refs/ferrus; limit: with receive.hideRefs=refs/ferrus"},
	{"git: the same, a second", "Scale/git-traffic", "need", "server", byteCount, "computed: a push a branch in 10 min; limit: a network of 1 Gbit/s"},

	{"a call beside three stale agents", "Stale", "many", "few", times, "the holder's progress while three that lost the work are refused; a journal of 3,000 lines; limit: of 30"},

	{"a call over stdio: status", "StdioCall", "status", "bare", times, "limit: a call of a bare SDK server"},
	{"a call over stdio: progress", "StdioCall", "progress", "bare", times, "commits an event; limit: as before"},
	{"a call over HTTP, 2025-11-25", "HTTPCall/2025-11-25", "status", "bare", times, "status; limit: a call of a bare SDK server"},
	{"a call over HTTP, 2026-07-28", "HTTPCall/2026-07-28", "status", "bare", times, "as before"},

	{"start-up", "Start", "ferrus", "bare", times, "from exec to the first tool result over stdio; limit: a bare SDK server"},
	{"memory", "Start", "ferrus", "bare", []string{"MiB"}, "resident, of all its processes, after that result"},
	{"CPU of a short life", "Start", "ferrus", "bare", []string{"cpu-µs"}, "start, handshake, list, one call, end"},
	{"tools/list, executor", "Start", "ferrus", "", []string{"list-bytes"}, "bytes of the result; a peer has one list"},
	{"tools/list, supervisor", "Start", "ferrus supervisor", "", []string{"list-bytes"}, "as before"},
	{"number of tools, executor", "Start", "ferrus", "", []string{"tools"}, ""},

	{"8 writers: asked / acknowledged / kept", "Crowd8/update", "ferrus", "bare", fates, "a server process each; ferrus: notes on one task; a peer: each its own items of one project; limit: lock, append, fdatasync; 10 calls each in a round, a peer's 4; then what is on the disk is counted"},
	{"a call of them", "Crowd8/update", "ferrus", "bare", times, ""},
	{"acknowledged per second", "Crowd8/update", "ferrus", "bare", rate, ""},
	{"32 writers: asked / acknowledged / kept", "Crowd32/update", "ferrus", "bare", fates, "as with 8"},
	{"a call of them", "Crowd32/update", "ferrus", "bare", times, ""},
	{"acknowledged per second", "Crowd32/update", "ferrus", "bare", rate, ""},
	{"8 creators: asked / acknowledged / kept", "Crowd8/create", "ferrus", "", fates, "a server process each, new items; ferrus has one task at a time"},
	{"a call of them", "Crowd8/create", "ferrus", "", times, ""},
	{"32 creators: asked / acknowledged / kept", "Crowd32/create", "ferrus", "", fates, "as with 8"},
	{"a call of them", "Crowd32/create", "ferrus", "", times, ""},
	{"8 readers: a call", "Crowd8/look", "ferrus", "bare", times, "a server process each; ferrus: status; a peer: its list"},
	{"answered per second", "Crowd8/look", "ferrus", "bare", rate, ""},
	{"32 readers: a call", "Crowd32/look", "ferrus", "bare", times, "as with 8"},
	{"answered per second", "Crowd32/look", "ferrus", "bare", rate, ""},

	{"ten phases of instant workers", "Pipeline", "phase", "slots", times, "from launch to archive; limit: ten slots, one after the other"},
	{"the same, all started at once", "Pipeline", "all", "slots", times, "each waits in its shim; limit: as before"},
	{"ten slots", "Pipeline", "slots", "bare", times, "a shim and an agent each; limit: ten bare processes"},
	{"a tick that finds nothing to do", "Tick", "archived1000", "archived10", times, "beside 1,000 archived runs; limit: beside 10"},

	{"50,000 files: a task is created", "Large/create", "ferrus", "beside", times, "limit: the build that -beside names"},
	{"50,000 files: claim", "Large/claim", "ferrus", "beside", times, "as before"},
	{"50,000 files: check", "Large/check", "ferrus", "beside", times, "three files changed; the command is true; limit: as before"},
	{"50,000 files: check again", "Large/check-again", "ferrus", "beside", times, "nothing changed; limit: as before"},
	{"50,000 files: submit", "Large/submit", "ferrus", "beside", times, "as before"},
	{"50,000 files: approve", "Large/approve", "ferrus", "beside", times, "as before"},

	{"/bin/true under Landlock", "SandboxStart", "landlock", "direct", median, "limit: without a sandbox"},
	{"the same under bubblewrap", "SandboxStart", "bwrap", "direct", median, "as before"},
	{"git status, 50,000 files, under Landlock", "SandboxStatus", "landlock", "direct", median, "-short: 5,000 files; limit: without a sandbox"},
	{"the same under bubblewrap", "SandboxStatus", "bwrap", "direct", median, "as before"},
	{"go build, all cached, under Landlock", "SandboxBuild", "landlock", "direct", median, "limit: without a sandbox"},
	{"the same under bubblewrap", "SandboxBuild", "bwrap", "direct", median, "as before"},
	{"an executor's git directory, 50,000 files", "SandboxGuest", "guest", "worktree-add", median, "-short: 5,000 files; limit: git worktree add, which comes before it"},

	{"calls per finished task", "Flow", "ferrus", "", []string{"calls"}, "ferrus: create, claim, check, submit, review, approve; a peer: create, then done"},
	{"bytes of arguments and results", "Flow", "ferrus", "", []string{"said-bytes"}, "what the models write and read"},
	{"bytes of lists and instructions", "Flow", "ferrus", "", []string{"list-bytes"}, "what their contexts carry beside; ferrus: both roles"},
}
