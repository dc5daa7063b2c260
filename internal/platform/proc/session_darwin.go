package proc

import "golang.org/x/sys/unix"

// session returns the process groups of the session that leader led.
func session(leader int) (groups []int) {
	all, _ := unix.SysctlKinfoProcSlice("kern.proc.all")
	for _, p := range all {
		if sid, err := unix.Getsid(int(p.Proc.P_pid)); err == nil && leader > 1 && sid == leader {
			groups = append(groups, int(p.Eproc.Pgid))
		}
	}
	return groups
}
