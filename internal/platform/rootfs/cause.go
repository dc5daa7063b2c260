package rootfs

import (
	"errors"
	"io/fs"
	"os"
)

// Cause returns what befell a file, without the operation and the path that an error of the system names: it is for a
// message that has said them. Any other error is returned as it is.
func Cause(err error) error {
	var at *fs.PathError
	var between *os.LinkError
	switch {
	case errors.As(err, &at):
		return at.Err
	case errors.As(err, &between):
		return between.Err
	}
	return err
}
