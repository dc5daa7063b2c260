// Package internal contains only packages. Its tests hold the table of allowed imports and the
// limits of size.
package internal

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/ferrus-go/ferrus"

// allowed are all packages, and for each the packages of this module that it may import, with the reason. The test refuses
// everything else: a new package or a new import is a decision, to be written in docs/decisions.
var allowed = map[string]map[string]string{
	".": {},

	// Packages that know nothing of a task.
	"internal/lease":          {},
	"internal/jsontime":       {},
	"internal/state":          {"internal/lease": "a task may name the term of its lease", "internal/jsontime": "times in JSON have one form", "internal/safetext": "names have a form"},
	"internal/platform/proc":  {"internal/rootfs": "whether a program lies in a folder", "internal/environ": "a command of ferrus.toml does not get every variable"},
	"internal/strictjson":     {},
	"internal/safetext":       {},
	"internal/platform/clock": {"internal/lease": "an instant is what a term is measured by"},
	"internal/platform/notify": {
		"internal/platform/proc": "the command is a shell's, and programs are looked for outside of the project",
		"internal/safetext":      "what services answer is shown with marks for hidden characters",
	},
	"internal/outbox": {
		"internal/agreement":           "no channel of a project's file is used that no person has agreed to",
		"internal/config":              "[notify], of the project and of the person",
		"internal/format":              "texts of others stand behind a bar",
		"internal/jsontime":            "times in JSON have one form",
		"internal/platform/atomicfile": "what was sent stays recorded after a power cut",
		"internal/platform/filelock":   "one process at a time sends",
		"internal/platform/notify":     "the channels",
		"internal/rootfs":              "its files are opened without following a link",
		"internal/safetext":            "texts of agents are sent with marks for hidden characters",
		"internal/trust":               "the record of what was agreed to",
		"internal/worktree/gitpath":    "a folder in a command is quoted for the shell",
	},
	"internal/platform/atomicfile": {"internal/rootfs": "no link is followed"},
	"internal/platform/movedir": {
		"internal/platform/atomicfile": "a folder that was moved is there after a power cut",
		"internal/rootfs":              "no link is followed",
	},
	"internal/platform/atomicfile/atomicfiletest": {"internal/platform/atomicfile": "it sees each operation before it is done"},

	"internal/server/tokens": {
		"internal/platform/atomicfile": "a revoked token stays revoked after a power cut",
		"internal/platform/filelock":   "one process at a time replaces the file",
		"internal/rootfs":              "its files are opened without following a link",
		"internal/safetext":            "names have a form",
		"internal/state":               "a token has a role",
	},
	"internal/platform/filelock": {"internal/rootfs": "it says what lies in place of a lock file"},
	"internal/rootfs":            {},
	"internal/nearest":           {},
	"internal/sandbox":           {"internal/rootfs": "whether a path lies in a folder", "internal/platform/proc": "ferrus starts itself as a stage"},
	"internal/sandbox/attack":    {"internal/sandbox": "what is tried under it"},
	"internal/sandbox/toolchain": {"internal/rootfs": "whether a path lies in a folder"},

	"internal/relay": {
		"internal/platform/proc": "a server dies with the process that listens",
		"internal/rootfs":        "the file of a ticket is read bounded, and only where it is a regular one",
	},

	"internal/rootfs/rootfstest": {"internal/test/kit": "which entries are tried without -full"},
	"internal/web/access":        {},
	"internal/web/patch":         {"internal/safetext": "hidden characters of a patch are marked"},
	"internal/web/drafts": {
		"internal/platform/atomicfile": "a comment survives a power cut",
		"internal/platform/filelock":   "one at a time changes the drafts",
		"internal/refusal":             "what cannot be saved has a code and a remedy",
		"internal/rootfs":              "no link is followed",
		"internal/safetext":            "names have a form, and texts marks for hidden characters",
	},
	"internal/web": {
		"internal/act":            "what a person can do is shown as forms",
		"internal/agents":         "the output of an agent is shown in words",
		"internal/agents/process": "the runs of agents, and their output",
		"internal/conductor":      "where the runs of a task are recorded",
		"internal/differences":    "a notice about hidden characters of a patch",
		"internal/engine":         "it opens a machine for reading",
		"internal/format":         "durations and lines for people",
		"internal/history":        "the log up to a damaged line, and that of an archived task",
		"internal/project":        "where a project and its machines live",
		"internal/refusal":        "what is refused has a code and a remedy",
		"internal/rootfs":         "no link is followed",
		"internal/safetext":       "output is shown with marks for hidden characters",
		"internal/state":          "the form of the id of a task",
		"internal/status":         "the read model",
		"internal/store":          "the lines of an archived journal",
		"internal/web/access":     "who may see the page",
		"internal/web/drafts":     "comments on lines of a patch",
		"internal/web/patch":      "patches",
	},
	"internal/cli/web": commands("act cli cli/setup engine project server/web web"),

	"internal/trust": {
		"internal/jsontime":            "times in JSON have one form",
		"internal/platform/filelock":   "one process at a time replaces the record of a project",
		"internal/platform/atomicfile": "an agreement is there or not after a power cut",
		"internal/rootfs":              "its folder is opened for that",
	},
	"internal/test/kit": {"internal/trust": "the variables that name its folders"},

	"internal/checks": {
		"internal/environ":           "the variables that no command gets are matched by patterns",
		"internal/rootfs":            "the log of a check is made without following a link",
		"internal/platform/proc":     "a command ends with everything that it started",
		"internal/platform/filelock": "a check whose lock is free was abandoned",
		"internal/safetext":          "models and people are given tails of output with marks for hidden characters",
	},
	"internal/environ": {},
	"internal/git": {
		"internal/platform/proc": "a call of another repository ends with everything that it started",
		"internal/rootfs":        "a file of rules that is a FIFO is named as it names one",
	},
	"internal/worktree": {
		"internal/git":                 "it asks git",
		"internal/rootfs":              "its private folder is reached without following links",
		"internal/worktree/filestat":   "a file that has not changed is known by what the file system says of it",
		"internal/worktree/gitpath":    "git lists paths",
		"internal/worktree/repository": "what it asks, keeps and reads goes through the repository of the work tree",
	},
	"internal/worktree/restore": {
		"internal/git":                 "it asks git",
		"internal/platform/atomicfile": "what was moved out is there after a power cut",
		"internal/platform/filelock":   "a move that is at work is left alone",
		"internal/rootfs":              "no link is followed",
		"internal/worktree":            "the tree that the files are now, and what is no part of it",
		"internal/worktree/filestat":   "it asks whether a file is there",
		"internal/worktree/gitpath":    "git lists paths",
		"internal/worktree/repository": "edits are saved there",
	},
	"internal/worktree/checkout": {
		"internal/git":                 "it has git make files",
		"internal/platform/atomicfile": "the list of what a set-up made is whole",
		"internal/platform/filelock":   "a checkout is the work of one process at a time",
		"internal/rootfs":              "no link is followed",
		"internal/worktree":            "which files are left out of trees",
		"internal/worktree/filestat":   "a file that has not changed is known by what the file system says of it",
		"internal/worktree/gitpath":    "git lists paths",
		"internal/worktree/repository": "what is laid out is a tree of it",
	},
	"internal/worktree/worktreetest": {
		"internal/test/kit": "the surroundings of test programs",
		"internal/worktree": "it opens work trees",
	},
	"internal/worktree/repository": {
		"internal/git":                 "it asks git",
		"internal/platform/atomicfile": "what git was asked to keep is there after a power cut",
		"internal/platform/filelock":   "one process at a time makes or removes a linked work tree",
		"internal/platform/proc":       "programs are looked for outside of the project",
		"internal/rootfs":              "its private folder is reached without following links",
		"internal/worktree/filestat":   "it asks whether a file is there",
		"internal/worktree/gitpath":    "git lists paths",
	},
	"internal/worktree/exchange": {
		"internal/git":                 "it asks git",
		"internal/safetext":            "what a host says is shown with marks for hidden characters",
		"internal/worktree/repository": "what is sent and fetched are its objects",
	},
	"internal/worktree/guest": {
		"internal/git":                 "its error of a missing repository, and a person's name and address",
		"internal/rootfs":              "no link is followed",
		"internal/worktree/gitpath":    "paths and values in files of git are quoted",
		"internal/worktree/repository": "the repository whose objects an agent reads",
	},
	"internal/worktree/filestat": {},
	"internal/worktree/gitpath":  {"internal/safetext": "the name of a file may hold hidden characters"},
	"internal/rules": {
		"internal/nearest": "a misspelt word of a rule is answered with the right one",
		"internal/state":   "the events that rules follow, and what the engine may do after them",
	},
	"internal/config": {
		"internal/rules":   "[[rules]] are read and frozen with the rest",
		"internal/nearest": "a misspelt key is answered with the right one",
		"internal/agents":  "the agents that ferrus.toml may name",
		"internal/rootfs":  "a project's file is read bounded, and only where it is a regular one",
		"internal/trust":   "what the project's file makes run is listed as values to be agreed to",
	},

	"internal/store": {
		"internal/jsontime": "times in JSON have one form",
		"internal/safetext": "what it accepts from others is stored with marks for hidden characters",
		"internal/state":    "what it stores is a task",
		"internal/lease":    "a snapshot has the term of the lease; a session is probed",
	},
	"internal/store/live": {
		"internal/rootfs":            "its record is opened without following a link",
		"internal/lease":             "a lock answers a probe",
		"internal/platform/filelock": "a session lives as long as its lock is held",
	},
	"internal/store/file": {
		"internal/store/live":          "which sessions live on this computer",
		"internal/jsontime":            "times in JSON have one form",
		"internal/lease":               "STATE.json shows the term; a liveness lock answers a probe",
		"internal/platform/clock":      "terms are measured by the clock of this computer",
		"internal/platform/atomicfile": "a branch begins with a copy of a journal that survives a power cut",
		"internal/platform/filelock":   "a session lives as long as its lock is held",
		"internal/rootfs":              "no link is followed in its folder",
		"internal/state":               "what it stores is a task, and what it judges by is Step",
		"internal/store":               "it is one of its stores",
	},
	"internal/store/postgres": {
		"internal/store/live":          "which sessions live on this computer",
		"internal/lease":               "terms are measured by the clock of the database; its rows answer a probe",
		"internal/platform/atomicfile": "the folder of a branch is there when the power fails",
		"internal/platform/filelock":   "a session of this computer has a lock",
		"internal/platform/clock":      "when the database last heard of this computer, for the shims",
		"internal/state":               "an event that makes files or claims the work says where the newest files are",
		"internal/store":               "it is one of its stores",
	},
	"internal/queue": {
		"internal/platform/atomicfile": "an accepted task stays when the power fails",
		"internal/safetext":            "a task is cleaned when it is accepted",
		"internal/project":             "whether the tasks of a project wait in its files or in a database",
		"internal/store/postgres":      "tasks wait in a table of the database",
		"internal/rootfs":              "its folder and files are opened without following a link",
		"internal/state":               "the name of a task that waits is one that a branch can have",
		"internal/store":               "a text is one that a document can have",
	},
	"internal/refusal": {
		"internal/trust":             "the record of a project outside of it",
		"internal/store":             "journals and their lines",
		"internal/state":             "states and events",
		"internal/rootfs":            "no link is followed",
		"internal/platform/filelock": "one process at a time",
		"internal/git":               "its error of a missing repository",
		"internal/worktree/checkout": "its error of a checkout that is in use",
		"internal/worktree/restore":  "its errors of files that are in the way",
	},
	"internal/sharing": {
		"internal/config":            "where the runs of pipelines are",
		"internal/lease":             "what a probe of a session says",
		"internal/platform/filelock": "who works has a lock",
		"internal/store/live":        "sessions of this computer",
		"internal/queue":             "the tasks that wait move along",
		"internal/project":           "where a project and its machines live",
		"internal/refusal":           "what is refused has a code and a remedy",
		"internal/state":             "documents and names of branches",
		"internal/store":             "journals and their lines",
		"internal/store/file":        "journals arrive in files",
		"internal/store/postgres":    "journals arrive in a database",
		"internal/trust":             "the record of a project outside of it",
	},
	"internal/project": {
		"internal/config":            "how long this computer may be silent",
		"internal/lease":             "the clock by which a computer is heard of",
		"internal/store/live":        "shims learn when the database last heard of this computer",
		"internal/store/postgres":    "it opens the machine of a place, wherever that is kept",
		"internal/trust":             "which database has a project, a person has said",
		"internal/store/file":        "it opens the machine of a place, wherever that is kept",
		"internal/worktree":          "git, asked about a work tree",
		"internal/store":             "journals and their lines",
		"internal/state":             "states and events",
		"internal/rootfs":            "no link is followed",
		"internal/refusal":           "what is refused has a code and a remedy",
		"internal/platform/filelock": "one process at a time",
	},
	"internal/published": {
		"internal/config":              "the git remote is a person's choice",
		"internal/document":            "why files were not published is a line of the task",
		"internal/format":              "of that line",
		"internal/safetext":            "the git remote may have said anything",
		"internal/lease":               "whether a session lives",
		"internal/remote":              "sessions of callers over the network",
		"internal/store/live":          "whether it lives on this computer",
		"internal/project":             "the id of a project in its database",
		"internal/refusal":             "what is refused has a code and a remedy",
		"internal/state":               "which trees and which commit a task names",
		"internal/store":               "the epoch that the journal has",
		"internal/worktree":            "what is published is a tree",
		"internal/worktree/exchange":   "it pushes and fetches",
		"internal/worktree/repository": "what is fetched goes into one",
	},
	"internal/origin": {
		"internal/store/file": "the journal and its copy, judged before anything in it is used",
		"internal/state":      "states and events",
		"internal/format":     "counts of things",
		"internal/worktree":   "git, asked about a work tree",
		"internal/rootfs":     "no link is followed",
		"internal/trust":      "the record of a project outside of it",
		"internal/store":      "journals and their lines",
		"internal/refusal":    "what is refused has a code and a remedy",
		"internal/project":    "where a project and its machines live",
	},
	"internal/snapshots": {
		"internal/worktree": "trees of files, and private checkouts",
		"internal/state":    "states and events",
		"internal/refusal":  "what is refused has a code and a remedy",
	},
	"internal/gc": {
		"internal/store/file":        "the journal of a removed branch",
		"internal/worktree/checkout": "private checkouts",
		"internal/trust":             "the record of a project outside of it",
		"internal/store":             "journals and their lines",
		"internal/state":             "states and events",
		"internal/snapshots":         "names of kept trees",
		"internal/rootfs":            "no link is followed",
		"internal/refusal":           "what is refused has a code and a remedy",
		"internal/project":           "where a project and its machines live",
	},
	"internal/document": {
		"internal/store":    "journals and their lines",
		"internal/safetext": "a text of which nothing is seen is empty",
		"internal/refusal":  "what is refused has a code and a remedy",
	},
	"internal/packet": {
		"internal/store":   "journals and their lines",
		"internal/state":   "states and events",
		"internal/refusal": "what is refused has a code and a remedy",
		"internal/checks":  "what a check said",
	},
	"internal/agreement": {
		"internal/store":             "journals and their lines",
		"internal/state":             "states and events",
		"internal/trust":             "the record of a project outside of it",
		"internal/rootfs":            "no link is followed",
		"internal/refusal":           "what is refused has a code and a remedy",
		"internal/project":           "where a project and its machines live",
		"internal/pipeline/workflow": "the values of workflows.json",
		"internal/format":            "counts of things",
		"internal/config":            "the values of ferrus.toml",
		"internal/agents":            "which settings of clients run commands",
	},
	"internal/settings": {
		"internal/trust":   "the record of a project outside of it",
		"internal/store":   "journals and their lines",
		"internal/state":   "states and events",
		"internal/rootfs":  "no link is followed",
		"internal/refusal": "what is refused has a code and a remedy",
		"internal/environ": "the environment that is frozen with a task",
		"internal/config":  "ferrus.toml",
	},
	"internal/checkrun": {
		"internal/state":               "a task counts the checks during which the same files changed",
		"internal/worktree/guest":      "submodules are put back after a check in a sandbox",
		"internal/worktree/repository": "the work tree in which a check runs",
		"internal/confine":             "the git directory of an executor in a sandbox",
		"internal/sandbox":             "what an agent wrote runs in a sandbox",
		"internal/sandbox/toolchain":   "the folders of the tools that check commands use",
		"internal/platform/proc":       "ferrus starts itself as a stage",
		"internal/platform/atomicfile": "which checks were tried is added to a list",
		"internal/rootfs":              "whether a path lies in a folder",
		"internal/worktree/checkout":   "private checkouts",
		"internal/worktree":            "trees of files, and private checkouts",
		"internal/store":               "journals and their lines",
		"internal/refusal":             "what is refused has a code and a remedy",
		"internal/project":             "where a project and its machines live",
		"internal/gc":                  "where private checkouts are",
		"internal/document":            "texts are checked and rendered",
		"internal/config":              "ferrus.toml",
		"internal/checks":              "the commands of a check run",
	},
	"internal/engine/enginetest": {
		"internal/test/sharedtest":   "a machine may be in a database",
		"internal/test/postgrestest": "two computers share a database",
		"internal/sharing":           "a project moves into it, and another clone joins",
		"internal/sandbox":           "what an agent wrote runs in a sandbox",
		"internal/branch":            "branches, and merges of them",
		"internal/platform/proc":     "?",
		"internal/trust":             "the record of a project",
		"internal/config":            "ferrus.toml",
		"internal/agreement":         "what is agreed to",
		"internal/test/kit":          "how every test of the project runs",
		"internal/checks":            "a test process may be the helper of a check",
		"internal/rootfs":            "?",
		"internal/gc":                "what is removed",
		"internal/lease":             "a clock that tests move",
		"internal/store":             "lines of the journal",
		"internal/state":             "states and roles",
		"internal/refusal":           "what a test expects to be refused",
		"internal/project":           "where the project lives",
		"internal/engine":            "tests act through it",
	},
	"internal/remote": {
		"internal/refusal":  "what is refused has a code and a remedy",
		"internal/document": "texts are clipped",
	},
	"internal/differences": {
		"internal/worktree":         "trees of files",
		"internal/state":            "states and events",
		"internal/document":         "texts are clipped",
		"internal/project":          "the patch of a submission is a file of a place",
		"internal/refusal":          "what is refused has a code and a remedy",
		"internal/rootfs":           "a patch that is there is not made again",
		"internal/git":              "two questions to git are asked together",
		"internal/safetext":         "hidden characters of a patch are named and marked",
		"internal/worktree/gitpath": "files that commits have are compared with those of the work",
	},
	"internal/act": {
		"internal/refusal": "what is refused has a code and a remedy",
	},
	"internal/engine": {
		"internal/status/notice":     "no rule approves what a reviewer would be told more about",
		"internal/published":         "work trees are published before the journal line that names them",
		"internal/rules":             "which step follows an event without a model",
		"internal/differences":       "what a patch does not show",
		"internal/remote":            "sessions of callers over the network",
		"internal/settings":          "what is configured and frozen",
		"internal/checkrun":          "the commands of a check run by it",
		"internal/agreement":         "what a project makes run must have been agreed to",
		"internal/gc":                "what ended tasks have left",
		"internal/packet":            "what a successor is given",
		"internal/document":          "texts are checked and rendered",
		"internal/format":            "counts of things",
		"internal/snapshots":         "names of kept trees",
		"internal/project":           "where a project and its machines live",
		"internal/origin":            "whether state was made here",
		"internal/refusal":           "what is refused has a code and a remedy",
		"internal/store":             "an act is one commit",
		"internal/rootfs":            "what lies below .ferrus is reached, and set aside, without following links",
		"internal/state":             "it raises the events",
		"internal/lease":             "it grants, renews and takes over",
		"internal/platform/clock":    "terms are measured by it",
		"internal/checks":            "it runs the gate and raises its verdict",
		"internal/safetext":          "a text of which nothing is seen is empty",
		"internal/worktree":          "a verdict belongs to a tree",
		"internal/git":               "there may be no git, or no repository",
		"internal/config":            "the gate is pinned when a task is created",
		"internal/environ":           "what decides what a program is is frozen with the task",
		"internal/platform/filelock": "a branch, and a merge, is the work of one process at a time",
		"internal/trust":             "what is frozen or started must have been agreed to",
		"internal/pipeline/workflow": "what workflows.json makes run is part of that",
		"internal/agents":            "which arguments of an agent a project may set",
		"internal/worktree/checkout": "the gate may judge a tree laid out in a folder of its own",
		"internal/worktree/restore":  "a rollback, a merge and the end of a branch replace files",
	},
	"internal/delegate": {
		"internal/packet":            "messages of its relatives",
		"internal/branch":            "a delegate works on a branch, and its work is merged from there",
		"internal/engine":            "what it carries out are acts of two machines",
		"internal/platform/filelock": "one process at a time settles the delegates of a task",
		"internal/project":           "where branches lie, and those that were removed",
		"internal/refusal":           "what is refused has a code and a remedy",
		"internal/snapshots":         "the name under which the first files of a delegate are saved",
		"internal/state":             "delegates and decisions about them",
		"internal/store":             "lines of the journal",
	},
	"internal/tools/wire": {
		"internal/nearest":  "a wrong argument is answered with the right one",
		"internal/safetext": "arguments have marks for hidden characters",
	},
	"internal/callog": {"internal/rootfs": "logs are read without following a link"},
	"internal/stack": {
		"internal/agents":            "the output of a client is read by its adapter",
		"internal/agents/process":    "the records of runs",
		"internal/callog":            "the calls that servers have answered",
		"internal/engine":            "the journal and the folders of a machine",
		"internal/pipeline/run":      "the workers of pipelines are agents, too",
		"internal/pipeline/workflow": "which worker is a command",
		"internal/rootfs":            "logs are read without following a link",
		"internal/safetext":          "texts of models are shown to people",
		"internal/state":             "roles and events",
		"internal/store":             "lines of the journal",
	},
	"internal/tools/gate": {
		"internal/callog":   "it writes the lines of the log",
		"internal/jsontime": "the result of a call that did not end is like every other",
		"internal/safetext": "answers have marks for hidden characters",
	},
	"internal/tools": {
		"internal/checkrun":          "what to do about files that a check writes",
		"internal/confine":           "an executor in a sandbox reads logs in a folder of its own",
		"internal/pipeline/workflow": "a pipeline that is queued must exist",
		"internal/status/notice":     "whose variables run the checks",
		"internal/branch":            "branches, and merges of them",
		"internal/delegate":          "an executor delegates",
		"internal/document":          "texts are checked and rendered",
		"internal/packet":            "what a successor is given",
		"internal/project":           "where a project and its machines live",
		"internal/refusal":           "what is refused has a code and a remedy",
		"internal/jsontime":          "times in JSON have one form",
		"internal/tools/wire":        "definitions and arguments are those of every server",
		"internal/tools/gate":        "what every call passes",
		"internal/safetext":          "resources have marks for hidden characters",
		"internal/engine":            "a tool is an act of the engine with words around it",
		"internal/queue":             "a supervisor may put a task into it",
		"internal/store":             "documents and refusals of the store are results of tools",
		"internal/state":             "roles, states and refusals",
		"internal/lease":             "results say until when the task is claimed",
		"internal/checks":            "results show what a check said",
		"internal/worktree":          "review packets show what the work changed",
		"internal/callog":            "a line says which task and entry a call belongs to",
	},
	"internal/server/web": {
		"internal/state":             "a token has a role, and a role has a server",
		"internal/server/tokens":     "who comes over HTTP is who the token says",
		"internal/platform/filelock": "one server listens at a socket",
	},
	"internal/server/conformance": {
		"internal/server/web":    "the suite is run against the real handlers",
		"internal/state":         "the role of the token",
		"internal/server/tokens": "the suite has none of its own",
	},
	"internal/server": {
		"internal/nearest":         "a misspelt flag is answered with the right one",
		"internal/sandbox":         "what an agent wrote runs in a sandbox",
		"internal/callog":          "the names of its logs",
		"internal/agents/process":  "the slot of its agent names the run",
		"internal/refusal":         "what is refused has a code and a remedy",
		"internal/project":         "where a project and its machines live",
		"internal/safetext":        "names have a form",
		"internal/ancestry":        "a supervisor's server does not start below an executor, and a decision names its process tree",
		"internal/server/web":      "it lets clients in over HTTP",
		"internal/platform/proc":   "a signal ends it",
		"internal/tools":           "it serves them",
		"internal/pipeline/worker": "it serves a worker",
		"internal/engine":          "it opens the engine of the root and the branch that it was started in",
		"internal/store":           "it finds the root and holds the session's liveness lock",
		"internal/state":           "roles",
		"internal/checks":          "it ends the check of a session that ends, and becomes its helper when told to",
		"internal/worktree":        "it finds the main work tree from a linked one",
		"internal/config":          "waits, limits and leases are configured",
		"internal/server/tokens":   "over HTTP a client is whom its token names",
		"internal/trust":           "it opens the record of the project that it serves",
	},
	"internal/mcpclient": {"internal/tools": "a client gets its results"},
	"internal/e2e":       {},
	"internal/agents": {
		"internal/callog":   "a call in the output of an agent is found in the log of our server",
		"internal/environ":  "variables of an environment are looked up",
		"internal/state":    "roles",
		"internal/rootfs":   "an error names a path once",
		"internal/safetext": "what agents print is shown to people",
	},
	"internal/agents/register": {
		"internal/platform/atomicfile": "what it has written, and the record of it, are there after a power cut",
		"internal/platform/filelock":   "one process at a time replaces the record",
		"internal/rootfs":              "no link leads it out of the project",
		"internal/agents":              "it writes into a client's own files how to start our server",
	},
	"internal/ancestry": {"internal/rootfs": "whether a shim is one of the project"},
	"internal/agents/process": {
		"internal/platform/clock":      "an agent is killed before others take its computer for lost",
		"internal/store/live":          "other computers know a shim by a session",
		"internal/sandbox":             "the exit code of a sandbox that cannot be entered",
		"internal/confine":             "an executor starts in its sandbox",
		"internal/platform/atomicfile": "a run that was begun is counted after a power cut",
		"internal/ancestry":            "a shim is recognised by its arguments",
		"internal/safetext":            "names have a form",
		"internal/rootfs":              "its files are opened without following a link",
		"internal/agents":              "a slot starts what an adapter launches, and reads what it prints",
		"internal/platform/proc":       "an agent ends with everything that it started",
		"internal/platform/filelock":   "a slot is taken as long as its lock is held",
	},
	"internal/test/model":   {},
	"internal/test/golden":  {},
	"internal/test/tlstest": {},
	"internal/test/postgrestest": {
		"internal/platform/proc": "a killed server is gone when all of its processes are",
	},
	"internal/test/sharedtest": {
		"internal/project":           "where a project and its machines live",
		"internal/sharing":           "it moves them into a database",
		"internal/store":             "journals have a name",
		"internal/test/postgrestest": "which the test program starts",
	},
	"internal/test/storetest": {
		"internal/lease": "what a probe of a session says",
		"internal/state": "states and documents",
		"internal/store": "what every store promises",
	},
	"internal/test/faults":  {},
	"test/stress":           {},
	"test/systems":          {},
	"internal/bench":        {"internal/mcpclient": "it drives servers as a client does"},
	"internal/bench/bare":   {},
	"internal/e2e/clients":  {},
	"internal/e2e/machines": {},
	"internal/e2e/nodes":    {},

	"internal/checkrun/suites": {},
	"internal/branch": {
		"internal/worktree/gitpath":  "paths that are ignored are printed",
		"internal/differences":       "which files are the work of a task",
		"internal/confine":           "a branch that is removed has no work tree that an executor has changed",
		"internal/document":          "texts are checked and rendered",
		"internal/rootfs":            "no link is followed",
		"internal/platform/filelock": "one process at a time makes a branch or merges",
		"internal/config":            "checks and set-up are configured",
		"internal/checks":            "what a check said",
		"internal/checkrun":          "checks judge what is merged",
		"internal/worktree/restore":  "files are moved without losing an edit",
		"internal/worktree":          "trees of files",
		"internal/store":             "journals and their lines",
		"internal/state":             "states and events",
		"internal/snapshots":         "files are saved for entries",
		"internal/refusal":           "what is refused has a code and a remedy",
		"internal/project":           "where a project and its machines live",
		"internal/gc":                "private checkouts go with a branch",
		"internal/engine":            "it acts through it",
		"internal/lease":             "whether a session lives",
		"internal/store/live":        "no files are fetched under the hands of an agent of this computer",
	},
	"internal/confine": {
		"internal/worktree/gitpath":    "names of submodules are shown",
		"internal/platform/proc":       "ferrus starts itself as a stage",
		"internal/relay":               "the client inside reaches its server outside",
		"internal/rootfs":              "no link is followed",
		"internal/sandbox":             "it enforces what an executor reaches",
		"internal/worktree/guest":      "an executor has a git directory of its own",
		"internal/worktree/repository": "the repository of the work tree",
	},
	"internal/confine/plan": {
		"internal/config":              "what is configured of a sandbox",
		"internal/agents":              "whether a client has what it needs in a sandbox",
		"internal/confine":             "it makes what is planned",
		"internal/environ":             "variables of an environment are looked up",
		"internal/platform/proc":       "ferrus starts itself as a stage",
		"internal/project":             "where a project and its machines live",
		"internal/refusal":             "what is refused has a code and a remedy",
		"internal/rootfs":              "whether a path lies in a folder",
		"internal/sandbox":             "whether a mechanism holds",
		"internal/sandbox/toolchain":   "the folders of the tools that an executor uses",
		"internal/trust":               "the person's folders, which nobody is given",
		"internal/worktree":            "the git directory of a project",
		"internal/worktree/guest":      "which repositories an executor cannot have",
		"internal/worktree/repository": "the repository of the project",
	},
	"internal/post": {
		"internal/store/postgres": "the post of a machine is a row of the database",
		"internal/store/live":     "when the database last heard of this computer",
		"internal/store":          "a machine in files needs no post",
		"internal/agents":         "the duties of agents",
		"internal/agents/process": "the runs of agents, and the order to start one",
		"internal/project":        "where a project and its machines live",
	},
	"internal/conductor": {
		"internal/format":            "counts of things",
		"internal/post":              "one computer conducts a task that several share",
		"internal/confine":           "the sandbox of an executor",
		"internal/confine/plan":      "whether there can be one, and what it gives",
		"internal/project":           "where a project and its machines live",
		"internal/packet":            "the id of a rollback among the decisions says what was undone",
		"internal/refusal":           "what is refused has a code and a remedy",
		"internal/jsontime":          "times in JSON have one form",
		"internal/rootfs":            "its lock and its record of whom it told are opened without following a link",
		".":                          "the prompts",
		"internal/document":          "a question has options",
		"internal/outbox":            "a person is notified outside of the terminal, once",
		"internal/platform/notify":   "the notifications",
		"internal/platform/proc":     "a conductor that is gone holds nothing up",
		"internal/platform/filelock": "there is one conductor",
		"internal/agents":            "it says who should be alive, and how to launch them",
		"internal/agents/process":    "it starts the one that is missing and ends the one that hangs",
		"internal/engine":            "a budget of starts is spent by an act",
		"internal/store":             "it reads the state and waits for the change notification",
		"internal/state":             "its table is by state",
		"internal/lease":             "it starts nobody while the task is claimed",
		"internal/config":            "agents and limits are configured",
	},
	"internal/step": {
		"internal/delegate":          "parts of a task settle before the step decides",
		"internal/family":            "a task and its delegates have one budget",
		"internal/branch":            "branches, and merges of them",
		"internal/conductor":         "it decides once about each task",
		"internal/config":            "whether approved work is merged",
		"internal/engine":            "it opens the task of each branch",
		"internal/fleet":             "a task of the queue becomes a branch, and one of several attempts is merged, as there",
		"internal/pipeline/run":      "it decides once about each pipeline",
		"internal/platform/filelock": "one step at a time",
		"internal/project":           "where a project and its machines live",
		"internal/queue":             "tasks that wait",
		"internal/rootfs":            "no link is followed",
		"internal/state":             "what can go on, is over or waits for a person",
	},
	"internal/score": {
		"internal/branch":   "attempts are branches",
		"internal/engine":   "a score is entered as an event of the task",
		"internal/checkrun": "the score command runs as a check does",
		"internal/checks":   "what the command printed, and how it ended",
		"internal/config":   "the frozen gate has the command",
		"internal/document": "texts are clipped",
		"internal/format":   "texts are clipped",
		"internal/refusal":  "what is refused has a code and a remedy",
		"internal/state":    "which work can be scored",
		"internal/store":    "a score is of one snapshot",
	},
	"internal/family": {
		"internal/agents":         "what an agent reports to have used",
		"internal/agents/process": "what the agents of delegates have used",
		"internal/conductor":      "the task and each delegate have a conductor",
		"internal/delegate":       "what the journal asks for is carried out",
		"internal/engine":         "it looks at the machine of the task",
		"internal/project":        "where branches lie",
		"internal/refusal":        "what is refused has a code and a remedy",
		"internal/state":          "delegates and how they end",
	},
	"internal/fleet": {
		"internal/score":     "approved work is scored, so that attempts can be compared",
		"internal/branch":    "branches, and merges of them",
		"internal/refusal":   "what is refused has a code and a remedy",
		"internal/project":   "where a project and its machines live",
		"internal/conductor": "each branch has a conductor",
		"internal/family":    "and one for each delegate of its task",
		"internal/engine":    "it makes branches and merges them",
		"internal/queue":     "a task that waits becomes a branch",
		"internal/store":     "it looks at branches",
		"internal/state":     "what can go on, is over or waits for a person",
		"internal/config":    "whether approved work is merged",
	},
	"internal/pipeline/workflow/workflowtest": {},
	"internal/pipeline/workflow": {
		"internal/strictjson": "workflows.json is read with the line of every mistake",
		"internal/nearest":    "a misspelt key is answered with the right one",
		"internal/trust":      "what workflows.json makes run is listed as values to be agreed to",
	},
	"internal/pipeline": {
		"internal/pipeline/workflow": "a run follows a workflow",
		"internal/strictjson":        "status.json and dialogues are read with the line of every mistake",
		"internal/jsontime":          "times in JSON have one form",
	},
	"internal/pipeline/run": {
		"internal/jsontime":            "times in JSON have one form",
		"internal/platform/atomicfile": "a run, its journal and its delivery survive a power cut",
		"internal/platform/movedir":    "a finished run is moved to the archive",
		"internal/rootfs":              "the files of runs are opened without following a link",
		"internal/safetext":            "names have a form",
		"internal/pipeline/workflow":   "a run keeps its workflow",
		"internal/pipeline":            "it has done what that decides",
		"internal/config":              "a run keeps what ferrus.toml said when it was launched",
		"internal/agents":              "it says how to launch a worker",
		"internal/agents/process":      "a worker lives in a slot",
		"internal/platform/filelock":   "one tick at a time, one delivery at a time, so many agents at a time",
		"internal/lease":               "an instant, which distinguishes a sleep of the machine from work",
		"internal/platform/clock":      "what it reads",
		"internal/outbox":              "a person is notified outside of the terminal, once",
		"internal/platform/notify":     "the notifications",
		"internal/trust":               "which channels a person has agreed to",
		"internal/platform/proc":       "the command of [deliver]",
	},
	"internal/pipeline/worker": {
		"internal/callog":            "a line says which run and entry a call belongs to",
		"internal/jsontime":          "times in JSON have one form",
		"internal/tools/wire":        "definitions and arguments are those of every server",
		"internal/tools/gate":        "what every call passes",
		"internal/pipeline/run":      "a tool is what an attempt may do, with words around it",
		"internal/pipeline/workflow": "who delivers and who has turns stands in the workflow",
		"internal/pipeline":          "a delivery and an action are named as it names them",
		"internal/config":            "how long a call waits",
	},

	"docs/examples/scripted": {},

	"cmd/ferrusd": {"internal/server": "it is the server and nothing else"},
	"internal/cli": commands("confine/plan outbox platform/notify act settings agreement origin refusal project agents agents/process ancestry checks conductor config engine format jsontime nearest pipeline pipeline/workflow " +
		"platform/proc rootfs safetext state status store strictjson trust worktree/restore"),
	"internal/cli/branch":   commands("branch score refusal snapshots gc project checks cli engine family format conductor state status trust worktree worktree/restore"),
	"internal/cli/demo":     commands("cli config mcpclient platform/proc refusal status tools trust"),
	"internal/cli/doctor":   commands("agreement outbox agents agents/register cli cli/setup conductor config doctor format mcpclient platform/proc refusal sandbox sandbox/attack sandbox sandbox/attack server"),
	"internal/cli/evidence": commands("cli evidence format refusal"),
	"internal/cli/log":      commands("branch refusal project agents cli engine format history conductor jsontime agents/process pipeline/run rootfs safetext stack state status store"),
	"internal/cli/pipeline": commands("queue project refusal agents agents/process cli cli/log config engine format nearest pipeline pipeline/run pipeline/workflow rootfs safetext " +
		"status strictjson worktree"),
	"internal/cli/root": {
		"internal/outbox":         "the end of a command waits a moment for notifications",
		"internal/sandbox":        "what an agent wrote runs in a sandbox",
		"internal/sandbox/attack": "doctor --sandbox tries attacks",
		"internal/state":          "the help has a topic about states and files",
		"internal/status":         "what a state means",
		"internal/trust":          "the help lists environment variables",
		"internal/checks":         "check, and the helper of a check",
		"internal/cli":            "the context of a command, its output and its errors",
		"internal/cli/branch":     "its commands",
		"internal/cli/demo":       "its commands",
		"internal/cli/doctor":     "its commands",
		"internal/cli/evidence":   "its commands",
		"internal/cli/log":        "its commands",
		"internal/cli/pipeline":   "its commands",
		"internal/cli/run":        "its commands",
		"internal/cli/setup":      "its commands",
		"internal/cli/simulate":   "its commands",
		"internal/cli/status":     "its commands",
		"internal/cli/task":       "its commands",
		"internal/cli/ui":         "its command, and what ferrus alone opens",
		"internal/cli/web":        "its commands",
		"internal/pipeline/run":   "pipeline, tick, and the waiting of a worker's shim",
		"internal/platform/proc":  "signals end a command, and the programs of agents are looked for outside of the project",
		"internal/agents/process": "stop, logs, and the shim of an agent",
	},
	"internal/cli/run": commands("branch checks document refusal cli cli/branch cli/pipeline config engine step family fleet format conductor pipeline pipeline/run platform/proc project agents/process " +
		"state status"),
	"internal/cli/setup": commands("sharing store/postgres confine/plan relay outbox platform/notify settings agreement project origin refusal . agents cli config confine engine format gc nearest agents/register rootfs server state status store " +
		"scaffold server/tokens trust worktree worktree/gitpath"),
	"internal/cli/simulate": commands("refusal cli simulate state"),
	"internal/cli/status":   commands("project cli engine format state status"),
	"internal/cli/task":     commands("branch packet project refusal agents checks cli delegate differences engine family fleet format conductor lease queue state status store tools worktree worktree/restore"),
	"internal/cli/ui":       commands("act agents agents/process cli conductor engine platform/proc project refusal rootfs status ui"),
	"internal/ui": {
		"internal/differences": "a notice about hidden characters of a patch",
		"internal/act":         "what a person can do is a command",
		"internal/format":      "durations and counts for people",
		"internal/safetext":    "texts of others are drawn on a terminal",
		"internal/status":      "what is shown",
	},
	"internal/status/notice": {
		"internal/format":   "counts of things",
		"internal/checkrun": "what to do about files that a check writes",
		"internal/state":    "the delegates of a task",
		"internal/refusal":  "what is refused has a code and a remedy",
		"internal/config":   "how ferrus.toml differs from what was frozen",
		"internal/document": "texts are clipped",
	},
	"internal/status": {
		"internal/delegate":         "what the parts of a task do",
		"internal/worktree/gitpath": "a folder in a command is quoted for the shell",
		"internal/differences":      "which files are the work of a task",
		"internal/worktree":         "the size of a change",
		"internal/branch":           "attempts, and what conflicts",
		"internal/history":          "the log of a task",
		"internal/act":              "what a person can do is a command",
		"internal/status/notice":    "what every result tells beside its own matter",
		"internal/document":         "texts are checked and rendered",
		"internal/project":          "where a project and its machines live",
		"internal/refusal":          "what is refused has a code and a remedy",
		"internal/agents":           "what a run used, in tokens and dollars",
		"internal/checks":           "the last check",
		"internal/engine":           "the task and what it waits for",
		"internal/fleet":            "which branches there are",
		"internal/outbox":           "which channels of [notify] failed",
		"internal/format":           "durations, sizes and lines for people",
		"internal/rootfs":           "a patch is shown if it is on this computer",
		"internal/conductor":        "who conducts",
		"internal/jsontime":         "times in JSON have one form",
		"internal/lease":            "until when the task is claimed",
		"internal/pipeline":         "the state of a pipeline",
		"internal/queue":            "the tasks that wait",
		"internal/store":            "the newest progress note",
		"internal/pipeline/run":     "the runs of pipelines",
		"internal/agents/process":   "which agents run",
		"internal/state":            "states and roles",
	},
	"internal/evidence": {
		"internal/agents/process": "the agents that ferrus started, and what they used",
		"internal/conductor":      "where the records of agents are, and what a task has cost",
		"internal/engine":         "the task, its work tree and its patch",
		"internal/format":         "durations, sizes and lines for people",
		"internal/history":        "the journal as events",
		"internal/refusal":        "a task that the journal does not have is refused",
		"internal/rootfs":         "its folder is written, and logs are read, without following links",
		"internal/safetext":       "texts of agents are written with marks for hidden characters",
		"internal/state":          "events, documents and states",
		"internal/status":         "what was used, in words",
		"internal/store":          "its lines and documents",
	},
	"internal/doctor": {
		"internal/checkrun":         "what to do about files that a check writes",
		"internal/store/file":       "the journal and its copy",
		"internal/remote":           "sessions of callers over the network",
		"internal/config":           "what is frozen is compared with ferrus.toml",
		"internal/engine":           "it opens the machine",
		"internal/format":           "durations, sizes and lines for people",
		"internal/gc":               "which checkouts nobody needs",
		"internal/git":              "there may be no git",
		"internal/lease":            "whether a session has ended",
		"internal/origin":           "whether state was made here, and which copy of a journal is valid",
		"internal/platform/proc":    "programs are looked for outside of the project",
		"internal/project":          "where machines and branches are",
		"internal/refusal":          "what an error says, and what helps",
		"internal/rootfs":           "no link is followed",
		"internal/scaffold":         "it repeats what init does",
		"internal/server/tokens":    "who may come over HTTP",
		"internal/state":            "what STATE.json must show",
		"internal/status":           "which pipelines wait",
		"internal/store":            "the journal, its copies and the generated files",
		"internal/trust":            "the record of the project",
		"internal/worktree":         "what git tracks and ignores",
		"internal/worktree/restore": "what a move has left",
	},
	"internal/scaffold": {
		".":                          "the template",
		"internal/pipeline/workflow": "the schema of workflows.json",
		"internal/refusal":           "a .gitignore that cannot be used is refused",
		"internal/rootfs":            "no link is followed",
		"internal/worktree":          "whether git ignores .ferrus already",
	},
	"internal/simulate": {
		"internal/rules":   "which rule follows an event",
		"internal/nearest": "a misspelt event is answered with the right one",
		"internal/engine":  "who is waited for",
		"internal/state":   "it plays the table",
		"internal/status":  "budgets look as in the status",
	},
	"internal/format": {
		"internal/jsontime": "times in JSON have one form",
		"internal/safetext": "lines have marks for hidden characters",
	},
	"internal/history": {
		"internal/document": "texts are checked and rendered",
		"internal/engine":   "it opens the project",
		"internal/format":   "durations, sizes and lines for people",
		"internal/state":    "events and roles",
		"internal/store":    "its lines",
	},
	"internal/test/projecttest": {
		"internal/store/file":      "it makes a machine",
		"internal/test/sharedtest": "which may be in a database",
		"internal/project":         "where a project and its machines live",
		"internal/engine":          "it opens the project",
		"internal/state":           "events and roles",
		"internal/store":           "its lines",
	},
	"cmd/ferrus": {"internal/cli/root": "the command line"},
}

