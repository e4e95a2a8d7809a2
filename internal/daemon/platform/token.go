package platform

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/nightporter/nightporter/config"
)

// Token is one of a platform's tokens: a file, or a credential of systemd.
type Token struct {
	File    func(*config.Config) string // of a configuration with the platform's section
	Form    *regexp.Regexp
	Example string // of that form
	Ask     string // what to do where there is none
	Want    string // what the file should hold instead, after "holds "
}

// TokenError says why a token cannot be used. It never holds any of it.
type TokenError struct {
	File   string
	Reason error       // why the file cannot be read; nil: what is in it is no token
	Shared os.FileMode // its mode, where others can read it; 0 = they cannot
	token  Token
}

// Error says what to do about it.
func (e *TokenError) Error() string {
	name := filepath.Base(e.File)
	switch {
	case e.Shared != 0:
		return fmt.Sprintf("%s: others can read it (%#o). chmod 600 %s", name, e.Shared, e.File)
	case e.Reason != nil:
		return fmt.Sprintf("%s cannot be read: %v. %s", name, e.Reason, e.token.Ask)
	}
	return name + " holds " + e.token.Want
}

// read reads a token. Its file is for its owner alone; a credential's mode is
// systemd's.
func (t Token) read(file string) (string, error) {
	fail := func(e TokenError) (string, error) {
		e.File, e.token = file, t
		return "", &e
	}
	f, err := os.Open(file)
	if err != nil {
		return fail(TokenError{Reason: errors.Unwrap(err)})
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return fail(TokenError{Reason: errors.Unwrap(err)})
	}
	credentials := os.Getenv("CREDENTIALS_DIRECTORY")
	if credential := credentials != "" && filepath.Dir(file) == filepath.Clean(credentials); !credential && info.Mode().Perm()&0o077 != 0 {
		return fail(TokenError{Shared: info.Mode().Perm(), Reason: errors.New("others can read it")})
	}
	text, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err != nil {
		return fail(TokenError{Reason: errors.Unwrap(err)})
	}
	token := strings.TrimSpace(string(text))
	if !t.Form.MatchString(token) {
		return fail(TokenError{})
	}
	return token, nil
}
