//go:build !linux

package main

// networkDisk cannot tell here.
func networkDisk(string) string { return "" }
