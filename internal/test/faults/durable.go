package main

// durable try what a power cut and a failing disk do to the files that must survive them.
var durable = []Rig{
	{
		Name: "durable: power cuts", Promise: "a file has its old or its new content after a power cut", Package: "./internal/platform/atomicfile", Test: "TestAPowerCutLeavesTheOldOrTheNewContent",
	},
	{
		Name: "durable: failing disks", Promise: "a call that fails leaves the old or the new content, and no litter", Package: "./internal/platform/atomicfile", Test: "TestAFailingDiskLeavesTheOldOrTheNewContent", Plain: true,
	},
	{
		Name: "durable: litter", Promise: "what a killed writer left is removed, and nothing of another's", Package: "./internal/platform/atomicfile", Test: "TestTheNextWriterRemovesWhatAKilledOneLeft", Plain: true,
	},
	{
		Name: "durable: clients' files", Promise: "a power cut leaves a client's file old or new, and new when register has returned", Package: "./internal/agents/register", Test: "TestAPowerCutLeavesAClientsFileWhole", Plain: true,
	},
	{
		Name: "durable: tokens", Promise: "a power cut brings no revoked token back, and loses none", Package: "./internal/server/tokens", Test: "TestAPowerCutBringsNoTokenBack",
	},
	{
		Name: "durable: queue", Promise: "a power cut loses no task that was accepted, and starts none twice", Package: "./internal/queue", Test: "TestAPowerCutLosesNoTask",
	},
	{
		Name: "durable: slots", Promise: "a power cut forgets no agent that was started", Package: "./internal/agents/process", Test: "TestAPowerCutForgetsNoRun",
	},
	{
		Name: "durable: runs", Promise: "a power cut loses no run, and sends no result twice", Package: runPackage, Test: "TestAPowerCutLosesNoRun",
	},
	{
		Name: "durable: failing disks of runs", Promise: "a failing disk loses no run and sends no result twice", Package: runPackage, Test: "TestAFailingDiskSendsNothingTwice",
	},
	{
		Name: "durable: torn deliveries", Promise: "a torn delivery.json is a question, not a second sending", Package: runPackage, Test: "TestATornDeliveryIsAskedAbout", Plain: true,
	},
}
