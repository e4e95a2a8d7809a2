package platform

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/regexp"
)

// Token describes one of a platform's tokens, which is a file or a systemd
// credential.
type Token struct {
	File    func(*config.Config) string // path; needs the platform's section
	Form    *regexp.Regexp
	Example string // a value that matches Form
	Ask     string // remedy for a missing token
	Want    string // rest of the sentence "FILE holds …" for a value that does not match
}

// TokenError is the reason why a token cannot be used. It never contains any
// part of the token.
type TokenError struct {
	File   string
	Reason error       // why the file cannot be read; nil = its contents do not match Form
	Shared os.FileMode // the file's mode if other users can read it, else 0
	token  Token
}

// Error names the file, the problem and the remedy.
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

// read reads a token. Other users must not be able to read the file; systemd
// sets the mode of a credential itself.
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
	if !config.IsCredential(file) && info.Mode().Perm()&0o077 != 0 {
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
