package main

import (
	"bytes"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// shortNights are nights of a small plan: most of what goes wrong does so in them
// too, and takes a tenth of the time.
func shortNights(t *testing.T) options {
	t.Helper()
	dir, err := os.MkdirTemp(memoryFolder(), "nightporter-sim-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return options{dir: dir, tasks: 3, disks: 4}
}

// parallel calls do for each seed, as many at a time as there are processors.
func parallel(from, to uint64, do func(seed uint64)) {
	var next atomic.Uint64
	next.Store(from)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := next.Add(1) - 1; seed < to; seed = next.Add(1) - 1 {
				do(seed)
			}
		})
	}
	wg.Wait()
}

// TestNights plays nights of fixed seeds. A seed that breaks an invariant is
// replayed with: go run ./internal/sim -tasks 3 -projects 0 -remakes 0 -adds 0 -pushes 0 -hosts 0 -repeats 0 -seed N
func TestNights(t *testing.T) {
	opt := shortNights(t)
	parallel(1, 121, func(seed uint64) {
		r, err := play(seed, opt)
		if err != nil {
			t.Error(err)
			return
		}
		if r.broken != nil {
			var out bytes.Buffer
			r.story.print(&out, 25)
			t.Errorf("%sseed %d broke %s\nreplay it with: go run ./internal/sim -tasks 3 -projects 0 -remakes 0 -adds 0 -pushes 0 -hosts 0 -repeats 0 -seed %d", out.String(), seed, r.broken, seed)
		}
	})
}

// TestBroken plays whole nights that once broke an invariant, each for what it says.
func TestBroken(t *testing.T) {
	for seed, what := range map[uint64]string{
		50000411: "a line that was gone came back while no daemon ran: its task rested before the plan was read",
		50016046: "a task that had been alone with its failures stayed alone in the next burst, and was blocked for it",
		50001333: "a task that was taken out and done again with nothing to change counted as left out",
	} {
		r, err := play(seed, options{dir: t.TempDir(), tasks: 12, projects: 8, remakes: 4, disks: 4, memory: 2})
		if err != nil {
			t.Error(err)
		} else if r.broken != nil {
			t.Errorf("%s: seed %d broke %s\nreplay it with: go run ./internal/sim -adds 0 -pushes 0 -hosts 0 -repeats 0 -seed %d", what, seed, r.broken, seed)
		}
	}
}

// TestDisks plays nights whose ledger lies on a disk that fails.
func TestDisks(t *testing.T) {
	opt := shortNights(t)
	opt.disks = 1
	var mu sync.Mutex
	var counts [faults]int
	parallel(301, 341, func(seed uint64) {
		r, err := play(seed, opt)
		if err != nil {
			t.Error(err)
			return
		}
		if r.broken != nil {
			t.Errorf("seed %d broke %s\nreplay it with: go run ./internal/sim -tasks 3 -disks 1 -projects 0 -remakes 0 -adds 0 -pushes 0 -hosts 0 -repeats 0 -seed %d", seed, r.broken, seed)
		}
		mu.Lock()
		defer mu.Unlock()
		for f, n := range r.counts {
			counts[f] += n
		}
	})
	for _, f := range []fault{powerCut, diskErrors, diskLies, diskDamage} {
		if counts[f] == 0 {
			t.Errorf("no night had %s: the test shows nothing of it", faultTable[f].name)
		}
	}
}

// TestProjects plays nights with several projects.
func TestProjects(t *testing.T) {
	opt := shortNights(t)
	opt.projects = 1
	parallel(1, 25, func(seed uint64) {
		r, err := play(seed, opt)
		switch {
		case err != nil:
			t.Error(err)
		case r.broken != nil:
			t.Errorf("seed %d broke %s\nreplay it with: go run ./internal/sim -tasks 3 -projects 1 -remakes 0 -adds 0 -pushes 0 -hosts 0 -repeats 0 -seed %d", seed, r.broken, seed)
		case r.counts[manyProjects] == 0:
			t.Errorf("seed %d has one project", seed)
		}
	})
}

