package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// gitNight is a night of several lanes in a real git repository: the real engine,
// store and workspace, whose sessions edit lines of the same files. Nothing goes wrong
// in it but what the sessions do, and that the daemon may be killed.
//
// What a session writes, and how long it takes, follows from the seed, its task and
// its number alone. So a night whose daemon is killed, and starts again at the same
// moment, comes to the same commits as one whose daemon lives.
type gitNight struct {
	seed  uint64
	rnd   *rand.Rand // what the night is like
	kills *rand.Rand // when the daemon is killed; nil: it lives
	away  bool       // a killed daemon stays away for minutes
	loses bool       // merges take the branch's side of a conflict, which the audit has to find

	s        *scheduler
	all      *life
	began    time.Time
	dir      string // of all files of the night
	store    *store.Store
	daemon   *gitDaemon // nil while none runs
	up       chan struct{}
	settings ledger.Settings
	plan     ledger.Snapshot
	machine  map[string]*editor
	refused  map[string]bool // sessions whose end was asked for before their start
	book     *lineBook
	counts   gitCounts
}

// gitCounts are how often things happened in nights, by name.
type gitCounts map[string]int

func (c gitCounts) add(o gitCounts) {
	for name, count := range o {
		c[name] += count
	}
}

func (c gitCounts) String() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		out = append(out, fmt.Sprintf("%s %d", name, c[name]))
	}
	return strings.Join(out, ", ")
}

// gitProject is the name of the only project.
const gitProject = "lines"

// newGitNight makes a night in a folder of its own below dir. Paths are in the ledger, and
// its hash is in commits: nights that are compared have the same dir.
func newGitNight(seed uint64, dir string) (*gitNight, error) {
	n := &gitNight{seed: seed, rnd: rand.New(rand.NewPCG(seed, 0x617)), machine: map[string]*editor{}, refused: map[string]bool{}, counts: gitCounts{"nights": 1}, up: make(chan struct{})}
	n.s = newScheduler(rand.New(rand.NewPCG(seed, 0x9175)))
	n.all = &life{s: n.s}
	n.began = time.Date(2026, 11, 20, 21, 0, 0, 0, time.UTC)
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	if n.dir = filepath.Join(root, fmt.Sprintf("git-%d", seed)); os.Mkdir(n.dir, 0o755) != nil {
		return nil, fmt.Errorf("%s is in use", n.dir)
	}
	n.book = newLineBook(n)
	n.drawSettings()
	n.drawPlan()
	if err := n.drawRepo(); err != nil {
		return nil, err
	}
	data, err := emptyDatabase(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(n.state(), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(n.state(), store.Name), data, 0o600); err != nil {
		return nil, err
	}
	n.store, err = store.Open(n.state())
	return n, err
}

func (n *gitNight) draw() *rand.Rand { return n.rnd }

func (n *gitNight) state() string { return filepath.Join(n.dir, "state") }
func (n *gitNight) repo() string  { return filepath.Join(n.dir, "repo") }

// wall is the time of day.
func (n *gitNight) wall() time.Time { return n.began.Add(n.s.now.Sub(time.Unix(0, 0))) }

func (n *gitNight) fail(name, format string, args ...any) {
	panic(broken{name, fmt.Sprintf(format, args...)})
}

// close ends what is left of the night, and removes its files.
func (n *gitNight) close() error {
	n.s.end()
	err := n.store.Close()
	return errors.Join(err, os.RemoveAll(n.dir))
}

// maxGitSteps bounds a night: one takes some hundreds.
const maxGitSteps = 200_000

// run plays the night. It returns the invariant that broke, or nil.
func (n *gitNight) run() (b *broken) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case broken:
			b = &fault
		default:
			b = &broken{"panic", fmt.Sprintf("%v\n%s", fault, stack())}
		}
	}()
	n.boot()
	n.all.Go(n.operator)
	n.all.Go(n.person)
	for !n.over() {
		if !n.s.step() {
			n.fail("liveness", "nothing will ever happen again")
		}
		if n.s.steps > maxGitSteps {
			n.fail("bounded work", "%d steps", n.s.steps)
		}
		if n.daemon != nil && n.hit(60) {
			n.kill()
		}
	}
	n.book.end()
	return nil
}

