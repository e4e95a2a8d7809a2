package socket

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/internal/fsutil"
)

// keyFile is the file name of the operator's key in the state folder.
const keyFile = "operator.key"

// keyBytes is the length of the key, before it is encoded as hex.
const keyBytes = 32

// OperatorKey returns the operator's key of a state folder. If there is none,
// it creates a random one, readable by its owner only, complete or absent even
// after a power cut. Two processes that create one at the same time get the
// same key.
func OperatorKey(state string) (string, error) {
	key, err := readKey(state)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := makeKey(state); err != nil {
		return "", fmt.Errorf("operator key: %w", err)
	}
	return readKey(state)
}

// CheckOperatorKey returns an error for a key that OperatorKey would refuse, and
// nil for none.
func CheckOperatorKey(state string) error {
	_, err := readKey(state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// makeKey makes a complete file at the key's path. It never replaces a key that
// another process has just created.
func makeKey(state string) error {
	f, err := os.CreateTemp(state, keyFile+".*") // creates it with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails, see crypto/rand
	if _, err := f.WriteString(hex.EncodeToString(key) + "\n"); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := fsutil.Publish(f.Name(), filepath.Join(state, keyFile)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return fsutil.SyncDir(state)
}

// readKey reads the key, and refuses one that is damaged or readable by others.
func readKey(state string) (string, error) {
	path := filepath.Join(state, keyFile)
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("operator key: %w", err)
	}
	const remedy = "stop nightporter and remove the file: it makes a new one when it starts"
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("operator key: %s is no ordinary file: %s", path, remedy)
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return "", fmt.Errorf("operator key: %s can be read by others (mode %04o): %s", path, perm, remedy)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("operator key: %w", err)
	}
	key := strings.TrimSpace(string(text))
	if raw, err := hex.DecodeString(key); err != nil || len(raw) != keyBytes {
		return "", fmt.Errorf("operator key: %s does not hold %d bytes as hex: %s", path, keyBytes, remedy)
	}
	return key, nil
}
