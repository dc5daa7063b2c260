//go:build !unix

package rootfstest

// special are the kinds of this system.
var special []entry
