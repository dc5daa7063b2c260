package worktree

// At has step called before each change that ferrus itself makes outside the private folder.
func (t *Tree) At(step func()) { t.step = step }

// CheckName and ReadMerge are for comparisons with git, and for fuzzing.
var (
	CheckName = checkName
	ReadMerge = readMerge
)

// Cut calls do before each change of a checkout; its error ends what the checkout does.
func (c *Checkout) Cut(do func() error) { c.step = do }

// Believe has a checkout take the file system's change times for honest, or not.
func (c *Checkout) Believe(honest bool) { c.force = &honest }
