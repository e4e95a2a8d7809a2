package attachment

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nightporter/nightporter/internal/fsutil"
)

// Folder is the name of the folder within the state folder.
const Folder = "attachments"

const (
	fresh     = ".new"     // ends the name of a file that no entry may name yet
	unwritten = ".writing" // begins the name of a file that is being written
)

// ErrAltered means that a file has other bytes than those of its hash.
var ErrAltered = errors.New("altered")

// Store is the folder of one state folder. It is safe for concurrent use, by one
// process at a time.
type Store struct {
	dir string

	mu    sync.Mutex
	holds map[string]int // how many inputs have put a hash and not settled or discarded it
}

// Open returns the store of a state folder. The folder is made when something is put
// into it.
func Open(state string) *Store {
	return &Store{dir: filepath.Join(state, Folder), holds: map[string]int{}}
}

// Hash returns the hash under which bytes are kept.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Put writes bytes to the disk and returns their hash. Settle or Discard has to
// follow.
func (s *Store) Put(data []byte) (hash string, err error) {
	hash = Hash(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.put(hash, data); err != nil {
		return "", fmt.Errorf("keep an attachment: %w", err)
	}
	s.holds[hash]++
	return hash, nil
}

func (s *Store) put(hash string, data []byte) error {
	if _, err := s.read(hash); err == nil {
		return nil // an altered or missing one is written anew
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, unwritten) // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.path(hash)+fresh)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return errors.Join(fsutil.SyncDir(s.dir), fsutil.SyncDir(filepath.Dir(s.dir)))
}

// Settle keeps what was put: an entry names it. An error is mended by Recover.
func (s *Store) Settle(hash string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(hash)
	return s.settle(hash)
}

func (s *Store) settle(hash string) error {
	err := os.Rename(s.path(hash)+fresh, s.path(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Discard removes what was put, unless it was there before or another input has put it
// too.
func (s *Store) Discard(hash string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.release(hash); s.holds[hash] > 0 {
		return nil
	}
	return remove(s.path(hash) + fresh)
}

// Leave gives up what was put without knowing whether an entry names it. Recover
// decides.
func (s *Store) Leave(hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(hash)
	s.holds[hash]++ // nobody may discard it before the next start
}

func (s *Store) release(hash string) {
	if s.holds[hash]--; s.holds[hash] <= 0 {
		delete(s.holds, hash)
	}
}

// Read returns the bytes of a hash. The error for bytes that are not there is
// fs.ErrNotExist, for other bytes ErrAltered.
func (s *Store) Read(hash string) ([]byte, error) { return s.read(hash) }

func (s *Store) read(hash string) ([]byte, error) {
	if !isHash(hash) {
		return nil, fmt.Errorf("%q is no hash: %w", hash, fs.ErrNotExist)
	}
	f, err := s.open(hash)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	if Hash(data) != hash {
		return nil, fmt.Errorf("attachment %.12s: %w", hash, ErrAltered)
	}
	return data, nil
}

// open opens the file with the bytes of a hash.
func (s *Store) open(hash string) (f *os.File, err error) {
	last := s.path(hash)
	for _, path := range []string{last, last + fresh, last} { // Settle may rename it between two of them
		if f, err = os.Open(path); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return f, err
}

// Erase removes the bytes of a hash for good. Bytes that are not there are no error.
func (s *Store) Erase(hash string) error {
	if !isHash(hash) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(remove(s.path(hash)), remove(s.path(hash)+fresh), fsutil.SyncDir(s.dir))
}

// Recover removes what an earlier process put and no entry names. named returns which
// of some hashes entries name; it is called only if there is something to decide.
func (s *Store) Recover(named func(hashes []string) (map[string]bool, error)) error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []string
	var errs []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), unwritten) {
			errs = append(errs, remove(filepath.Join(s.dir, e.Name())))
		} else if hash, is := strings.CutSuffix(e.Name(), fresh); is && isHash(hash) {
			open = append(open, hash)
		}
	}
	if len(open) == 0 {
		return errors.Join(errs...)
	}
	is, err := named(open)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, hash := range open {
		if is[hash] {
			errs = append(errs, s.settle(hash))
		} else {
			errs = append(errs, remove(s.path(hash)+fresh))
		}
	}
	return errors.Join(append(errs, fsutil.SyncDir(s.dir))...)
}

func (s *Store) path(hash string) string { return filepath.Join(s.dir, hash) }

func isHash(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == sha256.Size && strings.ToLower(s) == s
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
