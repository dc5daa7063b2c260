//go:build unix && !linux

package checks

const escapeProof = false
