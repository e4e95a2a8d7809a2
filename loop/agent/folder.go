package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/ledger"
)

// FolderVersion is the version of a session folder's layout, written in its
// file "version". A later release reads every earlier one (docs/spec 13).
const FolderVersion = 1

// Files of a session's folder.
const (
	fileVersion = "version"     // FolderVersion
	fileSpec    = "spec.json"   // spec: what the supervisor needs; no secrets
	fileEnv     = "env.json"    // the session's environment; removed as soon as it was read
	filePrompt  = "prompt"      // the prompt as the session gets it
	fileLock    = "lock"        // held by the supervisor for as long as it lives
	filePID     = "pid.json"    // pidFile
	fileExit    = "exit.json"   // ledger.Exit, written last, whole or not at all
	fileReserve = "exit.new"    // disk space for exit.json, taken at the start
	fileTouch   = "touch"       // its time is that of the last hat call
	fileLog     = "shim.log"    // what the supervisor had to say
	fileHead    = "output.head" // first part of the output
	fileTail    = "output.tail" // last part of the output, where it did not fit into the head
	dirAsk      = "ask"         // a folder of its own, to be watched without the output's noise
	fileAsk     = "ask/end"     // ask: the daemon wants an end
	dirBox      = "box"         // what the session sees of its folder
)

// Folders below box.
const (
	boxHome = "home" // HOME
	boxTmp  = "tmp"  // TMPDIR
	boxBin  = "bin"  // first on PATH: hat
	boxWrap = "wrap" // second on PATH: wrappers of programs that the hat is denied a use of
	boxSock = "sock" // hat.sock
)

// spec is what the supervisor of a session needs to know, and all it knows.
type spec struct {
	Version int             `json:"version"`
	Session string          `json:"session"`
	Kind    ledger.Kind     `json:"kind"`
	Agent   string          `json:"agent,omitempty"`
	State   string          `json:"state"`
	Plan    plan            `json:"plan"`
	Stdin   bool            `json:"stdin"` // the prompt goes to standard input
	Wall    ledger.Duration `json:"wall"`
	Stall   ledger.Duration `json:"stall"`
	Timing  Timing          `json:"timing"`
	Login   *loginUse       `json:"login,omitempty"` // to be copied in and back
}

// plan is what the inner stages do: the boundary and the command in it.
type plan struct {
	Level int      `json:"level"`
	Argv  []string `json:"argv"` // argv[0] is the program's absolute path
	Env   []string `json:"env,omitempty"`
	Dir   string   `json:"dir"`
	UID   int      `json:"uid"` // user to become, -1 to stay
	GID   int      `json:"gid"`
	Write []string `json:"write"` // folders that may be written
	Read  []string `json:"read"`  // paths inside hidden ones that stay visible
	Hide  []string `json:"hide"`  // paths that are not to be seen
	// Veil holds folders that the session's user cannot enter, though paths
	// that it needs lie below. Level 3 lays an empty folder over each.
	Veil  []string        `json:"veil,omitempty"`
	Grace ledger.Duration `json:"grace"` // from TERM to KILL
	Rest  ledger.Duration `json:"rest"`  // the same for what is left behind by a command that ended
}

// pidFile says which process the supervisor is, so that another daemon can
// find it and never mistakes a stranger with the same number for it.
type pidFile struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // ticks since boot, from /proc/PID/stat
	Boot  string `json:"boot"`  // kernel's boot id
	// Inner is the reaper: when it is gone, so is the tree.
	Inner      int    `json:"inner,omitempty"`
	InnerStart uint64 `json:"inner_start,omitempty"`
}

// ask is how the daemon asks for an end.
type ask struct {
	Grace ledger.Duration `json:"grace"`
}

// name is what sessions, runs and projects may be called: they become folders.
var name = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)

func checkName(what, s string) error {
	if !name.MatchString(s) {
		return fmt.Errorf("%s %q cannot be the name of a folder", what, s)
	}
	return nil
}

func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return fsutil.Replace(path, data, 0o600)
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// reserve takes the disk space that exit.json will need, so that the end of a
// session can be recorded on a disk that the session filled up.
func reserve(folder string) error {
	f, err := os.OpenFile(filepath.Join(folder, fileReserve), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = unix.Fallocate(int(f.Fd()), 0, 0, exitSize)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		_, err = f.Write(make([]byte, exitSize))
		err = errors.Join(err, f.Sync()) // until then no space need have been taken
	}
	return errors.Join(err, f.Close())
}

// exitSize is the most that an exit.json takes: a tail of 4 kB in which every
// byte is escaped, and the rest.
const exitSize = 32 << 10

// saveExit makes exit.json out of the reserved space.
func saveExit(folder string, x ledger.Exit) error {
	data, err := json.Marshal(x)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, fileReserve)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	err = errors.Join(err, f.Truncate(int64(len(data))), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(path, filepath.Join(folder, fileExit)); err != nil {
		return err
	}
	return fsutil.SyncDir(folder)
}

// lockFolder takes the lock of a session's folder, nil where another holds it.
// It is a flock, because that one goes to the supervisor with the open file.
func lockFolder(folder string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(folder, fileLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, f.Close()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lockHeld reports whether a supervisor, or a daemon that is about to start
// one, holds the folder.
func lockHeld(folder string) (bool, error) {
	f, err := os.Open(filepath.Join(folder, fileLock))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	// A shared lock that is dropped with the file again: it cannot keep a
	// supervisor out, which inherits its lock and never asks for it.
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
