//go:build !unix

package rootfs

// nonblock is nothing where no FIFO can lie among files.
const nonblock = 0