// forCommands says why a package of commands imports another.
var forCommands = map[string]string{
	"internal/sandbox":           "the sandboxes of this machine",
	"internal/sharing":           "where the state is kept",
	"internal/store/postgres":    "the computers that take part",
	"internal/sandbox/attack":    "doctor --sandbox tries attacks",
	"internal/act":               "what a person can do is a command",
	"internal/branch":            "branches, and merges of them",
	"internal/family":            "a task runs with its delegates",
	"internal/step":              "step",
	"internal/delegate":          "a rollback takes the delegates of a task back",
	"internal/differences":       "diff says which hidden characters there are",
	"internal/score":             "attempts are scored, and the best one is taken",
	"internal/settings":          "what is configured and frozen",
	"internal/packet":            "what a successor is given",
	"internal/agreement":         "what a project makes run must have been agreed to",
	"internal/document":          "texts are checked and rendered",
	"internal/refusal":           "what is refused has a code and a remedy",
	"internal/project":           "where a project and its machines live",
	"internal/origin":            "whether state was made here",
	"internal/gc":                "what ended tasks have left",
	"internal/snapshots":         "what is saved without a task",
	".":                          "init writes the template and the example",
	"internal/agents":            "agents, logs and the clients that the doctor looks at",
	"internal/ancestry":          "a person's verbs do not run below an agent, and a decision names its process tree",
	"internal/ui":                "the screen",
	"internal/checks":            "check, and the helper of a check",
	"internal/cli":               "the context of a command, its output and its errors",
	"internal/cli/branch":        "run --parallel shows the attempts",
	"internal/cli/log":           "the output of an agent is shown as ferrus logs shows it",
	"internal/cli/pipeline":      "tick moves pipelines",
	"internal/cli/setup":         "doctor repeats what init and register do",
	"internal/relay":             "connect joins an agent in a sandbox to its server",
	"internal/config":            "config",
	"internal/mcpclient":         "the demonstration drives real servers",
	"internal/engine":            "a person's verbs are acts like any other",
	"internal/fleet":             "run --parallel",
	"internal/format":            "durations, sizes and lines for people",
	"internal/history":           "the journal as events",
	"internal/conductor":         "run and resume",
	"internal/confine":           "uninstall takes the sandboxes of branches away",
	"internal/worktree/gitpath":  "a folder in a command is quoted for the shell",
	"internal/confine/plan":      "a sandbox that cannot be made is refused before a run",
	"internal/jsontime":          "times in JSON have one form",
	"internal/lease":             "status shows who holds the work",
	"internal/pipeline":          "pipeline",
	"internal/pipeline/workflow": "workflows.json",
	"internal/pipeline/run":      "pipeline, tick, and the waiting of a worker's shim",
	"internal/platform/proc":     "signals end a command, and the programs of agents are looked for outside of the project",
	"internal/queue":             "queue",
	"internal/agents/register":   "register and unregister",
	"internal/rootfs":            "what lies in a project is opened without following a link",
	"internal/safetext":          "texts of agents are shown on a terminal",
	"internal/server":            "serve and token",
	"internal/server/web":        "which addresses other machines can reach",
	"internal/web":               "web",
	"internal/nearest":           "a misspelt word is answered with the right one",
	"internal/scaffold":          "init, and doctor, which repeats it",
	"internal/doctor":            "doctor",
	"internal/outbox":            "which channels of [notify] failed, and tests of them",
	"internal/platform/notify":   "the channels of [notify]",
	"internal/simulate":          "simulate",
	"internal/stack":             "stack",
	"internal/evidence":          "evidence",
	"internal/agents/process":    "stop, logs, and the shim of an agent",
	"internal/state":             "status",
	"internal/status":            "the read model",
	"internal/store":             "log, show, doctor",
	"internal/server/tokens":     "token",
	"internal/tools":             "context shows what they give",
	"internal/trust":             "trust, and the record of every project that is opened",
	"internal/worktree":          "diff, branch, merge",
	"internal/worktree/restore":  "a rollback or a merge says what it did to files",
	"internal/git":               "doctor asks whether there is git",
	"internal/strictjson":        "the mistakes of workflows.json",
}

