package cli

// IgnoreHangup has nothing to do: no signal comes when a terminal is closed.
func IgnoreHangup() {}
