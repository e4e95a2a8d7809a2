package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// FolderVersion is the layout version in the file "version" of a session's
// folder. Each release reads all earlier layouts (docs/spec 13).
const FolderVersion = 1

// Files of a session's folder.
const (
	fileVersion    = "version"        // FolderVersion
	fileSpec       = "spec.json"      // spec: the supervisor's instructions; no secrets
	fileEnv        = "env.json"       // the session's environment; removed after it is read
	filePrompt     = "prompt"         // the prompt in the form that the session receives
	fileLock       = "lock"           // locked by the supervisor while it lives
	filePID        = "pid.json"       // pidFile
	fileExit       = "exit.json"      // ledger.Exit, written last and atomically
	fileReserve    = "exit.new"       // reserves disk space for exit.json
	fileTouch      = "touch"          // its modification time is that of the last hat call
	fileLog        = "shim.log"       // messages of the supervisor
	fileHead       = "output.head"    // first part of the output
	fileTail       = "output.tail"    // last part of the output, if it does not fit into the head
	fileShot       = "screenshot.png" // what a command of KindShot left for a picture, as it is; in its TMPDIR: where it writes it
	dirEndRequest  = "ask"            // holds fileEndRequest alone, so that a watch of it sees no other events
	fileEndRequest = "ask/end"        // endRequest: a request of the daemon to end the session
	dirBox         = "box"            // the part of the folder that the session sees
)

// Folders below box.
const (
	boxHome = "home" // HOME
	boxTmp  = "tmp"  // TMPDIR
	boxBin  = "bin"  // first on PATH: hat
	boxWrap = "wrap" // second on PATH: wrappers of programs that the hat is denied a use of
	boxSock = "sock" // hat.sock
)

// spec is the complete instruction of a session's supervisor.
type spec struct {
	Version int             `json:"version"`
	Session string          `json:"session"`
	Kind    ledger.Kind     `json:"kind"`
	Agent   string          `json:"agent,omitempty"`
	Model   string          `json:"model,omitempty"`  // as the session was started with it
	Output  string          `json:"output,omitempty"` // format of an agent's output; "" = text
	State   string          `json:"state"`
	Plan    plan            `json:"plan"`
	Stdin   bool            `json:"stdin"`            // the prompt is written to standard input
	Prompt  int64           `json:"prompt,omitempty"` // length of the prompt in bytes; 0 = unknown, or of an earlier release
	Wall    ledger.Duration `json:"wall"`
	Stall   ledger.Duration `json:"stall"`
	Timing  Timing          `json:"timing"`
	Login   *loginUse       `json:"login,omitempty"` // the login to copy in, and back after the end

	Project  string   `json:"project,omitempty"`  // of a command
	Masked   []string `json:"masked,omitempty"`   // names of variables whose values are removed from the output
	Secret   []string `json:"secret,omitempty"`   // names of variables whose values must not stay in what setup leaves
	Withheld bool     `json:"withheld,omitempty"` // it is setup that gets no setup_env_file and no setup_home

	MaxUSD float64        `json:"max_usd,omitempty"` // an agent is ended when its output shows that it has spent this; 0 = no limit
	Prices []ledger.Price `json:"prices,omitempty"`  // with MaxUSD or MaxTokens: of models

	MaxTokens int64 `json:"max_tokens,omitempty"` // an agent is ended when its output shows that it has used these; 0 = no limit

	Network ledger.Network `json:"network,omitzero"`
	Canary  string         `json:"canary,omitempty"` // a value of the session's environment that nothing has a reason to send
}

// plan is the instruction of the inner stages: the boundary and the command to
// run in it.
type plan struct {
	Level int      `json:"level"`
	Argv  []string `json:"argv"` // argv[0] is the program's absolute path
	Env   []string `json:"env,omitempty"`
	Dir   string   `json:"dir"`
	UID   int      `json:"uid"` // user to change to, -1 for none
	GID   int      `json:"gid"`
	Write []string `json:"write"` // writable folders
	Read  []string `json:"read"`  // paths that stay visible inside hidden ones
	Hide  []string `json:"hide"`  // hidden paths
	// Veil lists folders that the session's user cannot enter although it needs
	// paths below them. Level 3 mounts an empty folder over each.
	Veil []string `json:"veil,omitempty"`
	// Mounts are applied at level 3 only. Each At is one of Write or Read.
	Mounts []ledger.Mount `json:"mounts,omitempty"`
	Limits Limits         `json:"limits,omitzero"`
	// Others is the number of processes and threads that count against the
	// user's limit and are not the session's.
	Others int `json:"others,omitempty"`
	// Closed gives the session a network of its own at level 3, which has a loopback
	// and nothing else. The sockets of Listen are made there and served by the
	// supervisor. At level 2 the supervisor decides about the session's sockets.
	Closed bool       `json:"closed,omitempty"`
	Listen []listener `json:"listen,omitempty"`
	// Sockets are folders with Unix sockets that a session with a closed network may
	// connect to, besides those of Write.
	Sockets []string `json:"sockets,omitempty"`
	// Resolver is the file that a closed network has at /etc/resolv.conf.
	Resolver string `json:"resolver,omitempty"`

	Grace ledger.Duration `json:"grace"` // time between TERM and KILL
	Rest  ledger.Duration `json:"rest"`  // the same for processes that an ended command left behind
}

// pidFile identifies the supervisor's process for a later daemon. The start
// time and boot id tell it from another process with the same number.
type pidFile struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // ticks since boot, from /proc/PID/stat
	Boot  string `json:"boot"`  // kernel's boot id
	// Inner is the reaper's process: when it is gone, the tree is gone.
	Inner      int    `json:"inner,omitempty"`
	InnerStart uint64 `json:"inner_start,omitempty"`
}

// endRequest is the daemon's request to end the session.
type endRequest struct {
	Grace ledger.Duration `json:"grace"`
}

// endRequested reports whether the session's folder has a request to end it that
// its supervisor has not read.
func endRequested(folder string) bool {
	_, err := os.Lstat(filepath.Join(folder, fileEndRequest))
	return err == nil
}

// validName matches valid names of sessions, runs and projects. They become
// names of folders.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)

func checkName(what, s string) error {
	if !validName.MatchString(s) {
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

// reserveExitSpace allocates disk space for exit.json, so that a session's end
// can be recorded even if the session fills the disk.
func reserveExitSpace(folder string) error {
	f, err := os.OpenFile(filepath.Join(folder, fileReserve), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = allocate(f, exitSize)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		_, err = f.Write(make([]byte, exitSize))
		err = errors.Join(err, f.Sync()) // some file systems allocate space only on sync
	}
	return errors.Join(err, f.Close())
}

// exitSize is an upper bound for the size of exit.json: a tail of 4 kB in which
// every byte is escaped, and the rest.
const exitSize = 32 << 10

// saveExit writes exit.json into the reserved file and renames that.
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

// lockFolder takes the lock of a session's folder. It returns nil if another
// process holds it. It uses flock, because the supervisor inherits such a lock
// with the open file.
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

// lockHeld reports whether the folder is locked by its supervisor, or by a
// daemon that is about to start one.
func lockHeld(folder string) (bool, error) {
	f, err := os.Open(filepath.Join(folder, fileLock))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	// This shared lock ends when the file is closed. It cannot disturb a
	// supervisor, which inherits its lock and never acquires it.
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
