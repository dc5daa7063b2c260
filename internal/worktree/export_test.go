package worktree

// At has step called before each change that ferrus itself makes outside the private folder.
func (t *Tree) At(step func()) { t.step = step }

// CheckName and ReadMerge are for comparisons with git, and for fuzzing.
var (
	CheckName = checkName
	ReadMerge = readMerge
)
