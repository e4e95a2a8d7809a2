package sqlitefault

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
)

// sector is the unit in which a disk writes: a power cut leaves each one as it
// was or as it was to be.
const sector = 512

// Disk is one simulated disk with the files of one database. All methods are safe
// for concurrent use.
type Disk struct {
	name string

	mu     sync.Mutex
	random *rand.Rand
	failed *rand.Rand // what becomes of writes whose sync failed
	faults Faults
	counts Counts
	files  map[string]*content
	off    bool // after Cut, until Restart
	left   int  // writes and syncs until the power goes by itself; 0 = it stays
	boot   int  // number of restarts and crashes; a file of an earlier one is dead
}

// Faults are what a disk does wrong from now on. The zero value is an honest
// disk.
type Faults struct {
	Full       bool    // writes that need more space fail with ENOSPC
	ReadError  float64 // share of reads that fail with EIO
	WriteError float64 // share of writes that fail with EIO
	SyncError  float64 // share of syncs that fail with EIO; no later sync makes up for one
	SyncLies   float64 // share of syncs that report success and keep nothing
}

// Counts are how often each fault was injected.
type Counts struct{ Full, ReadErrors, WriteErrors, SyncErrors, SyncLies, Cuts, LostSectors, TornWrites, Corrupted int }

// content is one file. Writes are applied to shown at once; unsynced holds them
// until a sync.
type content struct {
	shown    []byte
	durable  []byte
	exists   bool // the file exists
	kept     bool // it exists after a power cut
	unsynced []change
}

// change is a write, or with a nil data the truncation to a size.
type change struct {
	at   int64
	data []byte
}

var disks struct {
	sync.Mutex
	byName map[string]*Disk
	next   int
}

// New returns an empty, honest disk.
func New(seed uint64) *Disk {
	register()
	disks.Lock()
	defer disks.Unlock()
	disks.next++
	d := &Disk{
		name: fmt.Sprintf("/disk%d", disks.next), files: map[string]*content{},
		random: rand.New(rand.NewPCG(seed, 0x5eed)), failed: rand.New(rand.NewPCG(seed, 0xe10)),
	}
	disks.byName[d.name] = d
	return d
}

// Clone returns a disk with the same files, all synced, and no faults. A disk with
// an empty, migrated database is made once and cloned for each night: migrations
// take ten times as long as a clone.
func (d *Disk) Clone(seed uint64) *Disk {
	to := New(seed)
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, c := range d.files {
		if c.exists {
			to.files[path.Join(to.name, path.Base(name))] = &content{shown: slices.Clone(c.shown), durable: slices.Clone(c.shown), exists: true, kept: true}
		}
	}
	return to
}

// Dir returns the name of the disk's only folder, for SQLite.
func (d *Disk) Dir() string { return d.name }

// VFS returns Name. With Dir and Rewrite a Disk is a store.FileSystem.
func (d *Disk) VFS() string { return Name }

// Remove forgets the disk. No database on it may be open.
func (d *Disk) Remove() {
	disks.Lock()
	defer disks.Unlock()
	delete(disks.byName, d.name)
}

// diskOf returns the disk of a file's name, nil if there is none.
func diskOf(name string) *Disk {
	disks.Lock()
	defer disks.Unlock()
	return disks.byName[path.Dir(name)]
}

// Inject sets the faults from now on.
func (d *Disk) Inject(f Faults) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = f
}

// Counts returns how often each fault was injected.
func (d *Disk) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts
}

// Size returns the bytes that all files take.
func (d *Disk) Size() (n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.files {
		n += int64(len(c.shown))
	}
	return n
}

// Cut ends the power: every sector that was written and not synced is lost or
// kept, one by one, and every call fails until Restart.
func (d *Disk) Cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut()
}

// Off reports whether the power is cut.
func (d *Disk) Off() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.off
}

// CutAfter makes the power end at the n-th write or sync from now on, in the
// middle of whatever SQLite does then. 0 lets it stay.
func (d *Disk) CutAfter(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = n
}

// count counts a write or sync and reports whether the power ends with it.
func (d *Disk) count() bool {
	if d.left == 0 || d.off {
		return false
	}
	if d.left--; d.left > 0 {
		return false
	}
	d.cut()
	return true
}

func (d *Disk) cut() {
	if d.off {
		return
	}
	d.off, d.left = true, 0
	d.counts.Cuts++
	for _, name := range d.names() { // in a fixed order, because each draws
		c := d.files[name]
		for _, x := range c.unsynced {
			c.durable = d.survive(d.random, c.durable, x)
		}
		if !c.kept && c.exists { // created and never synced
			c.kept = d.random.IntN(2) == 0
		}
		if c.kept && !c.exists { // deleted, and the folder never synced
			c.kept = d.random.IntN(2) == 0
		}
		c.unsynced = nil
	}
}

