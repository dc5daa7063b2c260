package rootfs

import "io/fs"

// OwnedByUser and openToOthers: access lists say it there, not a mode, and the user's folders are the user's.
func OwnedByUser(fs.FileInfo) bool  { return true }
func OpenToOthers(fs.FileInfo) bool { return false }
