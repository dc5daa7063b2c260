//go:build !windows

package store

const holdJudged = true
