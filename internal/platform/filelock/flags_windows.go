package filelock

import "os"

const (
	noFollow = 0
	look     = os.O_RDWR
)
