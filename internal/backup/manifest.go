package backup

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
)

// Version is the version of the format. A reader accepts it and older ones. Since
// version 2 there are attachments.
const Version = 2

// Names in the archive, the same as in the state folder.
const (
	Database     = "nightporter.db"
	Key          = "operator.key"
	Repositories = "repos"
	Logins       = "logins"
	Attachments  = "attachments"
	manifestName = "manifest.json"
)

// Manifest is the content of a backup's last file.
type Manifest struct {
	Version int       `json:"version"`
	Program string    `json:"nightporter"` // version of the program that wrote the backup
	Time    time.Time `json:"time"`
	Heads   []string  `json:"heads"` // head of each stream, STREAM@SEQ:HASH
	Logins  bool      `json:"logins"`
	Files   []File    `json:"files"` // in the order of the archive
}

// File describes one file of a backup.
type File struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // hex
}

// Repositories returns the names of the projects whose repositories are in the
// backup, in the order of the archive.
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

// Size returns the sum of the files' sizes in bytes.
func (m Manifest) Size() int64 {
	var n int64
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// inRepository matches the files of a bare repository that a backup holds. It
// leaves out hooks, alternates and worktrees, by which git could leave the
// repository.
var inRepository = regexp.MustCompile(`^repos/[a-z0-9-]{1,32}\.git/(HEAD|config|packed-refs|shallow|info/attributes|refs/.+|` +
	`objects/[0-9a-f]{2}/[0-9a-f]{38,62}|objects/pack/pack-[0-9a-f]{40,64}\.(pack|idx|rev))$`)

// attachment matches the files that people sent, by hash.
var attachment = regexp.MustCompile(`^` + Attachments + `/[0-9a-f]{64}$`)

// maxName limits a name, in bytes.
const maxName = 1024

// checkName returns an error for a name that no backup holds.
func checkName(name string) error {
	switch {
	case len(name) > maxName:
		return fmt.Errorf("a name has %d bytes", len(name))
	case !fs.ValidPath(name), path.Clean(name) != name, strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '\\' }):
		return fmt.Errorf("the name %q leads out of the folder, or is none", name)
	case name == Database, name == Key, attachment.MatchString(name), inRepository.MatchString(name) && !isTemporary(name):
		return nil
	case strings.HasPrefix(name, Logins+"/"):
		return nil
	}
	return fmt.Errorf("a backup holds no %q", name)
}

// isBackedUp reports whether a backup holds files of that name.
func isBackedUp(name string) bool { return checkName(name) == nil }

// isTemporary reports whether a file is one of git's temporary files, complete
// or not.
func isTemporary(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".lock") || strings.HasPrefix(base, "tmp_")
}

var errNoBackup = errors.New("this is no nightporter backup")

// keyBytes is the length of the operator's key, before it is encoded as hex.
const keyBytes = 32

// checkKey checks the text of an operator's key: with a damaged one, nothing
// starts.
func checkKey(text []byte) error {
	raw, err := hex.DecodeString(strings.TrimSpace(string(text)))
	switch {
	case len(text) == 0:
		return errors.New("it is empty")
	case err != nil || len(raw) != keyBytes:
		return fmt.Errorf("it does not hold %d bytes as hex", keyBytes)
	}
	return nil
}
