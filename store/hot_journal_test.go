package store

import (
	"os"
	"path/filepath"
	"testing"
)

// TestHotJournal: a kill while the first start creates the database leaves a rollback
// journal beside it. No read-only connection can roll it back, and every later start
// was refused: "attempt to write a readonly database".
func TestHotJournal(t *testing.T) {
	dir, killed := t.TempDir(), t.TempDir()
	db, err := connectTo(filepath.Join(dir, Name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	for _, line := range []string{
		"PRAGMA journal_mode = DELETE", "PRAGMA user_version = 0", "PRAGMA cache_size = 1", "VACUUM", "BEGIN IMMEDIATE",
		"CREATE TABLE migrations (x)",
		// More than the cache holds is written before the commit, and the journal first.
		"INSERT INTO migrations WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT hex(randomblob(500)) FROM n",
	} {
		if _, err := db.Exec(line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	for _, name := range []string{Name, Name + "-journal"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(killed, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(killed)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