// TestRemakes plays nights whose people change the run's branch.
func TestRemakes(t *testing.T) {
	opt := shortNights(t)
	opt.remakes = 1
	var mu sync.Mutex
	var counts [faults]int
	parallel(1, 41, func(seed uint64) {
		r, err := play(seed, opt)
		if err != nil {
			t.Error(err)
			return
		}
		if r.broken != nil {
			t.Errorf("seed %d broke %s\nreplay it with: go run ./internal/sim -tasks 3 -projects 0 -remakes 1 -adds 0 -pushes 0 -hosts 0 -repeats 0 -seed %d", seed, r.broken, seed)
		}
		mu.Lock()
		defer mu.Unlock()
		for f, n := range r.counts {
			counts[f] += n
		}
	})
	if counts[personRemakes] == 0 {
		t.Error("nobody changed a branch: the test shows nothing")
	}
}

// TestAdds plays nights in which tasks are added and ideas planned.
func TestAdds(t *testing.T) {
	opt := shortNights(t)
	opt.adds = 1
	var mu sync.Mutex
	var counts [faults]int
	parallel(1, 81, func(seed uint64) {
		r, err := play(seed, opt)
		if err != nil {
			t.Error(err)
			return
		}
		if r.broken != nil {
			t.Errorf("seed %d broke %s\nreplay it with: go run ./internal/sim -tasks 3 -projects 0 -remakes 0 -adds 1 -pushes 0 -hosts 0 -repeats 0 -seed %d", seed, r.broken, seed)
		}
		mu.Lock()
		defer mu.Unlock()
		for f, n := range r.counts {
			counts[f] += n
		}
	})
	for _, f := range []fault{personAdds, personDecides, sourceAdds, addFails, addCut} {
		if counts[f] == 0 {
			t.Errorf("no night had %s: the test shows nothing of it", faultTable[f].name)
		}
	}
}

// TestPushes plays nights whose runs push to a remote that fails.
func TestPushes(t *testing.T) {
	opt := shortNights(t)
	opt.pushes = 1
	var failed atomic.Int64
	parallel(1, 31, func(seed uint64) {
		r, err := play(seed, opt)
		switch {
		case err != nil:
			t.Error(err)
		case r.broken != nil:
			t.Errorf("seed %d broke %s\nreplay it with: go run ./internal/sim -tasks 3 -projects 0 -remakes 0 -adds 0 -pushes 1 -hosts 0 -repeats 0 -seed %d", seed, r.broken, seed)
		}
		failed.Add(int64(r.counts[remoteFails]))
	})
	if failed.Load() == 0 {
		t.Error("no remote failed: the test shows nothing")
	}
}

// TestRepeats plays nights whose plans have tasks that come back.
func TestRepeats(t *testing.T) {
	opt := shortNights(t)
	opt.repeats = 1
	var mu sync.Mutex
	var counts [faults]int
	parallel(1, 41, func(seed uint64) {
		r, err := play(seed, opt)
		if err != nil {
			t.Error(err)
			return
		}
		if r.broken != nil {
			t.Errorf("seed %d broke %s\nreplay it with: go run ./internal/sim -tasks 3 -projects 0 -remakes 0 -adds 0 -pushes 0 -hosts 0 -repeats 1 -seed %d", seed, r.broken, seed)
		}
		mu.Lock()
		defer mu.Unlock()
		for f, n := range r.counts {
			counts[f] += n
		}
	})
	for _, f := range []fault{taskReturns, runIdle} {
		if counts[f] == 0 {
			t.Errorf("no night had %s: the test shows nothing of it", faultTable[f].name)
		}
	}
}

// TestHosts plays nights whose sessions have a closed network and ask for hosts.
func TestHosts(t *testing.T) {
	opt := shortNights(t)
	opt.hosts = 1
	var mu sync.Mutex
	var counts [faults]int
	parallel(1, 61, func(seed uint64) {
		r, err := play(seed, opt)
		if err != nil {
			t.Error(err)
			return
		}
		if r.broken != nil {
			t.Errorf("seed %d broke %s\nreplay it with: go run ./internal/sim -tasks 3 -projects 0 -remakes 0 -adds 0 -pushes 0 -hosts 1 -repeats 0 -seed %d", seed, r.broken, seed)
		}
		mu.Lock()
		defer mu.Unlock()
		for f, n := range r.counts {
			counts[f] += n
		}
	})
	for _, f := range []fault{hostAsked, hostReached} {
		if counts[f] == 0 {
			t.Errorf("no night had %s: the test shows nothing of it", faultTable[f].name)
		}
	}
}

