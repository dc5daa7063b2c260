package doctor

// A Check is one thing that is checked.
type Check struct {
	Name string
	Look func(*Context) Finding                 // changes nothing
	Fix  func(*Context) (did string, err error) // nil where only a person can help
	Ends bool                                   // nothing else is checked while it finds trouble
	Of   keeping                                // the projects that it is for
	Once bool                                   // it looks at nothing that a command may be writing at the moment
}

// A keeping says where the state of a project is kept.
type keeping int

const (
	anywhere keeping = iota
	inFiles
	inDatabase
)

// is reports whether a project is kept so.
func (k keeping) is(shared bool) bool { return k == anywhere || shared == (k == inDatabase) }

// Checks returns the checks of a project's own files, in the order in which fixing one helps the next.
func Checks() []Check {
	return []Check{
		{Name: "git", Look: checkGit},
		{Name: "modes", Look: checkModes, Fix: fixModes},             // the others have to see the files
		{Name: "links", Look: checkLinks, Fix: fixLinks, Ends: true}, // the others would follow the links
		{Name: "folder", Look: checkFolder, Fix: fixFolder},
		{Name: "origin", Look: checkOrigin, Fix: fixOrigin},
		{Name: "upstream", Look: checkUpstream, Fix: fixUpstream, Of: inFiles},
		{Name: "database", Look: checkDatabase, Of: inDatabase},
		{Name: "work trees", Look: checkTrees, Of: inDatabase},
		{Name: "journal", Look: checkJournal, Fix: fixJournal},
		{Name: "views", Look: CheckViews, Fix: fixViews, Of: inFiles},
		{Name: "journal copy", Look: checkSecondLink, Fix: fixSecondLink, Of: inFiles},
		{Name: "gate", Look: checkGate},
		{Name: "checks", Look: checkWritten},
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