// commands are the imports of a package of commands, by their names below internal; a dot is the root.
func commands(names string) map[string]string {
	of := map[string]string{}
	for name := range strings.FieldsSeq(names) {
		imported := path.Join("internal", name)
		if name == "." {
			imported = name
		}
		of[imported] = forCommands[imported]
	}
	return of
}

// exceptions are uses that are forbidden elsewhere, with the reason.
var exceptions = map[string]string{
	"internal/cli/root os.Exit":         "it is the main function of ferrus, where tests can call it",
	"internal/checks os.Exit":           "the helper of a check is a process of its own that no main of ours has begun",
	"internal/sandbox os.Exit":          "a stage becomes the command, or ends",
	"internal/sandbox/attack os.Exit":   "a process that is an attack says by its code what came of it",
	"internal/checks os.Stdout":         "the helper tells its parent the outcome, over a pipe",
	"internal/agents/process os.Exit":   "the shim of an agent is a process of its own that no main of ours has begun",
	"internal/agents/process os.Stdout": "the shim tells its starter how the start went, over a pipe",
	"internal/server os.Stdout":         "the stream of the protocol",

	"internal/platform/proc path/filepath.Glob":     "the folder is /proc",
	"internal/ancestry path/filepath.Glob":          "the folder is /proc",
	"internal/bench path/filepath.Glob":             "it is no part of ferrus",
	"internal/test/faults path/filepath.Glob":       "it is no part of ferrus",
	"internal/test/postgrestest path/filepath.Glob": "it is no part of ferrus",
}

