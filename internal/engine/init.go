package engine

import (
	"github.com/ferrus-go/ferrus/internal/store"
)

// Init makes the machine of a project in root where there is none. restored tells that a journal which had been lost
// with its folder came back from its second link.
func Init(root string) (restored bool, err error) { return Revive(At(root, "")) }

// Revive is Init for any machine of a project. That of a branch is not made so, but brought back.
func Revive(place Place) (restored bool, err error) {
	if err := place.CheckFolders(); err != nil {
		return false, err
	}
	s, restored, err := store.Create(place.Dir(), store.Options{Backup: place.backup})
	if err != nil {
		return false, refusal(err)
	}
	return restored, s.Close()
}
