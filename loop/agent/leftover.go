package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// secretName matches names of variables whose values are secrets; secretValue
// matches values that are, whatever their name.
var (
	secretName  = regexp.MustCompile(`(?i)TOKEN|SECRET|PASS|AUTH|CREDENTIAL|(?:^|_)(?:KEY|PWD|PAT)(?:_|$)`)
	secretValue = regexp.MustCompile(`^[\w+=.~-]{20,}$`)
)

// secretVars returns the names of those variables of a setup_env_file whose values
// must not stay in what setup leaves. A registry's address or a mode such as
// "production" may: setup writes those into thousands of files.
func secretVars(vars []string) []string {
	var names []string
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		u, err := url.Parse(value)
		address := err == nil && u.Host != ""
		_, password := "", false
		if address && u.User != nil {
			_, password = u.User.Password()
		}
		mixed := strings.ContainsAny(value, "0123456789") && secretValue.MatchString(value)
		if password || !address && !filepath.IsAbs(value) && (secretName.MatchString(name) || mixed) {
			names = append(names, name)
		}
	}
	return names
}

// removeSecrets removes the files in which setup left a value that only setup may
// see, and makes the session's exit a failure that names them. Sessions see what
// setup makes, and so do the tests that they write.
func (s *supervisor) removeSecrets() {
	values := newMask(pick(s.spec.Plan.Env, s.spec.Secret)).values
	if len(values) == 0 {
		return
	}
	var found []string
	name := ""
	var errs []error
	for _, dir := range s.spec.Plan.leftIn() {
		err := filepath.WalkDir(dir.path, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || dir.recent && s.isOlder(d) {
				return err
			}
			v, err := searchFile(path, values)
			if err != nil || v == nil {
				return err
			}
			if name == "" {
				name = strings.Trim(string(v.shown), "[]")
			}
			if rel, err := filepath.Rel(dir.path, path); err == nil && !dir.recent {
				found = append(found, rel)
			} else {
				found = append(found, path)
			}
			return os.Remove(path)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	x := &s.exit
	switch {
	case len(errs) > 0:
		x.Text = "what it left cannot be searched for secrets: " + errors.Join(errs...).Error()
	case len(found) == 0:
		return
	default:
		more := ""
		if len(found) > 1 {
			more = fmt.Sprintf(" and %d more", len(found)-1)
		}
		x.Text = fmt.Sprintf("it left the value of %s in %s%s, which sessions can read, so that was removed: let setup write it below $HOME, or delete it at its end", name, found[0], more)
	}
	x.Text = s.mask.text(x.Text)
	if x.Reason == ledger.ExitSelf {
		x.Reason = ledger.ExitSecret
	}
}

// isOlder reports whether a file did not change since the session began.
func (s *supervisor) isOlder(d fs.DirEntry) bool {
	info, err := d.Info()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && changedAt(st) < s.exit.Started.Unix()
}

// leftDir is a folder in which setup leaves files.
type leftDir struct {
	path   string
	recent bool // it may be large and old: only what changed counts
}

// leftIn returns the folders that outlive a setup command, as they are called
// outside of its mounts.
func (p plan) leftIn() []leftDir {
	dir := p.Dir
	var dirs []leftDir
	for _, m := range p.Mounts {
		if m.At == p.Dir {
			dir = m.Upper
		} else {
			dirs = append(dirs, leftDir{m.Upper, true})
		}
	}
	for _, path := range p.unmounted() {
		if path != p.Dir && filepath.Base(filepath.Dir(path)) != dirBox { // HOME and TMPDIR are the session's own
			dirs = append(dirs, leftDir{path, true})
		}
	}
	return append([]leftDir{{dir, false}}, dirs...)
}

// pick returns the variables with the given names.
func pick(vars, names []string) []string {
	var out []string
	for _, v := range vars {
		for _, name := range names {
			if strings.HasPrefix(v, name+"=") {
				out = append(out, v)
			}
		}
	}
	return out
}

// searchFile returns the first of the values that the file holds, or nil.
func searchFile(path string, values []maskedValue) (*maskedValue, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing is found in what is not there
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	overlap := len(values[0].value) - 1 // the longest comes first
	buf := make([]byte, overlap+256<<10)
	kept := 0
	for {
		n, err := io.ReadFull(f, buf[kept:])
		text := buf[:kept+n]
		for i := range values {
			if bytes.Contains(text, values[i].value) {
				return &values[i], nil
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, nil //nolint:nilnil // nothing was found
		case err != nil:
			return nil, err
		}
		kept = copy(buf, text[len(text)-overlap:])
	}
}
