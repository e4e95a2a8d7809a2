package main

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/nightporter/nightporter/internal/sqlitefault"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// ledgerDisk is the simulated disk of a night's ledger. Git, plans and sessions'
// folders lie elsewhere and lose nothing.
type ledgerDisk struct {
	*sqlitefault.Disk
	failing bool               // calls fail with errors of the disk for a while
	healed  time.Time          // by the scheduler's clock: when that ended last
	faults  sqlitefault.Faults // of now
	lied    bool               // it reported writes as safe that it did not keep
	damaged string             // the file of which a page is damaged; "" for none

	// acknowledged are the hashes of the entries that the ledger confirmed, by
	// stream: entry n is at n-1.
	acknowledged map[string][][]byte
}

// emptyDisk returns a disk with a migrated database without entries.
var emptyDisk = sync.OnceValues(func() (*sqlitefault.Disk, error) {
	d := sqlitefault.New(0)
	s, err := store.OpenOn(d)
	if err != nil {
		return nil, err
	}
	return d, s.Close()
})

// newDisk lets the night's ledger lie on a simulated disk.
func (w *world) newDisk() error {
	d, err := emptyDisk()
	if err == nil {
		w.disk = &ledgerDisk{Disk: d.Clone(w.seed), acknowledged: map[string][][]byte{}}
	}
	return err
}

// onDisk reports whether the night's ledger lies on a simulated disk.
func (o options) onDisk(seed uint64) bool { return o.disks > 0 && seed%o.disks == 1%o.disks }

// honest reports whether everything that the disk confirmed is still there.
func (d *ledgerDisk) honest() bool { return !d.lied && d.damaged == "" }

// heal ends what the disk does wrong for a while.
func (d *ledgerDisk) heal(now time.Time) {
	d.failing, d.healed = false, now
	d.inject(sqlitefault.Faults{})
}

// inject sets what the disk does wrong from now on.
func (d *ledgerDisk) inject(f sqlitefault.Faults) {
	d.faults = f
	d.Inject(f)
}

// diskFails reports whether the ledger cannot be read or written for now.
func (w *world) diskFails() bool { return w.full || w.disk != nil && (w.disk.failing || w.disk.Off()) }

// diskTried reports whether the daemon has had the time to try again what the disk
// refused to the ledger.
func (w *world) diskTried() bool {
	return w.disk == nil || w.s.now.Sub(w.disk.healed) > loop.LongestPause
}

// diskFate is what happens to the night's disk.
func (w *world) diskFate() {
	for w.intensity > 0 && !w.calm {
		w.all.sleep(w.around(time.Duration(float64(50*time.Minute) / w.intensity)))
		switch n := w.rnd.IntN(20); {
		case n < 8 && w.on():
			w.powerFails("between two steps")
		case n < 14 && w.on():
			w.count(diskErrors)
			share := pick(w, 0.02, 0.2, 1)
			var f sqlitefault.Faults
			what := pick(w, "reads", "writes", "syncs")
			switch what {
			case "reads":
				f.ReadError = share
			case "writes":
				f.WriteError = share
			default:
				f.SyncError = share
			}
			w.diskErrors(f, fmt.Sprintf("%d %% of all %s fail", int(share*100), what))
		case n < 17 && w.on():
			w.count(diskFull)
			w.diskErrors(sqlitefault.Faults{Full: true}, "it is full")
		case n < 18 && w.on() && w.one(3):
			w.count(diskLies)
			w.tell("disk", "loses what it confirms, until the power fails")
			w.disk.lied = true
			w.disk.inject(sqlitefault.Faults{SyncLies: 0.3})
			w.all.sleep(w.around(20 * time.Minute))
			w.disk.heal(w.s.now)
			if !w.calm {
				w.powerFails("on a disk that did not keep what it confirmed")
			}
			return // what the disk keeps is judged at the next start
		case n < 19 && w.on() && w.one(3):
			w.disk.damaged = pick(w, store.Name, store.Name, store.Name+"-wal")
			w.powerFails("and a page of " + w.disk.damaged + " goes bad")
			return
		}
	}
}

// diskErrors lets the disk fail for a while.
func (w *world) diskErrors(f sqlitefault.Faults, what string) {
	d := w.around(10 * time.Minute)
	w.tell("disk", "for %s %s", d.Round(time.Second), what)
	w.disk.failing = true
	w.disk.inject(f)
	w.all.sleep(d)
	w.disk.heal(w.s.now)
	w.tell("disk", "works again")
}

// powerFails ends everything that runs on the machine. The disk keeps what it had
// synced, and of the rest what its seed decides.
func (w *world) powerFails(when string) {
	w.tell("power", "fails %s", when)
	w.disk.Cut()
	w.disk.heal(w.s.now)
	w.endSessions()
	w.kill("no power")
}

// endSessions ends all sessions without a trace, as a power cut does.
func (w *world) endSessions() {
	for _, p := range w.sites {
		for _, id := range p.machine.order {
			if s := p.machine.sessions[id]; !s.ended {
				s.lost = true
				s.poke()
			}
		}
	}
}

