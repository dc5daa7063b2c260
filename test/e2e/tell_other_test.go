//go:build unix && !linux

package e2e

func tell() {}
