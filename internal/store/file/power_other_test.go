//go:build !linux

package file

import "testing"

// TestAPowerCutLosesNothingAcknowledged is in power_linux_test.go.
func TestAPowerCutLosesNothingAcknowledged(t *testing.T) {
	t.Skip("cutting the power needs Linux, root and a loop device")
}