var (
	// pure packages get time and randomness as arguments and touch nothing outside.
	pure    = []string{"internal/lease", "internal/state", "internal/pipeline", "internal/pipeline/workflow", "internal/rules"}
	impure  = []string{"os", "io/fs", "path/filepath", "net", "syscall", "log", "math/rand", "crypto/rand", "golang.org/x/sys"}
	clock   = []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"}
	exits   = []string{"os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "syscall.Exit"}
	prints  = []string{"fmt.Print", "fmt.Printf", "fmt.Println", "os.Stdout"}
	maximum = 400 // lines of a file that a person writes
)

func TestImportsFollowTheTable(t *testing.T) {
	for _, c := range inspect(os.DirFS("..")) {
		t.Error(c)
	}
}

// TestEveryBrokenRuleIsSeen plants each of them once, so that none of the rules is a rule in name only.
func TestEveryBrokenRuleIsSeen(t *testing.T) {
	const doc = "// Package x is a package.\n"
	long := strings.Repeat("// A line.\n", maximum)
	for _, c := range []struct{ file, text, want string }{
		{"internal/state/a.go", doc + "package state\nimport _ \"" + module + "/internal/lease\"", ""},
		{"internal/lease/a.go", doc + "package lease\nimport _ \"" + module + "/internal/state\"",
			"internal/lease/a.go:3: internal/lease may not import internal/state"},
		{"internal/engine/a.go", doc + "package engine\nimport _ \"" + module + "/internal/conductor\"",
			"internal/engine/a.go:3: internal/engine may not import internal/conductor"},
		{"internal/checks/a_windows.go", doc + "package checks\nimport _ \"" + module + "/internal/state\"",
			"internal/checks/a_windows.go:3: internal/checks may not import internal/state"},
		{"internal/checks/a_test.go", doc + "package checks\nimport _ \"" + module + "/internal/state\"", ""},
		{"internal/util/a.go", doc + "package util", "internal/util: not in the import table: decide, and add it to internal/imports_test.go"},

		{"internal/state/a.go", "package state", "internal/state: no package comment"},
		{"internal/state/a.go", "// State is a package.\npackage state", "internal/state: no package comment"},
		{"internal/state/a.go", "// Package state is split.\n\npackage state", "internal/state: no package comment"},
		{"cmd/ferrus/a.go", "// Command ferrus is a command.\npackage main", ""},

		{"internal/state/a.go", doc + "package state\n" + long, "internal/state/a.go: 402 lines, more than 400: one idea a file"},
		{"internal/state/a_test.go", doc + "package state\n" + long, ""},
		{"internal/state/a.go", "// Code generated by x. DO NOT EDIT.\n\n" + doc + "package state\n" + long, ""},

		{"internal/lease/a.go", doc + "package lease\nimport \"time\"\nvar x = time.Now()",
			"internal/lease/a.go:4: internal/lease is pure: time.Now"},
		{"internal/lease/a.go", doc + "package lease\nimport clock \"time\"\nvar x = clock.Since",
			"internal/lease/a.go:4: internal/lease is pure: time.Since"},
		{"internal/lease/a.go", doc + "package lease\nimport \"time\"\nvar x = time.Second", ""},
		{"internal/state/a.go", doc + "package state\nimport \"os\"",
			"internal/state/a.go:3: internal/state is pure: import of os"},
		{"internal/state/a.go", doc + "package state\nimport \"os/exec\"",
			"internal/state/a.go:3: internal/state is pure: import of os/exec"},
		{"internal/state/a.go", doc + "package state\nimport . \"time\"",
			"internal/state/a.go:3: import of everything of time: say what is whose"},

		{"internal/store/a.go", doc + "package store\nimport \"os\"\nfunc f() { os.Exit(1) }",
			"internal/store/a.go:4: os.Exit: only main ends the process"},
		{"internal/conductor/a.go", doc + "package hq\nimport \"log\"\nfunc f() { log.Fatal() }",
			"internal/conductor/a.go:4: log.Fatal: only main ends the process"},
		{"cmd/ferrusd/a.go", doc + "package main\nimport \"os\"\nfunc main() { os.Exit(1) }", ""},

		{"internal/tools/a.go", doc + "package tools\nimport \"fmt\"\nfunc f() { fmt.Println() }",
			"internal/tools/a.go:4: fmt.Println: the stdout of ferrusd is the stream of the protocol"},
		{"internal/config/a.go", doc + "package config\nimport \"os\"\nvar out = os.Stdout",
			"internal/config/a.go:4: os.Stdout: the stdout of ferrusd is the stream of the protocol"},
		{"internal/server/a.go", doc + "package server\nimport \"os\"\nvar out = os.Stdout", ""},
		{"internal/server/a.go", doc + "package server\nimport \"fmt\"\nfunc f() { fmt.Print() }",
			"internal/server/a.go:4: fmt.Print: the stdout of ferrusd is the stream of the protocol"},
		{"internal/conductor/a.go", doc + "package hq\nimport \"fmt\"\nfunc f() { fmt.Println() }", ""},

		{"internal/gc/a.go", doc + "package gc\nimport \"path/filepath\"\nfunc f() { filepath.Glob(dir + \"/*\") }",
			"internal/gc/a.go:4: path/filepath.Glob: a folder that a person named is no pattern: fs.Glob in os.DirFS"},

		{"internal/state/a.go", "package", "internal/state/a.go:1:8: expected 'IDENT', found 'EOF'"},
		{"internal/state/testdata/a.go", "package", ""},
		{".git/a.go", "package", ""},
	} {
		got := strings.Join(inspect(fstest.MapFS{c.file: {Data: []byte(c.text)}}), "\n")
		if got != c.want {
			t.Errorf("%s\n%.200s\ngot  %q\nwant %q", c.file, c.text, got, c.want)
		}
	}
}

// TestImportsRunOneWay: each entry is about a package and says why.
func TestImportsRunOneWay(t *testing.T) {
	for _, pkg := range slices.Sorted(maps.Keys(allowed)) {
		for other, why := range allowed[pkg] {
			if why == "" || allowed[other] == nil {
				t.Errorf("%s may import %s: %q", pkg, other, why)
			}
		}
		if reach(allowed[pkg])[pkg] {
			t.Errorf("%s may import itself by way of others", pkg)
		}
	}
	for use, why := range exceptions {
		if pkg, _, _ := strings.Cut(use, " "); why == "" || allowed[pkg] == nil {
			t.Errorf("the exception %q names no package, or has no reason", use)
		}
	}
}

// reach returns the packages that can be imported from these, directly or by way of others.
func reach(from map[string]string) map[string]bool {
	all := map[string]bool{}
	for todo := slices.Collect(maps.Keys(from)); len(todo) > 0; todo = todo[1:] {
		if !all[todo[0]] {
			all[todo[0]] = true
			todo = slices.AppendSeq(todo, maps.Keys(allowed[todo[0]]))
		}
	}
	return all
}

// inspect returns what is out of order in a tree of packages.
func inspect(tree fs.FS) []string {
	h := inspection{inServer: reach(map[string]string{"cmd/ferrusd": ""}), documented: map[string]bool{}}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skip(tree, name) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		h.file(name, text)
		return nil
	})
	if err != nil {
		h.complain("%v", err)
	}
	for _, dir := range slices.Sorted(maps.Keys(h.documented)) {
		if allowed[dir] == nil {
			h.complain("%s: not in the import table: decide, and add it to internal/imports_test.go", dir)
		}
		if !h.documented[dir] {
			h.complain("%s: no package comment", dir)
		}
	}
	return h.complaints
}

