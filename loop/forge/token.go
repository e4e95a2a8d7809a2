package forge

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Token is a forge's token. It prints, logs and marshals as (secret). Convert it to
// a string to use it.
type Token string

// secret replaces a token in any output.
const secret = "(secret)"

// String hides the token from fmt.
func (Token) String() string { return secret }

// GoString hides the token from %#v.
func (Token) GoString() string { return secret }

// MarshalText hides the token from encoders.
func (Token) MarshalText() ([]byte, error) { return []byte(secret), nil }

// LogValue hides the token from log/slog.
func (Token) LogValue() slog.Value { return slog.StringValue(secret) }

// maxToken limits the size of a token's file. Tokens have some hundred bytes.
const maxToken = 4 << 10

// ReadToken reads a token from a file that belongs to this user or to root, and
// that no one else can read. The mode of a credential is systemd's own and not
// looked at. An error is a *ledger.ForgeError and quotes nothing of the file.
func ReadToken(file string, credential bool) (Token, error) {
	fail := func(format string, a ...any) (Token, error) {
		return "", &ledger.ForgeError{
			Failure: ledger.ForgeLogin,
			Text:    filepath.Base(file) + " " + fmt.Sprintf(format, a...),
			Remedy:  "Put the forge's token, and nothing else, in " + file + ", then chmod 600 it",
		}
	}
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold up the start
	if err != nil {
		return fail("cannot be read: %s", reason(err))
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return fail("cannot be read: %s", reason(err))
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return fail("is not a file")
	case !credential && info.Mode().Perm()&0o077 != 0:
		return fail("can be read by others (%#o)", info.Mode().Perm())
	case !credential && ok && owner.Uid != 0 && int(owner.Uid) != os.Geteuid():
		return fail("belongs to user %d", owner.Uid)
	case info.Size() > maxToken:
		return fail("is too long for a token: %d bytes", info.Size())
	}
	text, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err != nil {
		return fail("cannot be read: %s", reason(err))
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return fail("is empty")
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fail("holds more than a token: it has spaces, lines or other characters")
	}
	return Token(token), nil
}

// reason returns the system's words, without the path.
func reason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "it is missing"
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}
