//go:build unix && !linux && !darwin

package proc

// session returns the group of leader alone: the other groups of its session are not read here.
func session(leader int) []int { return []int{leader} }
