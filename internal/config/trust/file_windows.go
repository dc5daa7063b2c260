package trust

import (
	"io/fs"
	"os"

	"github.com/ferrus-go/ferrus/internal/state/refusal"
)

const readFlags = os.O_RDONLY

// private and replaceable: access lists say it there, not a mode, and the folders of a user are the user's.
func private(string, fs.FileInfo) (problem string, remedy refusal.Own) { return "", "" }
func replaceable(fs.FileInfo) bool                                     { return false }
