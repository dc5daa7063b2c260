//go:build !linux

package doctor

// networkDisk cannot tell here.
func networkDisk(string) string { return "" }