// over reports whether the run has ended and nothing of it is left to do.
func (n *gitNight) over() bool {
	if n.daemon == nil {
		return false
	}
	s, _ := n.daemon.engine.State(gitProject)
	if s.Project.Run == nil || !s.Project.Run.Over() {
		return false
	}
	pending, err := n.store.Pending(background)
	return err == nil && len(pending) == 0
}

// operator starts the run, again if its daemon dies before it has begun.
func (n *gitNight) operator() {
	for {
		a, is := n.do(loop.Input{Project: gitProject, Actor: "console", Name: "Mira", Key: "start", Body: loop.StartRun{Settings: n.settings, MaxSessions: n.settings.Parallel}})
		if is && !a.OK {
			n.fail("start", "%s", a.Text)
		}
		if is {
			return
		}
	}
}

// do sends an input to the daemon, and returns false if that died meanwhile.
func (n *gitNight) do(in loop.Input) (a ledger.Answer, is bool) {
	for n.daemon == nil {
		_ = n.all.Wait(background, time.Minute, n.up)
	}
	d, done := n.daemon, make(chan struct{})
	d.calls = append(d.calls, done)
	answered := false
	d.life.Go(func() {
		var err error
		if a, err = d.engine.Do(background, in); err != nil {
			n.fail("answer", "%T: %v", in.Body, err)
		}
		answered = true
		d.answer(done)
	})
	_ = n.all.Wait(background, 24*time.Hour, done)
	return a, answered
}

// gitDaemon is one process of the program under test.
type gitDaemon struct {
	n      *gitNight
	life   *life
	stop   context.CancelFunc
	engine *engine.Engine
	calls  []chan struct{} // closed with their answer, or with the daemon's death
}

func (d *gitDaemon) answer(call chan struct{}) {
	if at := slices.Index(d.calls, call); at >= 0 {
		d.calls = slices.Delete(d.calls, at, at+1)
		close(call)
	}
}

// boot starts a daemon on the ledger and the repository as the one before left them.
func (n *gitNight) boot() {
	d := &gitDaemon{n: n, life: &life{s: n.s}}
	ctx, cancel := context.WithCancel(background)
	d.stop = cancel
	e, err := engine.Open(background, engine.Options{
		Ledger: gitLedger{n.store, d}, Clock: n.wall, Scheduler: d.life, Ports: d.ports,
	}, []string{ledger.ProjectStream(gitProject)})
	if err != nil {
		n.fail("recovery", "the daemon cannot open its ledger: %v", err)
	}
	d.engine, n.daemon = e, d
	close(n.up)
	d.life.Go(func() {
		if err := e.Run(ctx, func(string) bool { return true }); err != nil {
			n.fail("recovery", "the engine ends: %v", err)
		}
	})
}

// hit draws whether the daemon is killed here, once in so many times.
func (n *gitNight) hit(per int) bool { return n.kills != nil && n.kills.IntN(per) == 0 }

// kill ends the daemon between two steps, without a word to anybody. Another one starts
// at the same moment, or after minutes.
func (n *gitNight) kill() {
	d := n.daemon
	if d == nil || d.life.dead {
		return
	}
	n.counts["kills"]++
	d.life.dead = true
	n.daemon, n.up = nil, make(chan struct{})
	for len(d.calls) > 0 {
		d.answer(d.calls[0])
	}
	off := time.Duration(0)
	if n.away {
		off = time.Duration(n.kills.Int64N(int64(20 * time.Minute)))
	}
	n.all.Go(func() {
		if off > 0 {
			n.all.sleep(off)
		}
		if n.kills.IntN(4) == 0 {
			if err := n.store.Close(); err != nil {
				n.fail("store", "close: %v", err)
			}
			var err error
			if n.store, err = store.Open(n.state()); err != nil {
				n.fail("store", "open: %v", err)
			}
		}
		n.boot()
	})
}
