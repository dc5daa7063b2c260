package doctor

import "github.com/ferrus-go/ferrus/internal/project"

// checkTrees asks the git remote by which work trees travel whether it takes their refs.
func checkTrees(p *Context) Finding {
	e, err := p.Engine()
	if err != nil {
		return Finding{} // the journal's check says why
	}
	trees := e.Published()
	on, err := trees.On()
	if err != nil {
		return troubled(err)
	}
	if !on {
		return Finding{}
	}
	tree, err := project.Repository(p.Ctx, p.Place.Root)
	if err != nil {
		return troubled(err)
	}
	if !tree.Git() {
		return Noted("work trees cannot travel: the project is in no git repository", "git init, or remove trees under [store] of your own configuration")
	}
	address, err := trees.Probe(p.Ctx, tree)
	if err != nil {
		return troubled(err)
	}
	return Fine("they travel by " + address)
}