// skip reports whether the folder is none of ours: what go build does not look at, and what is another module.
func skip(tree fs.FS, dir string) bool {
	if dir == "." {
		return false
	}
	base := path.Base(dir)
	_, err := fs.Stat(tree, dir+"/go.mod")
	return base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || err == nil
}

type inspection struct {
	inServer   map[string]bool
	documented map[string]bool // the packages seen, and whether they have a package comment
	complaints []string
}

func (h *inspection) complain(format string, args ...any) {
	h.complaints = append(h.complaints, fmt.Sprintf(format, args...))
}

func (h *inspection) file(name string, text []byte) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		h.complain("%v", err)
		return
	}
	dir := path.Dir(name)
	comment := f.Doc.Text()
	h.documented[dir] = h.documented[dir] || strings.HasPrefix(comment, "Package ") ||
		f.Name.Name == "main" && comment != ""
	if lines := bytes.Count(text, []byte("\n")); lines > maximum && !ast.IsGenerated(f) {
		h.complain("%s: %d lines, more than %d: one idea a file", name, lines, maximum)
	}

	names := map[string]string{} // what a package is called in this file, and what it is
	for _, spec := range f.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		where := fmt.Sprintf("%s:%d", name, files.Position(spec.Pos()).Line)
		local := path.Base(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		names[local] = imported
		h.imports(where, dir, imported, local)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := sel.X.(*ast.Ident); ok && names[pkg.Name] != "" {
				where := fmt.Sprintf("%s:%d", name, files.Position(sel.Pos()).Line)
				h.uses(where, dir, f.Name.Name, names[pkg.Name]+"."+sel.Sel.Name)
			}
		}
		return true
	})
}

