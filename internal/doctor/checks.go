package doctor

// A Check is one thing that is checked.
type Check struct {
	Name string
	Look func(*Context) Finding                 // changes nothing
	Fix  func(*Context) (did string, err error) // nil where only a person can help
	Ends bool                                   // nothing else is checked while it finds trouble
}

// Checks returns the checks of a project's own files, in the order in which fixing one helps the next.
func Checks() []Check {
	return []Check{
		{Name: "git", Look: checkGit},
		{Name: "modes", Look: checkModes, Fix: fixModes},             // the others have to see the files
		{Name: "links", Look: checkLinks, Fix: fixLinks, Ends: true}, // the others would follow the links
		{Name: "folder", Look: checkFolder, Fix: fixFolder},
		{Name: "origin", Look: checkOrigin, Fix: fixOrigin},
		{Name: "upstream", Look: checkUpstream, Fix: fixUpstream},
		{Name: "journal", Look: checkJournal, Fix: fixJournal},
		{Name: "views", Look: CheckViews, Fix: fixViews},
		{Name: "journal copy", Look: checkSecondLink, Fix: fixSecondLink},
		{Name: "gate", Look: checkGate},
		{Name: "branches", Look: checkBranches, Fix: fixBranches},
		{Name: "archives", Look: checkArchives, Fix: fixArchives},
		{Name: "leftovers", Look: checkLeftovers, Fix: fixLeftovers},
		{Name: "checkouts", Look: checkCheckouts},
		{Name: "moved files", Look: checkMoves, Fix: fixMoves},
		{Name: "file system", Look: checkFileSystem},
		{Name: "git locks", Look: checkGitLocks, Fix: fixGitLocks},
		{Name: "embedded", Look: checkEmbedded},
		{Name: "ignored", Look: checkIgnored, Fix: fixIgnored},
		{Name: "on PATH", Look: checkPath},
		{Name: "tokens", Look: checkTokens},
		{Name: "pipelines", Look: checkPipelines},
	}
}
