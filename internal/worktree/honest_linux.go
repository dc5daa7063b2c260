package worktree

import "golang.org/x/sys/unix"

// honestTimes reports whether the file system of a folder moves the change time of a file with every change of its
// content, be it through a mapping, and whether no program can set it. tmpfs does not, nor do those of other machines.
func honestTimes(dir string) bool {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return false
	}
	switch uint32(st.Type) {
	case 0xEF53, // ext2, ext3, ext4
		0x58465342, // xfs
		0x9123683E, // btrfs
		0xF2F52010, // f2fs
		0x2FC12FC1, // zfs
		0x794C7630: // overlayfs
		return true
	}
	return false
}
