package doctor

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/platform/format"
	"github.com/ferrus-go/ferrus/internal/project/gc"
)

// leftCheckouts are the private checkouts of gates that no task needs. That of ferrus check stays for the next one.
func leftCheckouts(root string) ([]gc.LeftCheckout, error) {
	list, err := gc.LeftCheckouts(root)
	return slices.DeleteFunc(list, func(c gc.LeftCheckout) bool { return c.TaskID == gc.ByHand }), err
}

func checkCheckouts(p *Context) Finding {
	list, err := leftCheckouts(p.Place.Root)
	if err != nil || len(list) == 0 {
		return Finding{}
	}
	return Noted(format.Count(len(list), "private checkout of a check", "private checkouts of checks")+" that no task needs, in "+format.Size(sizeOfCheckouts(list)),
		"ferrus gc deletes them")
}

func sizeOfCheckouts(list []gc.LeftCheckout) (sum int64) {
	for _, c := range list {
		sum += c.Bytes
	}
	return sum
}