// storeError judges an error that the store returned to a daemon: only a disk with
// faults explains one.
func (w *world) storeError(l *life, what string, err error) error {
	l.check() // a process that died has no files
	switch d := w.disk; {
	case err == nil && (d == nil || !d.Off()):
		return nil
	case d == nil:
		w.fail("store", "%s: %v", what, err)
	case d.Off():
		w.powerFails("during: " + what)
		l.check()
	case !d.failing || !errors.Is(err, store.ErrDisk):
		w.fail("store", "%s: %v", what, err)
	}
	return err
}

// openOnDisk opens the ledger on the night's disk. While the disk fails, the
// service manager starts the daemon again and again. It returns nil when the
// night ends because the loss was found.
func (w *world) openOnDisk() *store.Store {
	d := w.disk
	cut := false
	for {
		if d.Off() {
			d.Restart()
			cut = true
		}
		var before []ledger.PendingEffect
		if d.damaged != "" && w.cleanCopy(&before) && (d.Corrupt(d.damaged, 4096) || d.Corrupt(store.Name, 4096)) {
			w.count(diskDamage)
		}
		if w.on() && d.damaged == "" && w.one(4) {
			d.CutAfter(1 + w.rnd.IntN(30))
		}
		s, err := store.OpenOn(d)
		d.CutAfter(0)
		switch {
		case d.Off():
			w.tell("power", "fails while the ledger is opened")
			w.endSessions()
			if s != nil {
				_ = s.Close()
			}
		case err == nil:
			w.store = s
			if !w.kept(before) {
				return nil
			}
			if cut && d.faults.SyncLies == 0 { // all that was lost would be missing
				d.lied = false
			}
			return s
		case !d.honest():
			w.cutShort("the next start refuses the ledger: %v", err)
			return nil
		case !d.failing:
			w.fail("nothing acknowledged is lost", "the disk is honest, and the ledger does not open: %v", err)
		default:
			w.tell("daemon", "cannot open its ledger: %v", err)
		}
		w.all.sleep(10 * time.Second)
	}
}

// cleanCopy reads the effects to do from a copy of the disk, before a page of it
// goes bad. It returns true.
func (w *world) cleanCopy(to *[]ledger.PendingEffect) bool {
	d := w.disk.Clone(w.seed)
	defer d.Remove()
	s, err := store.OpenOn(d)
	if err == nil {
		*to, err = s.Pending(background)
		_ = s.Close()
	}
	if err != nil {
		w.fail("store", "a copy of the ledger: %v", err)
	}
	return true
}

// kept compares the ledger that a start finds with what was confirmed. It returns
// false if a disk that is not honest has lost something, and that is seen.
func (w *world) kept(before []ledger.PendingEffect) bool {
	d := w.disk
	// The audit's own reads meet no faults.
	d.Inject(sqlitefault.Faults{})
	defer func() { d.Inject(d.faults) }()
	if !d.honest() {
		switch breaks, err := w.store.Verify(background); {
		case err != nil:
			return w.cutShort("verify finds the loss: %v", err)
		case len(breaks) > 0:
			return w.cutShort("verify finds the loss: %s", breaks[0])
		}
	}
	var after []ledger.Record
	for _, stream := range w.streams() {
		want, n := d.acknowledged[stream], 0
		err := w.store.Records(background, stream, 0, func(r ledger.Record) error {
			switch {
			case n >= len(want):
				after = append(after, r)
			case !bytes.Equal(r.Hash, want[n]):
				w.fail("nothing acknowledged is lost", "entry %d of %s is another than was confirmed", r.Seq, stream)
			}
			n++
			return nil
		})
		switch {
		case err != nil:
			w.fail("store", "read %s: %v", stream, err)
		case n < len(want) && d.honest():
			w.fail("nothing acknowledged is lost", "%s holds %d of %d confirmed entries", stream, n, len(want))
		case n < len(want):
			return w.cutShort("%s is whole up to entry %d of %d: an older state, and no half one", stream, n, len(want))
		}
	}
	if d.damaged != "" {
		after, err := w.store.Pending(background)
		lacks := slices.ContainsFunc(before, func(p ledger.PendingEffect) bool {
			return !slices.ContainsFunc(after, func(q ledger.PendingEffect) bool { return reflect.DeepEqual(p, q) })
		})
		// A log that is whole up to the bad page gives an older state: what was settled
		// after that, without an entry, is to do again.
		if err != nil || lacks || len(after) != len(before) && d.damaged == store.Name {
			w.fail("no damage unseen", "verify finds nothing, and the effects to do are others than before: %v\n  %v\n  %v", err, before, after)
		}
		return w.cutShort("nothing of the ledger lay on the page that went bad")
	}
	w.audit.missed(after)
	return true
}

// cutShort ends the night because its disk lost what it had confirmed: nothing can
// be expected of it any more. It returns false.
func (w *world) cutShort(format string, args ...any) bool {
	w.tell("night", format, args...)
	w.tell("night", "ends here, because its disk has lost what it confirmed")
	w.over, w.cut = true, true
	return false
}
