//go:build !linux

package kit

func memory() string { return "" }
