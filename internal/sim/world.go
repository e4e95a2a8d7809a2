package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// options choose what happens in a night besides its seed.
type options struct {
	dir      string // for databases; a folder in memory
	tasks    int    // of the plan
	projects uint64 // one night in so many has several projects; 0 = none has
	remakes  uint64 // in one night of so many people take tasks out of the branch; 0 = in none
	adds     uint64 // in one night of so many people and sessions add tasks; 0 = in none
	pushes   uint64 // in one night of so many runs push their branches; 0 = in none
	hosts    uint64 // in one night of so many sessions have a closed network; 0 = in none
	repeats  uint64 // in one night of so many tasks come back after they are done; 0 = in none
	nights   int    // on one ledger; 0 and 1 are one
	disks    uint64 // the ledger lies on a simulated disk in one night of so many; 0 = in none
	memory   uint64 // the ledger is in memory in one night of so many, unless on a simulated disk; 0 = in none
	story    bool   // keep every line, else the last ones
}

// world is one night: the daemon under test and everything around it. Only the
// coroutines of its scheduler use it.
type world struct {
	seed  uint64
	opt   options
	rnd   *rand.Rand
	s     *scheduler
	all   *life // of what outlives each process
	began time.Time
	shift time.Duration // jumps of the clock
	zone  *time.Location

	intensity float64 // of faults
	calm      bool    // nothing goes wrong any more
	counts    [faults]int

	story    story
	sites    []*site
	sessions int // at a time, of all projects
	objects  *objects
	people   []*person
	remakes  *rand.Rand       // what people do with the branch; nil: nothing
	adds     *rand.Rand       // what people and sessions add; nil: nothing
	pushes   *rand.Rand       // how runs push; nil: they do not
	hosts    *rand.Rand       // what sessions ask for; nil: their network is open
	repeats  *rand.Rand       // which tasks come back; nil: none does
	wishes   []*wish          // what they want added
	ideas    map[string]*idea // that chats spoke of, by id
	undos    int              // times that somebody asked to take additions out
	undone   int              // times that they were taken out
	chats    []*platform
	long     longLife
	audit    *audit // of the first site; what it shares is the night's

	path      string        // of the database's folder
	disk      *ledgerDisk   // of the ledger; nil: a file in memory
	store     nightLedger   // nil while none is open
	memory    *store.Memory // the ledger; nil: a file, or on the disk
	daemon    *daemon       // nil while none runs
	boots     int
	full      bool                    // the disk of the ledger is full
	freed     time.Time               // by the scheduler's clock: when it had space again last
	unusable  *ledger.RepositoryError // why the user's repository takes no commit; nil while it does
	down      error                   // what git and new processes fail with; nil while they work
	downSince time.Time               // by the scheduler's clock
	over      bool
	cut       bool // over, because its disk lost what it had confirmed

	stuckSince time.Time // the scheduler's time since which nothing could go on; zero: something can
}

// broken is the panic of an invariant that does not hold.
type broken struct{ name, text string }

func (b broken) String() string { return b.name + ": " + b.text }

// newWorld draws a night from a seed.
func newWorld(seed uint64, opt options) (*world, error) {
	if opt.tasks == 0 {
		opt.tasks = 12
	}
	w := &world{seed: seed, opt: opt, ideas: map[string]*idea{}, rnd: rand.New(rand.NewPCG(seed, 0x6e70)), objects: newObjects(), sessions: 1}
	w.s = newScheduler(w.rnd)
	w.all = &life{s: w.s}
	w.story.keep = opt.story
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		return nil, err
	}
	w.zone = zone
	w.intensity = pick(w, 0, 0.5, 1, 1, 1, 2)
	w.began = time.Date(2026, 11, 20, 21, 0, 0, 0, zone).Add(time.Duration(w.rnd.IntN(120)) * time.Minute)
	if w.one(12) {
		w.began = pick(w, time.Date(2026, 10, 24, 22, 30, 0, 0, zone), time.Date(2027, 3, 27, 22, 30, 0, 0, zone))
		w.count(clockDST)
	}
	w.path, err = os.MkdirTemp(opt.dir, fmt.Sprintf("night-%d-", seed))
	if err != nil {
		return nil, err
	}
	if err := w.newDatabase(); err != nil {
		return nil, err
	}
	w.drawSites()
	w.drawRemakes()
	w.drawAdds()
	w.drawPushes()
	w.drawHosts()
	w.drawRepeats()
	w.s.idle = w.idle
	for _, s := range w.sites {
		s.drawRepo()
		s.drawSettings()
		s.drawPlan()
	}
	w.drawPeople()
	return w, nil
}