// TestMemory plays nights with a ledger in memory and with one in a file: every line
// must be the same. So store.Memory, which half of all nights use, is the store that
// the other half has.
func TestMemory(t *testing.T) {
	opt := shortNights(t)
	opt.disks, opt.projects, opt.remakes, opt.adds, opt.pushes, opt.hosts, opt.repeats = 0, 3, 3, 3, 3, 3, 3
	parallel(301, 331, func(seed uint64) {
		var hashes [2]string
		for n := range hashes {
			opt := opt
			opt.memory = uint64(n)
			r, err := play(seed, opt)
			if err != nil {
				t.Error(err)
				return
			}
			hashes[n] = r.story.hash()
		}
		if hashes[0] != hashes[1] {
			t.Errorf("seed %d has another story with a ledger in memory\ncompare: go run ./internal/sim -tasks 3 -disks 0 -projects 3 -remakes 3 -adds 3 -pushes 3 -hosts 3 -repeats 3 -seed %d -memory 0, and 1", seed, seed)
		}
	})
}

// TestLong plays some nights on one ledger.
func TestLong(t *testing.T) {
	opt := shortNights(t)
	opt.disks, opt.nights = 0, 5
	parallel(1, 5, func(seed uint64) {
		r, err := play(seed, opt)
		switch {
		case err != nil:
			t.Error(err)
		case r.broken != nil:
			t.Errorf("seed %d broke %s", seed, r.broken)
		case r.length < 4*betweenNights:
			t.Errorf("seed %d is over after %s", seed, r.length)
		}
	})
}

// TestReplay plays each of some nights twice: every line must be the same, with its
// time.
func TestReplay(t *testing.T) {
	opt := shortNights(t)
	opt.story = true
	opt.disks, opt.projects, opt.remakes, opt.adds, opt.pushes, opt.hosts, opt.repeats = 2, 3, 3, 3, 3, 3, 3
	parallel(1, 13, func(seed uint64) {
		var hashes [2]string
		var stories [2]bytes.Buffer
		for n := range hashes {
			r, err := play(seed, opt)
			if err != nil {
				t.Error(err)
				return
			}
			hashes[n] = r.story.hash()
			r.story.print(&stories[n], 0)
		}
		if hashes[0] == hashes[1] {
			return
		}
		a, b := bytes.Split(stories[0].Bytes(), []byte("\n")), bytes.Split(stories[1].Bytes(), []byte("\n"))
		for n := range min(len(a), len(b)) {
			if !bytes.Equal(a[n], b[n]) {
				t.Errorf("seed %d: line %d differs:\n  %s\n  %s", seed, n, a[n], b[n])
				return
			}
		}
		t.Errorf("seed %d: %d lines, then %d", seed, len(a), len(b))
	})
}

// TestBrokenNights plays nights that broke an invariant once.
func TestBrokenNights(t *testing.T) {
	for _, night := range []struct {
		seed    uint64
		tasks   int
		disks   uint64
		remakes uint64
	}{
		{1015, 5, 0, 0}, {1023, 5, 0, 0}, {40180, 5, 0, 0}, {60042, 5, 0, 0},
		{149, 12, 4, 0},           // a start acted on a commit whose sync had failed
		{1795391166097, 12, 4, 0}, // the disk lied on after a power cut
		{641, 12, 4, 0},           // two tasks, each set aside for the other's sake
		{154, 12, 4, 0},           // two inputs of one time, whose effects got one key
		{417, 12, 4, 0},           // a log that is whole up to a bad page is an older state
		{20004797, 12, 4, 0},      // a chat that could not read its cursor listened no more
		{20019525, 12, 4, 0},      // judged before the daemon's next try to commit
		{20009572, 12, 4, 0},      // nobody watched the plan after a start that had nothing to decide
		{42000066, 12, 4, 4},      // a plan that came back and was saved slowly within a second
		{51000054, 12, 4, 1},      // a paused run whose branch was made again and verified
		{41000034, 12, 4, 4},      // the same of a run that had ended
		{43000749, 12, 4, 4},      // a session that worked hours after another task's had ended at once
	} {
		opt := shortNights(t)
		opt.tasks, opt.disks, opt.remakes = night.tasks, night.disks, night.remakes
		r, err := play(night.seed, opt)
		if err != nil {
			t.Fatal(err)
		}
		if r.broken != nil {
			t.Errorf("seed %d broke %s", night.seed, r.broken)
		}
	}
}
