package doctor

import "golang.org/x/sys/unix"

// networkDisks are file systems whose locks, syncs or notifications do not hold what ferrus builds on.
var networkDisks = map[int64]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.CIFS_SUPER_MAGIC: "CIFS",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.V9FS_MAGIC:       "9p",
	unix.FUSE_SUPER_MAGIC: "FUSE",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.CODA_SUPER_MAGIC: "Coda",
	unix.CEPH_SUPER_MAGIC: "Ceph",
}

// networkDisk names the network file system that dir is on, "" for a local one.
func networkDisk(dir string) string {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return ""
	}
	return networkDisks[int64(uint32(fs.Type))]
}
