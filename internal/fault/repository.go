package fault

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Away returns why a user's repository is not there at all: its folder or its .git
// is missing, as before a mount, or cannot be read. nil: it is there.
func Away(repo string) *ledger.RepositoryError {
	for _, path := range []string{repo, filepath.Join(repo, ".git")} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return &ledger.RepositoryError{Text: path + " is not there", Remedy: "mount it, or move it back"}
		} else if err != nil {
			return &ledger.RepositoryError{Text: fmt.Sprintf("%s cannot be read: %v", path, cmp.Or(errors.Unwrap(err), err)), Remedy: "make it readable for the user that nightporter runs as"}
		}
	}
	return nil
}
