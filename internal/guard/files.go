package guard

import (
	"slices"
	"strings"
)

// deletesOutside returns why an rm deletes recursively outside the session's
// folders, "" if it does not.
func (r Rules) deletesOutside(c Call) string {
	if !slices.Contains(flagsOf("rm", c.Args), "--recursive") {
		return ""
	}
	flags := true
	for _, a := range c.Args {
		switch {
		case flags && a == "--":
			flags = false
		case flags && abbreviates(a, "--no-preserve-root"):
			return a + " is for deleting everything"
		case flags && isFlag(a), a == "":
		default:
			if p := c.resolve(a, endsInFolder(a)); !r.isOwn(p) {
				return p + " is not inside a folder of this session"
			}
		}
	}
	return ""
}

// endsInFolder reports whether a name means the folder that a link leads to,
// and not the link.
func endsInFolder(name string) bool {
	last := name[strings.LastIndexByte(name, '/')+1:]
	return last == "" || last == "." || last == ".."
}

// isOwn reports whether a path lies below one of the session's folders. These
// folders themselves may not be deleted.
func (r Rules) isOwn(p string) bool {
	return slices.ContainsFunc(r.Roots, func(root string) bool {
		return strings.HasPrefix(p, strings.TrimSuffix(root, "/")+"/")
	}) && !slices.Contains(r.Roots, p)
}

// formatters are the programs of the family of mkfs.
var formatters = []string{
	"mkfs", "mke2fs", "mkdosfs", "mkntfs", "mkswap",
	"mkfs.bfs", "mkfs.btrfs", "mkfs.cramfs", "mkfs.exfat", "mkfs.ext2", "mkfs.ext3", "mkfs.ext4", "mkfs.f2fs", "mkfs.fat",
	"mkfs.jfs", "mkfs.minix", "mkfs.msdos", "mkfs.ntfs", "mkfs.vfat", "mkfs.xfs",
}

// diskTools are programs that can overwrite disks, among other uses.
var diskTools = []string{"dd", "shred", "wipefs", "blkdiscard", "fdisk", "sfdisk", "cfdisk", "gdisk", "sgdisk", "parted"}

// harmlessDevices are devices that any program may write to.
var harmlessDevices = []string{"null", "zero", "full", "tty", "stdin", "stdout", "stderr", "ptmx", "random", "urandom"}

// writesDevice returns why a disk tool would write to a device, "" if it does
// not.
func writesDevice(c Call) string {
	for _, a := range c.Args {
		if c.Program == "dd" {
			var ok bool
			if a, ok = strings.CutPrefix(a, "of="); !ok {
				continue
			}
		} else if isFlag(a) || a == "" {
			continue
		}
		p := c.resolve(a, true)
		if name, ok := strings.CutPrefix(p, "/dev/"); ok {
			folder, _, deeper := strings.Cut(name, "/")
			if slices.Contains(harmlessDevices, name) || deeper && slices.Contains([]string{"fd", "pts", "shm", "mqueue"}, folder) {
				continue
			}
			return p + " is a device"
		}
	}
	return ""
}
