package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// lockBot keeps a second nightporter of the same user on this machine from
// polling with the same bot, because each would miss the updates that the other
// reads. A second one gets a *ledger.InputError. The temporary folder is
// public: if the lock file is a trap or belongs to another user, lockBot
// returns neither lock nor error, and the platform's own refusal of a second
// poller remains. That must not keep nightporter from starting.
func lockBot(log *slog.Logger, id string) (*os.File, error) {
	sum := sha256.Sum256([]byte(id))
	path := filepath.Join(os.TempDir(), fmt.Sprintf("nightporter-bot-%d-%s.lock", os.Geteuid(), hex.EncodeToString(sum[:8])))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err == nil {
		if err = checkOwner(f); err == nil {
			err = flock(f)
		}
		if err == nil {
			return f, nil
		}
		_ = f.Close()
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text:   "another nightporter of this machine hears people with this bot's token; both would lose messages",
			Remedy: "End the other one, or give this one a bot with a token of its own.",
		}}}
	}
	log.Warn("no lock of the bot: a second nightporter with its token is noticed by the platform only", "file", path, "error", err)
	return nil, nil //nolint:nilnil // the daemon starts without the lock
}

// flock takes the lock of f. One that was given back may be held for a moment longer
// by a process that was just being started and has not yet closed what it inherited.
func flock(f *os.File) error {
	for end := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(end) {
			return err
		}
	}
}

// checkOwner refuses a file that is not regular or belongs to another user.
func checkOwner(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.Mode().IsRegular() || !ok || int(st.Uid) != os.Geteuid() {
		return errors.New("it is somebody else's, or no plain file")
	}
	return nil
}
