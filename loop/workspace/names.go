package workspace

import (
	"path"
	"strings"
	"unicode/utf8"
)

// maxFile is the size in bytes of the largest file that is captured.
const maxFile = 50 << 20

// dotGit reports whether one path component is .git, or a name that some file
// system treats as .git: other case, trailing dots and spaces, an NTFS stream
// or short name, or code points that HFS+ ignores. It refuses more names than
// git does; none of them has an honest use.
func dotGit(component string) bool {
	name := strings.ToLower(plainName(component))
	return name == ".git" || name == "git~1"
}

// plainName removes from a component of a path what some file system does not see:
// code points that HFS+ ignores, and on NTFS trailing dots and spaces and the name
// of a stream.
func plainName(component string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, component)
	name, _, _ = strings.Cut(name, ":")
	return strings.TrimRight(name, ". ")
}

// badName returns why a path cannot be part of a commit, or "".
func badName(p string) string {
	if !utf8.ValidString(p) {
		return "its name is not UTF-8"
	}
	for _, c := range strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == '\\' }) {
		if dotGit(c) {
			return "git, or git on another system, takes its name for a repository's own folder"
		}
	}
	return ""
}

// leavesRepo reports whether a symbolic link at path from can lead out of the
// repository or into its .git. It also reports a target that goes up after
// going down: its meaning depends on links along the way.
func leavesRepo(from, target string) bool {
	if target == "" || path.IsAbs(target) || strings.ContainsRune(target, 0) {
		return true
	}
	depth := strings.Count(from, "/") // folders above the link
	down := false
	for _, c := range strings.Split(target, "/") {
		switch {
		case c == "" || c == ".":
		case c == "..":
			if depth--; down || depth < 0 {
				return true
			}
		default:
			if dotGit(c) {
				return true
			}
			down = true
		}
	}
	return false
}
