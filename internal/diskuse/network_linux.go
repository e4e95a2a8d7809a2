package diskuse

import "golang.org/x/sys/unix"

// networks are the file systems that other machines may write, or whose locks and
// order of writes are another program's matter.
var networks = map[int64]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.CIFS_SUPER_MAGIC: "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.V9FS_MAGIC:       "9p",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.CEPH_SUPER_MAGIC: "Ceph",
	unix.CODA_SUPER_MAGIC: "Coda",
	unix.NCP_SUPER_MAGIC:  "NCP",
	unix.FUSE_SUPER_MAGIC: "FUSE",
	0x786f4256:            "a shared folder of VirtualBox",
}

// Network returns the kind of the network file system that a folder is on, "" for a
// local disk.
func Network(dir string) string {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return ""
	}
	return networks[int64(uint32(s.Type))] //nolint:unconvert // another type on other systems
}
