//go:build !linux

package confine_test

// become has no sandbox to test.
func become() {}
