package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"
)

// Version is that of the archive's form. A reader takes it and older ones.
const Version = 1

// Names in the archive; they are those of the state folder (SPEC 17).
const (
	Database     = "nightporter.db"
	Key          = "operator.key"
	Repositories = "repos"
	Logins       = "logins"
	manifestName = "manifest.json"
)

// Manifest says what a backup holds. It is the archive's last file.
type Manifest struct {
	Version int       `json:"version"`
	Program string    `json:"nightporter"` // version of the program that wrote it
	Time    time.Time `json:"time"`
	Heads   []string  `json:"heads"` // of each stream, STREAM@SEQ:HASH
	Logins  bool      `json:"logins"`
	Files   []File    `json:"files"` // in the archive's order
}

// File is one file of a backup.
type File struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // hex
}

// Repositories returns the names of the projects whose repository the backup
// holds, in the archive's order.
func (m Manifest) Repositories() []string {
	var names []string
	for _, f := range m.Files {
		rest, ok := strings.CutPrefix(f.Path, Repositories+"/")
		if name, file, _ := strings.Cut(rest, ".git/"); ok && file == "HEAD" {
			names = append(names, name)
		}
	}
	return names
}

// Size is the sum of the files' sizes in bytes.
func (m Manifest) Size() int64 {
	var n int64
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// inRepository are the files of a bare repository of ours that are kept. No
// hooks, no alternates, no worktrees: what could lead git out of it.
var inRepository = regexp.MustCompile(`^repos/[a-z0-9-]{1,32}\.git/(HEAD|config|packed-refs|shallow|info/attributes|refs/.+|` +
	`objects/[0-9a-f]{2}/[0-9a-f]{38,62}|objects/pack/pack-[0-9a-f]{40,64}\.(pack|idx|rev))$`)

// maxName is the longest name in bytes.
const maxName = 1024

// checkName refuses a name that no backup holds.
func checkName(name string) error {
	switch {
	case len(name) > maxName:
		return fmt.Errorf("a name has %d bytes", len(name))
	case !fs.ValidPath(name), path.Clean(name) != name, strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '\\' }):
		return fmt.Errorf("the name %q leads out of the folder, or is none", name)
	case name == Database, name == Key, inRepository.MatchString(name) && !temporary(name):
		return nil
	case strings.HasPrefix(name, Logins+"/"):
		return nil
	}
	return fmt.Errorf("a backup holds no %q", name)
}

// kept reports whether a file of that name is one that a backup holds.
func kept(name string) bool { return checkName(name) == nil }

// temporary reports whether a file is one that git is just writing, or was
// when it was cut off.
func temporary(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".lock") || strings.HasPrefix(base, "tmp_")
}

var errNoBackup = errors.New("this is no nightporter backup")