// newDatabase puts a new ledger into the night's folder: a copy of one that was
// migrated once, because migrations take longer than a short night.
func (w *world) newDatabase() error {
	switch {
	case w.opt.onDisk(w.seed):
		return w.newDisk()
	case w.opt.inMemory(w.seed):
		w.memory = store.NewMemory()
		return nil
	}
	data, err := emptyDatabase(w.opt.dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.path, store.Name), data, 0o600)
}

// close ends what is left of the night.
func (w *world) close() error {
	w.s.end()
	var err error
	if w.store != nil {
		err = w.store.Close()
	}
	if w.disk != nil {
		w.disk.Remove()
		err = nil // the power may be cut
	}
	if gone := os.RemoveAll(w.path); err == nil {
		err = gone
	}
	return err
}

// wall is the time of day.
func (w *world) wall() time.Time {
	return w.began.Add(w.s.now.Sub(time.Unix(0, 0)) + w.shift).In(w.zone)
}

func (w *world) elapsed() time.Duration { return w.s.now.Sub(time.Unix(0, 0)) }

// one is true once in n times.
func (w *world) one(n int) bool { return w.rnd.IntN(n) == 0 }

func pick[T any](w drawer, of ...T) T { return of[w.draw().IntN(len(of))] }

// drawer has the night's random numbers.
type drawer interface{ draw() *rand.Rand }

func (w *world) draw() *rand.Rand { return w.rnd }

// between draws a duration from a to b.
func (w *world) between(a, b time.Duration) time.Duration {
	return a + time.Duration(w.rnd.Int64N(int64(b-a)+1))
}

// around draws a duration with the mean d, of any length up to eight times that.
func (w *world) around(d time.Duration) time.Duration {
	return min(time.Duration(w.rnd.ExpFloat64()*float64(d)), 8*d)
}

// on reports whether faults happen in this night, and at this hour.
func (w *world) on() bool {
	return !w.calm && w.intensity > 0
}

// draws reports whether an occasion has the fault.
func (w *world) draws(f fault) bool {
	return w.on() && w.rnd.Float64()*float64(faultTable[f].per) < w.intensity
}

// hit draws whether an occasion has the fault, and counts it.
func (w *world) hit(f fault) bool {
	if !w.draws(f) {
		return false
	}
	w.count(f)
	return true
}

func (w *world) count(f fault) { w.counts[f]++ }

// tell adds a line to the story.
func (w *world) tell(who, format string, args ...any) {
	w.story.add(w.wall(), who, fmt.Sprintf(format, args...))
}

// fail ends the night because an invariant does not hold.
func (w *world) fail(name, format string, args ...any) {
	panic(broken{name, fmt.Sprintf(format, args...)})
}

// spawn starts a coroutine of the world.
func (w *world) spawn(f func()) { w.all.Go(f) }

// drawRepo makes the user's repository.
func (w *site) drawRepo() {
	f := files{"README.md": "good 0"}
	for n := range 5 {
		f[fmt.Sprintf("src/old%d.go", n)] = "good 0"
	}
	if w.intensity > 0 && w.hit(baseRed) {
		f["src/old0.go"] = "bad 0"
	}
	tree := w.objects.add(f)
	c0 := id("c", tree)
	w.objects.commits[c0] = commit{tree: tree}
	w.repo = repo{head: c0, branches: map[string]string{}, work: map[string]files{}}
	w.machine = newMachine()
}

// run plays the night. It returns the invariant that broke, or nil.
func (w *world) run() (b *broken) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case broken:
			b = &fault
		default:
			b = &broken{"panic", fmt.Sprintf("%v\n%s", fault, stack())}
		}
	}()
	for _, s := range w.sites {
		s.tell("night", "seed %d, %d tasks, pattern %s, %s, %s, faults ×%g", w.seed, w.opt.tasks, s.settings.Pattern.Name, s.settings.Profile, stays(s.settings), w.intensity)
	}
	w.boot()
	for _, s := range w.sites {
		w.spawn(s.operator)
		if w.adds != nil {
			w.spawn(s.console)
		}
	}
	w.spawn(w.fate)
	if w.disk != nil {
		w.spawn(w.diskFate)
	}
	for _, p := range w.people {
		w.spawn(p.live)
	}
	for _, c := range w.chats {
		w.spawn(c.weather)
	}
	for !w.over {
		if !w.s.step() {
			w.fail("liveness", "nothing will ever happen again")
		}
		w.audit.step()
	}
	if !w.cut {
		w.audit.end()
	}
	return nil
}

func stays(s ledger.Settings) string {
	if s.Stays {
		return "up"
	}
	return "run"
}

// background is the context of what nothing cancels.
var background = context.Background()
