package doctor

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/engine"
	"github.com/ferrus-go/ferrus/internal/format"
)

// leftCheckouts are the private checkouts of gates that no task needs. That of ferrus check stays for the next one.
func leftCheckouts(root string) ([]engine.LeftCheckout, error) {
	list, err := engine.LeftCheckouts(root)
	return slices.DeleteFunc(list, func(c engine.LeftCheckout) bool { return c.TaskID == engine.ByHand }), err
}

func checkCheckouts(p *Context) finding {
	list, err := leftCheckouts(p.Place.Root)
	if err != nil || len(list) == 0 {
		return finding{}
	}
	return noted(format.Count(len(list), "private checkout of a check", "private checkouts of checks")+" that no task needs, in "+format.Size(sizeOfCheckouts(list)),
		"ferrus gc deletes them")
}

func sizeOfCheckouts(list []engine.LeftCheckout) (sum int64) {
	for _, c := range list {
		sum += c.Bytes
	}
	return sum
}
