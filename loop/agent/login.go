package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Agents' logins are stored in STATE/logins/AGENT, a folder that no session
// sees. A login consists of a few small files. A file with a single secret
// reaches a session as an environment variable. Files that the agent's program
// renews are copied into the session's HOME before it begins and back after it
// has ended. For these the session holds the login's lease, so that only one
// session at a time uses the login: the provider logs out an OAuth account
// whose token two sessions renew at once (docs/spec 10).
//
// The supervisor does this work rather than the daemon, because it lives from
// the session's start to its end even if the daemon restarts.

// Files of a login's folder that are not part of the login.
const (
	loginLock  = "lock"  // locked briefly, while files are read or written
	loginLease = "lease" // locked by the session that uses the login
)

// fileLogin is the file of a session's folder that records the login copied
// into its HOME, as a loginMark. It is needed when the supervisor did not copy
// the login back.
const fileLogin = "login.json"

// maxLogin limits the size of a login's file, in bytes.
const maxLogin = 64 << 10

// loginOf returns the login of the agent row with that name, or nil if this
// release does not know the row.
func loginOf(form string) *adapter.Login {
	if a := adapter.FindOutput(form); a != nil && a.Login.Needed() {
		return a.Login
	}
	return nil
}

// loginUse tells a supervisor which login its session uses.
type loginUse struct {
	Dir  string `json:"dir"`  // STATE/logins/AGENT
	Form string `json:"form"` // name of the agent row that describes the login
}

// loginMark records the files copied into a session's HOME, with the SHA-256 of
// each.
type loginMark struct {
	Use  loginUse          `json:"use"`
	Sums map[string]string `json:"sums"`
}

func loginDir(state, agent string) string { return filepath.Join(state, "logins", agent) }

// SaveLogin stores a login for an agent, replacing an earlier one. files come
// from Login.FromHome or Login.FromToken. A running session keeps the earlier
// login. If root saves a login into another user's state folder, the files
// belong to that user, whose nightporter has to read them.
func SaveLogin(state, agent string, files map[string][]byte) error {
	if err := checkName("agent", agent); err != nil {
		return err
	}
	dir := loginDir(state, agent)
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("save login: %w", err)
		}
		if fi, err := os.Lstat(d); err != nil || !fi.IsDir() { // a link here would let the state folder's owner redirect root's write
			return errors.Join(fmt.Errorf("save login: %s is no folder", d), err)
		}
		if err := os.Chmod(d, 0o700); err != nil {
			return fmt.Errorf("save login: %w", err)
		}
	}
	if err := saveLogin(dir, files); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return nil
	}
	owner, err := os.Stat(state)
	if err != nil {
		return fmt.Errorf("save login: %w", err)
	}
	st, ok := owner.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	err = filepath.WalkDir(filepath.Dir(dir), func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, int(st.Uid), int(st.Gid)))
	})
	if err != nil {
		return fmt.Errorf("save login: %w", err)
	}
	return nil
}

func saveLogin(dir string, files map[string][]byte) error {
	return withLoginLock(dir, func() error {
		kept, err := readLogin(dir)
		if err != nil {
			return fmt.Errorf("save login: %w", err)
		}
		for name, data := range files {
			if err := fsutil.Replace(filepath.Join(dir, name), data, 0o600); err != nil {
				return fmt.Errorf("save login: %w", err)
			}
		}
		for name := range kept {
			if _, replaced := files[name]; replaced {
				continue
			}
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return fmt.Errorf("save login: %w", err)
			}
		}
		return fsutil.SyncDir(dir)
	})
}

// RemoveLogin removes an agent's login, and reports whether there was one.
func RemoveLogin(state, agent string) (bool, error) {
	if err := checkName("agent", agent); err != nil {
		return false, err
	}
	dir := loginDir(state, agent)
	if _, err := os.Stat(dir); isGone(err) {
		return false, nil
	}
	was := false
	err := withLoginLock(dir, func() error {
		kept, err := readLogin(dir)
		if err != nil {
			return fmt.Errorf("remove login: %w", err)
		}
		for name := range kept {
			was = true
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return fmt.Errorf("remove login: %w", err)
			}
		}
		return fsutil.SyncDir(dir)
	})
	return was, err
}

// withLoginLock calls f while holding the login's lock.
func withLoginLock(dir string, f func() error) error {
	lock, err := openLock(filepath.Join(dir, loginLock))
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // closing releases the lock
	if err := flock(lock, unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", dir, err)
	}
	return f()
}

func openLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