// Crash ends the process that has files open: every call on them fails from now
// on. What it wrote stays shown, synced or not.
func (d *Disk) Crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.boot++
}

// Restart brings the power back. Files that were open stay dead.
func (d *Disk) Restart() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = false
	d.boot++
	for name, c := range d.files {
		if !c.kept {
			delete(d.files, name)
			continue
		}
		c.shown, c.exists = slices.Clone(c.durable), true
	}
}

// Corrupt flips bytes of one page of a file, chosen by the seed, as a failing
// disk does. It reports whether the file has a page; name is "nightporter.db".
func (d *Disk) Corrupt(name string, pageSize int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.files[path.Join(d.name, name)]
	if c == nil || len(c.shown) < pageSize {
		return false
	}
	page := d.random.IntN(len(c.shown) / pageSize)
	for range 16 {
		at, with := page*pageSize+d.random.IntN(pageSize), byte(1+d.random.IntN(255))
		c.shown[at] ^= with
		if at < len(c.durable) {
			c.durable[at] ^= with
		}
	}
	d.counts.Corrupted++
	return true
}

func (d *Disk) names() []string {
	var names []string
	for name := range d.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// survive returns a durable content after a change that a power cut met: sectors
// of a write are kept or lost one by one.
func (d *Disk) survive(random *rand.Rand, durable []byte, x change) []byte {
	if x.data == nil {
		if random.IntN(2) == 0 {
			d.counts.LostSectors++
			return durable
		}
		return resize(durable, x.at)
	}
	if random.IntN(3) == 0 { // the whole write is still in a cache
		d.counts.LostSectors++
		return durable
	}
	lost := 0
	for from := int64(0); from < int64(len(x.data)); {
		to := min((x.at+from)/sector*sector+sector-x.at, int64(len(x.data)))
		if random.IntN(4) == 0 {
			lost++
			d.counts.LostSectors++
		} else {
			durable = writeAt(durable, x.data[from:to], x.at+from)
		}
		from = to
	}
	if lost > 0 {
		d.counts.TornWrites++
	}
	return durable
}

// sync makes the changes of a file durable, or fails.
func (d *Disk) sync(c *content) error {
	switch {
	case d.draws(d.faults.SyncError, &d.counts.SyncErrors):
		d.forget(c)
		return errSync
	case d.count():
		return errSync
	case d.draws(d.faults.SyncLies, &d.counts.SyncLies):
		return nil
	}
	for _, x := range c.unsynced {
		if x.data == nil {
			c.durable = resize(c.durable, x.at)
		} else {
			c.durable = writeAt(c.durable, x.data, x.at)
		}
	}
	c.unsynced, c.kept = nil, c.exists
	return nil
}

// Rewrite writes what a file shows again, and syncs it. A file that does not exist
// needs nothing.
func (d *Disk) Rewrite(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.files[name]
	switch {
	case d.off:
		return errSync
	case c == nil || !c.exists || len(c.shown) == 0:
		return nil
	}
	c.unsynced = append(c.unsynced, change{0, slices.Clone(c.shown)})
	if d.count() {
		return errSync
	}
	return d.sync(c)
}

// forget is what Linux makes of a file whose fsync failed: its pages count as
// clean, so that no later fsync writes them, whatever it reports. Some sectors
// reached the disk. The file shows what was written until the memory is needed,
// and then what is on the disk; a draw decides which.
func (d *Disk) forget(c *content) {
	for _, x := range c.unsynced {
		c.durable = d.survive(d.failed, c.durable, x)
	}
	c.unsynced = nil
	if d.failed.IntN(2) == 0 {
		c.shown = resize(slices.Clone(c.durable), int64(len(c.shown)))
	}
}

func writeAt(b, data []byte, at int64) []byte {
	if end := at + int64(len(data)); end > int64(len(b)) {
		b = resize(b, end)
	}
	copy(b[at:], data)
	return b
}

// resize returns b with n bytes; new ones are zero.
func resize(b []byte, n int64) []byte {
	if n <= int64(len(b)) {
		clear(b[n:]) // a later growth within the capacity shows zeros
		return b[:n]
	}
	old := len(b)
	if int(n) > cap(b) { // a log grows page by page
		b = slices.Grow(b, max(int(n)-old, old))
	}
	b = b[:n]
	clear(b[old:])
	return b
}

// draws reports whether a fault of this share happens now.
func (d *Disk) draws(share float64, count *int) bool {
	if share <= 0 || d.random.Float64() >= share {
		return false
	}
	*count++
	return true
}

// isTemp reports whether a name is one of SQLite's temporary files.
func isTemp(name string) bool { return name == "" || !strings.HasPrefix(name, "/") }