func (h *inspection) imports(where, dir, imported, local string) {
	if local == "." {
		h.complain("%s: import of everything of %s: say what is whose", where, imported)
	}
	for _, no := range impure {
		if slices.Contains(pure, dir) && (imported == no || strings.HasPrefix(imported, no+"/")) {
			h.complain("%s: %s is pure: import of %s", where, dir, imported)
		}
	}
	if ours, ok := strings.CutPrefix(imported+"/", module+"/"); ok {
		ours = cmp.Or(strings.TrimSuffix(ours, "/"), ".")
		if _, ok := allowed[dir][ours]; !ok {
			h.complain("%s: %s may not import %s", where, dir, ours)
		}
	}
}

func (h *inspection) uses(where, dir, pkg, what string) {
	if exceptions[dir+" "+what] != "" {
		return
	}
	if name, ok := strings.CutPrefix(what, "time."); ok && slices.Contains(pure, dir) && slices.Contains(clock, name) {
		h.complain("%s: %s is pure: %s", where, dir, what)
	}
	if pkg != "main" && slices.Contains(exits, what) {
		h.complain("%s: %s: only main ends the process", where, what)
	}
	if what == "path/filepath.Glob" {
		h.complain("%s: %s: a folder that a person named is no pattern: fs.Glob in os.DirFS", where, what)
	}
	if h.inServer[dir] && slices.Contains(prints, what) {
		h.complain("%s: %s: the stdout of ferrusd is the stream of the protocol", where, what)
	}
}
