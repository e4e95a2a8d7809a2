package cloudagent

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// ralphFile is wreck-it's configuration in a repository.
const ralphFile = ".wreck-it/config.toml"

// maxRalphFile limits it, in bytes.
const maxRalphFile = 1 << 20

// ralph is one of several loops of a repository. The file has more keys, which are
// another program's.
type ralph struct {
	Name   string `toml:"name"`
	State  string `toml:"state_file"`
	Branch string `toml:"branch"`
	Agent  string `toml:"agent"`
}

// readRalph reads the entry of a name from a repository's file.
func readRalph(repo, name string) (ralph, error) {
	bad := func(line int, text, remedy string) (ralph, error) {
		return ralph{}, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{File: ralphFile, Line: line, Text: text, Remedy: remedy}}}
	}
	root, err := os.OpenRoot(repo) // the file is the repository's, and leads nowhere else
	if err != nil {
		return ralph{}, err
	}
	defer func() { _ = root.Close() }()
	f, err := root.Open(filepath.FromSlash(ralphFile))
	if errors.Is(err, fs.ErrNotExist) {
		return bad(0, "is not there", "Take --ralph out, or name the state file: --state FILE")
	}
	if err != nil {
		return ralph{}, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxRalphFile+1))
	if err != nil {
		return ralph{}, err
	}
	var file struct {
		Ralphs []ralph `toml:"ralphs"`
	}
	if len(text) > maxRalphFile {
		return bad(0, "is larger than 1 MB", "")
	}
	if err := toml.Unmarshal(text, &file); err != nil {
		line := 0
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, _ = at.Position()
		}
		return bad(line, strings.TrimPrefix(err.Error(), "toml: "), "")
	}
	var names []string
	for _, r := range file.Ralphs {
		if r.Name == name {
			if r.State = cmp.Or(r.State, usualState); !filepath.IsLocal(r.State) {
				return bad(0, fmt.Sprintf("the state file of %q lies outside of the repository", name), "")
			}
			return r, nil
		}
		names = append(names, r.Name)
	}
	meant := ""
	if near := nearest.Of(name, names); near != "" {
		meant = "; meant " + near + "?"
	}
	return bad(0, fmt.Sprintf("has no [[ralphs]] named %q%s", name, meant), "It has: "+strings.Join(names, ", "))
}
