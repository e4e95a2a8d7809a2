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

// Options configure a Runner. Paths are absolute.
type Options struct {
	State  string                // state folder; must exist
	Self   string                // the nightporter program for shims; "" = this process's own
	Hat    string                // the hat program; "" = a link to Self
	Shim   string                // the program that supervises sessions; "" = a link to Self
	Agents map[string]Definition // by name
	Prices []ledger.Price        // of models; the first that is for a model counts

	SessionUser string // "", NAME, UID or UID:GID; for a daemon started as root, default 65534
	Boundary    string // "required" refuses levels below 2; "" accepts any
	// MaxLevel limits the boundary level, 0 = no limit. It serves machines on
	// which a higher level works but is in the way, and tests.
	MaxLevel int

	Read     []string         // additional paths that every session may read, inside hidden ones or out of its user's reach
	Cache    []string         // additional folders of caches that every session may write
	Hide     []string         // additional paths that no session may read, such as token files
	PassEnv  []string         // names of the daemon's environment variables that every session inherits, including commands of the project
	Projects map[string]Grant // additional rights of single projects

	Limits Limits // of each session

	// BeforeStart, if not nil, is called after a session's folder is ready and
	// before any process runs in it. The daemon listens on the socket there.
	BeforeStart func(ctx context.Context, session, socket string) error

	Timing Timing // a zero value means the default
	Log    *slog.Logger
}

// Grant holds additional rights of one project's sessions.
type Grant struct {
	Read   []string
	Cache  []string // folders of caches: what a session writes there reaches no other task (cache.go)
	Shared []string // folders that every session writes as they are
	// TrustsRepo permits settings for agents that lie in the project's repository.
	TrustsRepo bool
	Surroundings
}

// Timing holds the intervals of the shim.
type Timing struct {
	Check   ledger.Duration `json:"check"`   // between two checks of CPU use, limits and daemon; default 5 s
	Grace   ledger.Duration `json:"grace"`   // between TERM and KILL; default 10 s
	Rest    ledger.Duration `json:"rest"`    // the same for processes left behind; default 1 s
	Abandon ledger.Duration `json:"abandon"` // without a daemon, until the session is ended; default 30 min (docs/spec 10)
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

// Runner starts sessions, ends them and reports how they ended. It is safe for
// concurrent use.
type Runner struct {
	o    Options
	user sessionUser
	path []string // PATH of sessions without box/bin
	bin  string   // STATE/bin/HASH
	hide []string

	levelOnce sync.Once
	level     int
	reasons   []string

	mountsOnce sync.Once
	noMounts   string // why sessions cannot have mounts; "" if they can

	networkOnce sync.Once
	noNetwork   string // why sessions cannot have a network of their own; "" if they can

	terminalsOnce sync.Once
	noTerminals   string // why sessions cannot open terminals; "" if they can

	answers   time.Duration // time in which a program has to say its version
	uncounted sync.Map      // agents of which it was said that their figures are unknown

	mu       sync.Mutex
	children map[string]*child // shims started by this process
}

// child is a shim started by this process; done is closed after it was reaped.
type child struct{ done chan struct{} }

// New installs the programs in STATE/bin/HASH and returns a Runner. It refuses
// relative paths in the options, and an invalid session_user.
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
	// Links are resolved here, because the mounts hide and show a path under
	// one name only.
	state, err := filepath.EvalSymlinks(o.State)
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	o.State = state
	u, err := parseUser(o.SessionUser, os.Geteuid())
	if err != nil {
		return nil, err
	}
	r := &Runner{o: o, user: u, answers: versionTimeout, children: map[string]*child{}}
	r.path = slices.DeleteFunc(searchPath(os.Getenv("PATH")), func(p string) bool { return within(resolvePath(p), state) })
	r.hide = r.hidden()
	if err := r.checkGrants(); err != nil {
		return nil, err
	}
	r.removeTrials()
	if r.bin, err = install(o); err != nil {
		return nil, fmt.Errorf("install programs for sessions: %w", err)
	}
	return r, nil
}

func absolute(o Options) error {
	all := slices.Concat([]string{o.State}, o.Read, o.Cache, o.Hide)
	for _, g := range o.Projects {
		all = slices.Concat(all, g.Read, g.Cache, g.Shared, g.paths())
	}
	for _, p := range all {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("%q is not an absolute path", p)
		}
	}
	return nil
}

// checkGrants returns an error for grants that would open protected paths to
// sessions.
func (r *Runner) checkGrants() error {
	grants := slices.Concat(r.o.Read, r.o.Cache)
	for _, g := range r.o.Projects {
		grants = slices.Concat(grants, g.Read, g.Cache, g.Shared)
	}
	for _, g := range grants {
		for _, h := range r.hide {
			if g == h || within(g, h) {
				return fmt.Errorf("read, cache or shared %q: sessions never see %s; name another folder", g, h)
			}
		}
	}
	return nil
}

// shim returns the path of the installed supervisor of sessions.
func (r *Runner) shim() string { return filepath.Join(r.bin, programShim) }

func (r *Runner) names() []string { return slices.Sorted(maps.Keys(r.o.Agents)) }

func (r *Runner) folder(session string) string {
	return filepath.Join(r.o.State, "sessions", session)
}

func (r *Runner) cache(project string) string { return filepath.Join(r.o.State, "cache", project) }

// cacheRoot returns the folder of what a project's caches consist of.
func (r *Runner) cacheRoot(project string) string { return filepath.Join(r.o.State, "caches", project) }

// boundary returns why this machine's boundary does not permit sessions, or
// nil.
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

// searchPath returns the absolute, existing folders of PATH.
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

// isGone reports whether err means that the file does not exist.
func isGone(err error) bool { return errors.Is(err, os.ErrNotExist) }
