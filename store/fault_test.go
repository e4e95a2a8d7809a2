package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/sqlitefault"
	"github.com/nightporter/nightporter/loop/ledger"
)

// faultRounds returns how many nights of a disk a test of this file plays.
func faultRounds() int { return 2 * *rounds }

func openOnDisk(d *sqlitefault.Disk) (*Store, error) { return OpenOn(d) }

func mustOpenOn(t testing.TB, d *sqlitefault.Disk) *Store {
	t.Helper()
	s, err := openOnDisk(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// faultBatch is the batch of one key, of a size that the key decides.
func faultBatch(n int) ledger.Batch {
	key := fmt.Sprintf("in:%d", n)
	b := ledger.Batch{
		Key: key, Time: entryTime, Answer: []byte(key),
		Records:  []ledger.Record{rec(shop, key), rec(ledger.SharedStream, key)},
		Effects:  []ledger.PendingEffect{effect(shop, "start", key)},
		Messages: []ledger.Outgoing{{Chat: mira, Key: key, Class: ledger.ClassNotice}},
	}
	b.Records[0].Body = make([]byte, n%5*1500)
	return b
}

// checkPrefix checks that a store holds the batches 0 to n-1, whole, for some n
// of at least acknowledged and at most tried, that its chains are unbroken and
// that it accepts the next one. It returns n.
func checkPrefix(t *testing.T, s *Store, acknowledged, tried int) (n int, err error) {
	t.Helper()
	breaks, err := s.Verify(t.Context())
	if err != nil {
		return 0, err
	}
	if len(breaks) > 0 {
		return 0, fmt.Errorf("%w: %v", ErrBroken, breaks)
	}
	for _, stream := range []string{shop, ledger.SharedStream} {
		all := records(t, s, stream, 0)
		if stream == shop {
			n = len(all)
		}
		if len(all) != n {
			t.Fatalf("%s has %d entries, the other stream %d: half of a batch", stream, len(all), n)
		}
		for i, r := range all {
			if r.Type != fmt.Sprintf("in:%d", i) {
				t.Fatalf("entry %d of %s is %s", i+1, stream, r.Type)
			}
		}
	}
	if n > tried {
		t.Fatalf("%d batches of %d", n, tried)
	}
	if got := len(pending(t, s)); got != n {
		t.Fatalf("%d effects with %d batches", got, n)
	}
	if n < acknowledged {
		return n, nil
	}
	for _, key := range []int{n - 1, n} {
		if key < 0 {
			continue
		}
		r, err := s.Commit(t.Context(), faultBatch(key))
		if err != nil || r.Repeated != (key < n) {
			t.Fatalf("batch %d after a restart with %d: repeated %v, %v", key, n, r.Repeated, err)
		}
	}
	return n + 1, nil
}

// TestPowerCuts: on a disk that keeps what it has synced, every acknowledged
// batch survives every power cut, wherever it meets SQLite.
func TestPowerCuts(t *testing.T) {
	began, commits := time.Now(), 0
	var counts sqlitefault.Counts
	for seed := range uint64(faultRounds()) {
		disk := sqlitefault.New(seed)
		random := rand.New(rand.NewPCG(seed, 1))
		acknowledged := 0
		for range 4 {
			s, err := openOnDisk(disk)
			for err != nil { // the power went while it opened
				disk.Cut()
				disk.Restart()
				s, err = openOnDisk(disk)
			}
			disk.CutAfter(0)
			if n, err := checkPrefix(t, s, acknowledged, acknowledged+1); err != nil || n < acknowledged {
				t.Fatalf("seed %d: %d of %d acknowledged batches are there: %v", seed, n, acknowledged, err)
			} else {
				acknowledged = n
			}
			disk.CutAfter(1 + random.IntN(400))
			for {
				if _, err = s.Commit(t.Context(), faultBatch(acknowledged)); err != nil {
					break
				}
				acknowledged++
				commits++
				if random.IntN(20) == 0 {
					_ = s.SaveSnapshot(t.Context(), ledger.SnapshotRow{Stream: shop, Seq: int64(acknowledged), Version: 1, Body: make([]byte, 9000)})
				}
			}
			if !errors.Is(err, ErrDisk) {
				t.Errorf("seed %d: a power cut is told as %v", seed, err)
			}
			_ = s.Close()
			disk.Cut()
			disk.Restart()
			if random.IntN(3) == 0 { // and again while it starts
				disk.CutAfter(1 + random.IntN(30))
			}
		}
		counts = disk.Counts()
		disk.Remove()
	}
	t.Logf("%d disks, %d commits, %.0f commits a second; the last disk: %+v", faultRounds(), commits, float64(commits)/time.Since(began).Seconds(), counts)
}

// TestLyingDisk: a disk that loses what it has synced either shows an older
// state, whole, or the loss is found. Never is a half batch believed.
func TestLyingDisk(t *testing.T) {
	whole, older, found := 0, 0, 0
	for seed := range uint64(faultRounds()) {
		disk := sqlitefault.New(seed)
		random := rand.New(rand.NewPCG(seed, 2))
		s := mustOpenOn(t, disk)
		disk.Inject(sqlitefault.Faults{SyncLies: 0.3})
		disk.CutAfter(1 + random.IntN(8000))
		acknowledged := 0
		for ; acknowledged < 1000; acknowledged++ {
			if _, err := s.Commit(t.Context(), faultBatch(acknowledged)); err != nil {
				break
			}
		}
		_ = s.Close()
		disk.Cut()
		disk.Inject(sqlitefault.Faults{})
		disk.Restart()
		s, err := openOnDisk(disk)
		n := 0
		if err == nil {
			n, err = checkPrefix(t, s, acknowledged, acknowledged+1)
			_ = s.Close()
		}
		switch {
		case err != nil:
			found++
		case n < acknowledged:
			older++
		default:
			whole++
		}
		disk.Remove()
	}
	t.Logf("%d disks: %d whole, %d an older state, %d found", faultRounds(), whole, older, found)
	if older == 0 || found == 0 {
		t.Error("the disk lost nothing: the test shows nothing")
	}
}

// TestDiskErrors: a full disk and errors of reads, writes and syncs are told as
// ErrDisk, lose nothing, and leave a store that goes on when they end.
func TestDiskErrors(t *testing.T) {
	for name, faults := range map[string]sqlitefault.Faults{
		"full": {Full: true}, "write": {WriteError: 0.05}, "read": {ReadError: 0.05}, "sync": {SyncError: 0.2}, "all": {WriteError: 0.02, ReadError: 0.02, SyncError: 0.05},
	} {
		t.Run(name, func(t *testing.T) {
			refused := 0
			for seed := range uint64(max(2, *rounds/6)) {
				disk := sqlitefault.New(seed)
				random := rand.New(rand.NewPCG(seed, 3))
				s := mustOpenOn(t, disk)
				next := 0 // the key that comes next: a refused one is tried again
				for range 3 {
					for range random.IntN(40) {
						if _, err := s.Commit(t.Context(), faultBatch(next)); err != nil {
							t.Fatalf("seed %d: an honest disk: %v", seed, err)
						}
						next++
					}
					disk.Inject(faults)
					for range 40 {
						_, err := s.Commit(t.Context(), faultBatch(next))
						if err == nil {
							next++
							continue
						}
						if refused++; !errors.Is(err, ErrDisk) {
							t.Fatalf("seed %d: %v", seed, err)
						}
					}
					// Commits find all pages in memory; the checkpoint after this reads the log.
					large := ledger.SnapshotRow{Stream: shop, Seq: int64(next), Version: 1, Body: make([]byte, 5<<20)}
					if err := s.SaveSnapshot(t.Context(), large); err != nil {
						if refused++; !errors.Is(err, ErrDisk) {
							t.Fatalf("seed %d: a snapshot: %v", seed, err)
						}
					}
					disk.Inject(sqlitefault.Faults{})
					n, err := checkPrefix(t, s, next, next+1)
					if err != nil {
						t.Fatalf("seed %d: after %d batches: %v", seed, next, err)
					}
					next = n
				}
				disk.Cut()
				_ = s.Close()
				disk.Restart()
				s = mustOpenOn(t, disk)
				if n, err := checkPrefix(t, s, next, next+1); err != nil || n < next {
					t.Fatalf("seed %d: %d of %d batches after a restart: %v", seed, n, next, err)
				}
				disk.Remove()
			}
			if refused == 0 {
				t.Error("nothing was refused: the test shows nothing")
			}
		})
	}
}

// TestFailedSyncs: what a start finds in the log, after a process that died on a disk
// whose syncs fail, is what the next power cut leaves. A batch of which the commit
// failed may be found, and then it counts: the program acts on it.
func TestFailedSyncs(t *testing.T) {
	more, syncs := 0, 0
	for seed := range uint64(faultRounds()) {
		disk := sqlitefault.New(seed)
		random := rand.New(rand.NewPCG(seed, 4))
		s := mustOpenOn(t, disk)
		acknowledged := 0
		for range 6 {
			disk.Inject(sqlitefault.Faults{SyncError: 0.4})
			for range 1 + random.IntN(8) {
				for { // a commit that failed is tried again, as the engine does
					_, err := s.Commit(t.Context(), faultBatch(acknowledged))
					if err == nil {
						acknowledged++
						break
					}
					if !errors.Is(err, ErrDisk) {
						t.Fatalf("seed %d: %v", seed, err)
					}
					if random.IntN(3) == 0 {
						break
					}
				}
			}
			disk.Crash()
			_ = s.Close()
			var err error
			for s, err = openOnDisk(disk); err != nil; s, err = openOnDisk(disk) {
				if !errors.Is(err, ErrDisk) {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			found := len(records(t, s, shop, 0))
			if found < acknowledged {
				t.Fatalf("seed %d: a start finds %d of %d batches", seed, found, acknowledged)
			}
			more += found - acknowledged
			disk.Cut()
			_ = s.Close()
			disk.Inject(sqlitefault.Faults{})
			disk.Restart()
			s = mustOpenOn(t, disk)
			n, err := checkPrefix(t, s, found, found+1)
			if err != nil || n < found {
				t.Fatalf("seed %d: %d of %d batches after the power failed: %v", seed, n, found, err)
			}
			acknowledged = n
		}
		_ = s.Close()
		syncs += disk.Counts().SyncErrors
		disk.Remove()
	}
	t.Logf("%d disks, %d failed syncs, %d batches found of which the commit had failed", faultRounds(), syncs, more)
	if more == 0 {
		t.Error("no start found a batch of which the commit had failed: the test shows nothing")
	}
}

// TestCorruptPage: a page that changed on the disk is found by Verify, or by a
// read or commit before, or it held nothing that anybody reads.
func TestCorruptPage(t *testing.T) {
	found, harmless := 0, 0
	for seed := range uint64(faultRounds()) {
		disk := sqlitefault.New(seed)
		s := mustOpenOn(t, disk)
		const batches = 60
		for n := range batches {
			if _, err := s.Commit(t.Context(), faultBatch(n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if !disk.Corrupt(Name, 4096) {
			t.Fatal("there is no page")
		}
		s, err := openOnDisk(disk)
		if err == nil {
			var breaks []Break
			breaks, err = s.Verify(t.Context())
			if err == nil && len(breaks) > 0 {
				err = ErrBroken
			}
			if err == nil { // then every entry is the one that was written
				if n, err := checkPrefix(t, s, batches, batches+1); err != nil || n < batches {
					t.Errorf("seed %d: verify finds nothing, and %d of %d batches are there: %v", seed, n, batches, err)
				}
			}
			_ = s.Close()
		}
		if err != nil {
			found++
		} else {
			harmless++
		}
		disk.Remove()
	}
	t.Logf("%d disks: %d found, %d harmless", faultRounds(), found, harmless)
	if found == 0 {
		t.Error("nothing was found")
	}
}

// BenchmarkNewDisk opens a store on a cloned disk and closes it.
func BenchmarkNewDisk(b *testing.B) {
	empty := sqlitefault.New(1)
	if err := mustOpenOn(b, empty).Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		disk := empty.Clone(2)
		if err := mustOpenOn(b, disk).Close(); err != nil {
			b.Fatal(err)
		}
		disk.Remove()
	}
}

// BenchmarkCommitOnDisk commits to a disk in memory, as a simulated night does.
func BenchmarkCommitOnDisk(b *testing.B) {
	s := mustOpenOn(b, sqlitefault.New(1))
	n := 0
	for b.Loop() {
		if _, err := s.Commit(b.Context(), faultBatch(n)); err != nil {
			b.Fatal(err)
		}
		n++
	}
}
