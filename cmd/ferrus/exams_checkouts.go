package main

import (
	"slices"

	"github.com/ferrus-go/ferrus/internal/engine"
)

// leftCheckouts are the private checkouts of gates that no task needs. That of ferrus check stays for the next one.
func leftCheckouts(root string) ([]engine.LeftCheckout, error) {
	list, err := engine.LeftCheckouts(root)
	return slices.DeleteFunc(list, func(c engine.LeftCheckout) bool { return c.TaskID == engine.ByHand }), err
}

func lookCheckouts(p *patient) finding {
	list, err := leftCheckouts(p.place.Root)
	if err != nil || len(list) == 0 {
		return finding{}
	}
	return noted(count(len(list), "private checkout of a gate", "private checkouts of gates")+" that no task needs, in "+size(sizeOfCheckouts(list)),
		"ferrus gc removes what is left")
}

func sizeOfCheckouts(list []engine.LeftCheckout) (sum int64) {
	for _, c := range list {
		sum += c.Bytes
	}
	return sum
}