// flock locks an open file and waits if necessary.
func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// readLogin reads the files of a login. Without a login it returns none.
func readLogin(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if n := e.Name(); n == loginLock || n == loginLease || strings.HasPrefix(n, ".") || !e.Type().IsRegular() {
			continue
		}
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// login finds the agent's login. env is the session's environment so far. It
// returns the variables to add and the supervisor's task; ok is false when the
// agent has no login.
func (r *Runner) login(d Definition, env []string) (vars []string, use *loginUse, ok bool, err error) {
	a, err := d.adapter()
	if err != nil {
		return nil, nil, false, err
	}
	form := a.Login
	if !form.Needed() || len(d.Command) > 0 && form.Args(d.Command[1:]) {
		return nil, nil, true, nil
	}
	for _, e := range env {
		if name, value, _ := strings.Cut(e, "="); value != "" && slices.Contains(form.Keys, name) {
			return nil, nil, true, nil
		}
	}
	dir := loginDir(r.o.State, d.Name)
	files, err := readLogin(dir)
	if err != nil {
		return nil, nil, false, fmt.Errorf("login of agent %q: %w", d.Name, err)
	}
	for _, file := range slices.Sorted(maps.Keys(form.Vars)) {
		if data := strings.TrimSpace(string(files[file])); data != "" {
			vars, ok = append(vars, form.Vars[file]+"="+data), true
		}
	}
	for file := range form.Home {
		if len(files[file]) > 0 {
			use, ok = &loginUse{Dir: dir, Form: a.Name}, true
		}
	}
	return vars, use, ok, nil
}

// OneSession reports whether an agent's login allows one session at a time, as an account
// does whose tokens the agent's program renews. Another session waits for it.
func (r *Runner) OneSession(agent string) (bool, error) {
	d, ok := r.o.Agents[agent]
	if !ok {
		return false, nil
	}
	env, err := r.environment(ledger.Launch{Session: "check", Project: "check", Kind: ledger.KindAgent}, d)
	if err != nil {
		return false, nil //nolint:nilerr // Check says it
	}
	_, use, _, err := r.login(d, env)
	return use != nil, err
}

// lease opens the login's lease and locks it in the background. done receives
// the result once no other session holds the lease.
func (u loginUse) lease() (*os.File, <-chan error, error) {
	if loginOf(u.Form) == nil {
		return nil, nil, fmt.Errorf("login of an unknown form %q", u.Form)
	}
	f, err := openLock(filepath.Join(u.Dir, loginLease))
	if err != nil {
		return nil, nil, fmt.Errorf("login: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- flock(f, unix.LOCK_EX) }()
	return f, done, nil
}

// storeLeftLogins takes back renewed logins that earlier sessions left in their
// HOME, because the disk was full or their supervisor was killed. The caller
// holds the lease, so none of these sessions is running. sessions is the folder
// of all sessions.
func (u loginUse) storeLeftLogins(sessions string) {
	entries, err := os.ReadDir(sessions)
	if err != nil {
		return
	}
	for _, e := range entries {
		folder := filepath.Join(sessions, e.Name())
		var m loginMark
		if readJSON(filepath.Join(folder, fileLogin), &m) != nil || m.Use != u || storeRenewedLogin(folder) != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, fileExit)); err == nil { // without exit.json, the waiting daemon cleans up
			_ = removeAll(filepath.Join(folder, dirBox, boxHome))
		}
	}
}

// copyIn copies the login into a fresh HOME for the given user, and records in
// the session's folder which files it copied.
func (u loginUse) copyIn(folder, home string, uid, gid int) error {
	form := loginOf(u.Form)
	mark := loginMark{Use: u, Sums: map[string]string{}}
	var files map[string][]byte
	err := withLoginLock(u.Dir, func() (err error) {
		files, err = readLogin(u.Dir)
		return err
	})
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	to := sessionUser{uid: uid, gid: gid}
	for file, path := range form.Home {
		data, have := files[file]
		if !have {
			continue
		}
		path = filepath.Join(home, path)
		for dir := filepath.Dir(path); within(dir, home); dir = filepath.Dir(dir) {
			if err := errors.Join(os.MkdirAll(dir, 0o700), to.chown(dir)); err != nil {
				return fmt.Errorf("login: %w", err)
			}
		}
		if err := errors.Join(os.WriteFile(path, data, 0o600), to.chown(path)); err != nil {
			return fmt.Errorf("login: %w", err)
		}
		mark.Sums[file] = sha256Hex(data)
	}
	return writeJSON(filepath.Join(folder, fileLogin), mark)
}

func sha256Hex(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// storeRenewedLogin stores a login that the ended session renewed. It is
// idempotent. It does not overwrite a login that changed in the meantime
// through a person or a later session.
func storeRenewedLogin(folder string) error {
	var mark loginMark
	switch err := readJSON(filepath.Join(folder, fileLogin), &mark); {
	case isGone(err):
		return nil
	case err != nil:
		return err
	}
	form := loginOf(mark.Use.Form)
	if form == nil || form.Renewed == nil {
		return nil
	}
	home, err := os.OpenRoot(filepath.Join(folder, dirBox, boxHome))
	if isGone(err) {
		return nil // an earlier call has done it
	}
	if err != nil {
		return err
	}
	defer func() { _ = home.Close() }()
	err = withLoginLock(mark.Use.Dir, func() error {
		for file, path := range form.Home {
			began, err := os.ReadFile(filepath.Join(mark.Use.Dir, file))
			if err != nil || sha256Hex(began) != mark.Sums[file] {
				continue // removed or changed in the meantime
			}
			left, err := readSessionFile(home, path)
			if err != nil {
				continue // the session deleted it
			}
			if next := form.Renewed(began, left); next != nil {
				if err := fsutil.Replace(filepath.Join(mark.Use.Dir, file), next, 0o600); err != nil {
					return fmt.Errorf("keep a renewed login: %w", err)
				}
			}
		}
		return fsutil.SyncDir(mark.Use.Dir)
	})
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(folder, fileLogin)); !isGone(err) { // another process may have removed it at the same time
		return err
	}
	return nil
}

// readSessionFile reads a file that a session left in its HOME. Because a
// session may have created anything, the file must be regular, have one name,
// lie within HOME and be at most maxLogin long.
func readSessionFile(home *os.Root, path string) ([]byte, error) {
	f, err := home.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1 || st.Size > maxLogin {
		return nil, fmt.Errorf("%s is not what was put there", path)
	}
	return io.ReadAll(io.LimitReader(f, maxLogin))
}
