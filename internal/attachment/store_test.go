package attachment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func names(t *testing.T, s *Store) []string {
	t.Helper()
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func put(t *testing.T, s *Store, text string) string {
	t.Helper()
	hash, err := s.Put([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func reads(t *testing.T, s *Store, hash, want string) {
	t.Helper()
	if got, err := s.Read(hash); err != nil || string(got) != want {
		t.Errorf("read %.12s: %q, %v; want %q", hash, got, err, want)
	}
}

func missing(t *testing.T, s *Store, hash string) {
	t.Helper()
	if got, err := s.Read(hash); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read %.12s: %q, %v; want nothing there", hash, got, err)
	}
}

func TestStore(t *testing.T) {
	s := Open(t.TempDir())
	a := put(t, s, "a")
	reads(t, s, a, "a") // a session may begin before Settle
	if err := s.Settle(a); err != nil {
		t.Fatal(err)
	}
	if got := names(t, s); !slices.Equal(got, []string{a}) {
		t.Errorf("the folder has %q", got)
	}
	for path, want := range map[string]fs.FileMode{s.dir: 0o700, s.path(a): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v; want %v", path, info.Mode(), err, want)
		}
	}

	again := put(t, s, "a")
	if err := s.Discard(again); err != nil {
		t.Fatal(err)
	}
	reads(t, s, a, "a") // what an entry names stays

	b := put(t, s, "b")
	if err := s.Discard(b); err != nil {
		t.Fatal(err)
	}
	missing(t, s, b)

	if err := os.WriteFile(s.path(a), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(a); !errors.Is(err, ErrAltered) {
		t.Errorf("altered bytes: %v", err)
	}
	if err := s.Erase(a); err != nil {
		t.Fatal(err)
	}
	missing(t, s, a)
	if err := errors.Join(s.Erase(a), s.Erase("../nightporter.db"), Open(t.TempDir()).Erase(a)); err != nil {
		t.Errorf("erase what is not there: %v", err)
	}
}

// TestSameBytes has two chats send the same picture at once: what one of them has in
// the ledger is not taken away by the refusal of the other.
func TestSameBytes(t *testing.T) {
	for _, refusedFirst := range []bool{true, false} {
		s := Open(t.TempDir())
		a, b := put(t, s, "x"), put(t, s, "x")
		var err error
		if refusedFirst {
			err = errors.Join(s.Discard(a), s.Settle(b))
		} else {
			err = errors.Join(s.Settle(b), s.Discard(a))
		}
		if err != nil {
			t.Fatal(err)
		}
		reads(t, s, b, "x")
	}
	s := Open(t.TempDir())
	a, b := put(t, s, "x"), put(t, s, "x")
	s.Leave(a)
	if err := s.Discard(b); err != nil {
		t.Fatal(err)
	}
	reads(t, s, a, "x") // an entry may name it
}

// TestRecover starts again after a process that died between the bytes and the entry,
// between the entry and the name, and while it wrote.
func TestRecover(t *testing.T) {
	state := t.TempDir()
	s := Open(state)
	named, orphan, kept := put(t, s, "named"), put(t, s, "orphan"), put(t, s, "kept")
	if err := s.Settle(kept); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, unwritten+"123"), []byte("hal"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = Open(state)
	err := s.Recover(func([]string) (map[string]bool, error) { return nil, errors.New("the ledger cannot be read") })
	if err == nil {
		t.Error("nothing says that the ledger could not be read")
	}
	reads(t, s, orphan, "orphan") // nothing is removed without knowing
	asked := 0
	err = s.Recover(func(hashes []string) (map[string]bool, error) {
		if asked++; slices.Contains(hashes, kept) || len(hashes) != 2 {
			t.Errorf("asked about %q", hashes)
		}
		return map[string]bool{named: true}, nil
	})
	if err != nil || asked != 1 {
		t.Fatal(asked, err)
	}
	reads(t, s, named, "named")
	reads(t, s, kept, "kept")
	missing(t, s, orphan)
	want := []string{named, kept}
	slices.Sort(want)
	if got := names(t, s); !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
	if err := s.Recover(func([]string) (map[string]bool, error) { asked++; return nil, nil }); err != nil || asked != 1 {
		t.Errorf("a start without anything to decide reads the ledger, or fails: %v", err)
	}
}

// TestReadWhileSettled checks that bytes are found while they get their last name.
func TestReadWhileSettled(t *testing.T) {
	s := Open(t.TempDir())
	put(t, s, "the folder")
	for n := range 500 {
		text := []byte(fmt.Sprint(n))
		hash := Hash(text)
		if err := os.WriteFile(s.path(hash)+fresh, text, 0o600); err != nil { // as Put does, but not to the disk
			t.Fatal(err)
		}
		settled := make(chan error)
		go func() { settled <- s.Settle(hash) }()
		for waiting := true; waiting; {
			select {
			case err := <-settled:
				if err != nil {
					t.Fatal(err)
				}
				waiting = false
			default:
			}
			if _, err := s.Read(hash); err != nil {
				t.Fatalf("round %d: %v", n, err)
			}
		}
	}
}
