package main

import "io/fs"

// ours and openToOthers: access lists say it there, not a mode, and the user's folders are the user's.
func ours(fs.FileInfo) bool         { return true }
func openToOthers(fs.FileInfo) bool { return false }
