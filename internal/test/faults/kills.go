package main

// kills try what real processes do to each other when they are killed, and what a broken system does to them.
var kills = []Rig{
	{
		Name: "process: an order is carried out once", Promise: "an agent that a killed conductor has started is not started again, though it has ended",
		Package: "./internal/agents/process", Test: "TestAnOrderIsCarriedOutOnce", Plain: true,
	},
	{
		Name: "an agent whose machine is removed", Promise: "an agent ends when the folder goes by which anybody could find it",
		Package: "./internal/agents/process", Test: "TestAnAgentWhoseSlotIsRemovedEnds", Plain: true,
	},
	{
		Name:    "a storm of SIGKILLs",
		Promise: "kill any server at any moment: nothing acknowledged is lost, nothing happens twice, and nothing of it is left",
		Package: "./internal/e2e",
		Test:    "TestKillsLoseNothing",
	},
	{
		Name:    "calls one at a time",
		Promise: "reads are linearizable, and racing processes lose no update",
		Package: "./internal/e2e",
		Test:    "TestCallsAreLinearizable",
	},
	{
		Name:    "a fault at every system call",
		Promise: "a real process that is killed, or whose disk fails, leaves the old state or the new one, and can go on",
		Package: "./internal/e2e",
		Test:    "TestEverySystemCallMayFail",
		Needs:   "strace",
	},
	{
		Name:    "locks: in turn",
		Promise: "the callers of a process get a lock in the order in which they came, and none that gave up keeps it",
		Package: "./internal/platform/filelock",
		Test:    "TestCallersGetALockInTurn",
		Plain:   true,
	},
	{
		Name: "locks: left behind", Promise: "a process keeps no lock for callers that gave up", Package: "./internal/platform/filelock", Test: "TestWhoGaveUpKeepsNoLock", Plain: true,
	},
	{
		Name: "locks: between processes", Promise: "a process with many callers does not overtake others", Package: "./internal/platform/filelock", Test: "TestAProcessDoesNotOvertakeAnother",
		Needs: "Linux", Plain: true,
	},
	{
		Name: "locks: a new lock file", Promise: "who waited for a lock file that was replaced writes nothing", Package: "./internal/store/file", Test: "TestTheLockIsReplacedWhileCallersWait", Plain: true,
	},
	{
		Name:    "power cuts",
		Promise: "what was acknowledged before the power failed is on the disk, whole",
		Package: "./internal/store/file",
		Test:    "TestAPowerCutLosesNothingAcknowledged",
		Needs:   "Linux, root, mkfs.ext4 and a loop device",
	},
}
