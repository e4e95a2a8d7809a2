package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Options say how sessions are run on this machine. Paths are absolute.
type Options struct {
	State  string                // state folder; must exist
	Self   string                // the nightporter program to run shims from; "" is this process's own
	Hat    string                // the hat program; "" gives sessions a link named hat to Self
	Agents map[string]Definition // by name

	SessionUser string // "", NAME, UID or UID:GID; for a daemon started as root, default 65534
	Boundary    string // "" or "required": nothing is started below level 2
	// MaxLevel is the highest boundary level that is tried, 0 for the highest
	// there is. It is for machines on which a level works and gets in the way,
	// and for tests of the lower ones.
	MaxLevel int

	Read     []string         // more that every session may read, inside what is hidden or out of its user's reach
	Cache    []string         // more folders that every session may write
	Hide     []string         // more that no session may read, such as files with tokens
	PassEnv  []string         // names of the daemon's variables that every session gets, commands included
	Projects map[string]Grant // what single projects add

	// BeforeStart, if not nil, is called when a session's folder is ready and
	// before anything runs in it: the daemon listens on the socket there.
	BeforeStart func(ctx context.Context, session, socket string) error

	Timing Timing // zero values take the defaults
	Log    *slog.Logger
}

// Grant is what one project's sessions may use besides.
type Grant struct {
	Read  []string
	Cache []string
}

// Timing holds the shim's intervals.
type Timing struct {
	Check   ledger.Duration `json:"check"`   // between two looks at CPU, limits and daemon; default 5 s
	Grace   ledger.Duration `json:"grace"`   // from TERM to KILL; default 10 s
	Rest    ledger.Duration `json:"rest"`    // the same for what a session left behind; default 1 s
	Abandon ledger.Duration `json:"abandon"` // without a daemon until the session is ended; default 30 min (docs/spec 10)
}

func (t Timing) defaults() Timing {
	set := func(d *ledger.Duration, to time.Duration) {
		if *d <= 0 {
			*d = ledger.Duration(to)
		}
	}
	set(&t.Check, 5*time.Second)
	set(&t.Grace, 10*time.Second)
	set(&t.Rest, time.Second)
	set(&t.Abandon, 30*time.Minute)
	return t
}

// Runner starts sessions, ends them, and says how they ended. It is safe for
// use by several goroutines.
type Runner struct {
	o    Options
	user sessionUser
	path []string // PATH of sessions, without box/bin
	bin  string   // STATE/bin/HASH
	hide []string

	levelOnce sync.Once
	level     int
	reasons   []string

	mu       sync.Mutex
	children map[string]*child // shims that this process started
}

// child is a shim of this process; done is closed when it was reaped.
type child struct{ done chan struct{} }

// New installs the programs in STATE/bin/HASH and returns the runner. Paths
// in the options that are not absolute, and an impossible session_user, are
// errors.
func New(o Options) (*Runner, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Timing = o.Timing.defaults()
	if o.Boundary != "" && o.Boundary != "required" {
		return nil, fmt.Errorf("boundary = %q is not known: write \"required\", or leave it out", o.Boundary)
	}
	if err := absolute(o); err != nil {
		return nil, err
	}
	// Real paths from here on: what is hidden and shown again in a session's
	// mounts must not be reached by a second name.
	state, err := filepath.EvalSymlinks(o.State)
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	o.State = state
	u, err := parseUser(o.SessionUser, os.Geteuid())
	if err != nil {
		return nil, err
	}
	r := &Runner{o: o, user: u, children: map[string]*child{}}
	r.path = slices.DeleteFunc(searchPath(os.Getenv("PATH")), func(p string) bool { return within(real(p), state) })
	r.hide = r.hidden()
	if err := r.refuse(); err != nil {
		return nil, err
	}
	if r.bin, err = install(o); err != nil {
		return nil, fmt.Errorf("install programs for sessions: %w", err)
	}
	return r, nil
}

func absolute(o Options) error {
	all := slices.Concat([]string{o.State}, o.Read, o.Cache, o.Hide)
	for _, g := range o.Projects {
		all = slices.Concat(all, g.Read, g.Cache)
	}
	for _, p := range all {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("%q is not an absolute path", p)
		}
	}
	return nil
}

// refuse turns down grants that would open what is never to be read or
// written.
func (r *Runner) refuse() error {
	grants := slices.Concat(r.o.Read, r.o.Cache)
	for _, g := range r.o.Projects {
		grants = slices.Concat(grants, g.Read, g.Cache)
	}
	for _, g := range grants {
		for _, h := range r.hide {
			if g == h || within(g, h) {
				return fmt.Errorf("read or cache %q: sessions never see %s; name another folder", g, h)
			}
		}
	}
	return nil
}

// Program returns the path of the installed nightporter, for agents that are
// part of it. Sessions can run it.
func (r *Runner) Program() string { return filepath.Join(r.bin, "nightporter") }

func (r *Runner) names() []string { return slices.Sorted(maps.Keys(r.o.Agents)) }

func (r *Runner) folder(session string) string {
	return filepath.Join(r.o.State, "sessions", session)
}

func (r *Runner) cache(project string) string { return filepath.Join(r.o.State, "cache", project) }

// boundary reports why sessions cannot be started in the boundary that this
// machine has.
func (r *Runner) boundary() error {
	level, reasons := r.Level()
	if level == 0 {
		return fmt.Errorf("no session can be started here: %s", join(reasons))
	}
	if r.o.Boundary == "required" && level < 2 {
		return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text:   "boundary = \"required\", and this machine cannot keep a session from writing outside: " + join(reasons),
			Remedy: "use a kernel with Landlock (6.2 or newer), or take boundary out of the configuration",
		}}}
	}
	return nil
}

func join(reasons []string) string {
	var s string
	for i, r := range reasons {
		if i > 0 {
			s += "; "
		}
		s += r
	}
	return s
}

// within reports whether path lies below dir. Both are clean.
func within(path, dir string) bool {
	if dir == "/" {
		return path != "/"
	}
	return len(path) > len(dir) && path[:len(dir)] == dir && path[len(dir)] == '/'
}

// searchPath is PATH with the entries that are absolute and exist.
func searchPath(env string) []string {
	var out []string
	for _, p := range filepath.SplitList(env) {
		p = filepath.Clean(p)
		if fi, err := os.Stat(p); filepath.IsAbs(p) && err == nil && fi.IsDir() && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// isGone reports whether err says that a file is not there.
func isGone(err error) bool { return errors.Is(err, os.ErrNotExist) }
