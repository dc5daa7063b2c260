package store

// Mutex describes whether a mutex is locked, without waiting for it.
func Mutex(try func() bool, unlock func()) string {
	if !try() {
		return "held"
	}
	unlock()
	return "free"
}
