package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/diskuse"
	"github.com/nightporter/nightporter/internal/fsutil"
)

// Limits of the warning about a disk that fills up.
const (
	minFree       = 2 << 30 // bytes; preflight requires as much
	diskInterval  = time.Minute
	diskSamples   = 24 * 60 // a day
	diskSaveEvery = 10      // samples
)

// watchDisk warns when the disk of the state folder has less free space than
// preflight requires or than the last day took, and drops caches then. The
// warning is in the status of every project until there is space again. People are
// told directly, once for each change: the outbox would need that disk.
func (d *Daemon) watchDisk(ctx context.Context) {
	ticker := time.NewTicker(diskInterval)
	defer ticker.Stop()
	p := readPressure(d.o.State, time.Now())
	for n := 0; ; n++ {
		if free, size, err := diskuse.Disk(d.o.State); err == nil {
			changed := p.add(free, size)
			if changed || n == 0 {
				d.showDisk(free, p)
			}
			if changed {
				if p.low {
					d.trimCaches(ctx, time.Now())
				}
				d.tellDisk(d.diskMessage(ctx, free, p))
			}
			if changed || n%diskSaveEvery == 0 {
				p.save(d.o.State, time.Now())
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// showDisk puts the warning into the status of every project, or removes it.
func (d *Daemon) showDisk(free uint64, p pressure) {
	line := ""
	if p.low {
		line = fmt.Sprintf("! %.1f GB free on the disk, %.1f GB are needed for a night: nightporter du", float64(free)/1e9, float64(p.need)/1e9)
		d.Log.Warn("the disk fills up", "free", free, "needed", p.need)
	}
	if d.Projects.Warn("", project.AboutDisk, line) {
		d.Changes.Ring()
	}
}

// diskMessage returns what people are told about the disk.
func (d *Daemon) diskMessage(ctx context.Context, free uint64, p pressure) bot.Message {
	now := time.Now().In(d.Projects.Zone())
	if !p.low {
		return bot.DiskFree(int64(min(free, 1<<62)), now)
	}
	made := int64(-1)
	if u, err := diskuse.Look(ctx, d.o.State); err == nil {
		made = u.Of(diskuse.Caches).Bytes + u.Of(diskuse.Setup).Bytes
	}
	return bot.DiskLow(int64(min(free, 1<<62)), int64(min(p.need, 1<<62)), made, now)
}

func (d *Daemon) tellDisk(m bot.Message) {
	if d.o.Disk != nil {
		d.o.Disk(m)
	}
	if c := d.connections.Load(); c != nil {
		c.TellDirectly(m)
	}
}

// pressure decides from samples of the free space whether a disk fills up.
type pressure struct {
	free []uint64 // samples of the last day
	need uint64   // bytes that should be free
	low  bool
}

// add takes one sample and reports whether low has changed. What the last day
// took is the largest fall of the free space in it. Space that comes and goes
// around the limit changes nothing: a tenth more than needed ends the pressure.
func (p *pressure) add(free, size uint64) (changed bool) {
	p.free = append(p.free[max(0, len(p.free)-diskSamples+1):], free)
	var most, fell uint64
	for _, f := range p.free {
		most = max(most, f)
		fell = max(fell, most-f)
	}
	// A night that takes most of a disk must not make the warning stay for ever.
	p.need = max(minFree, min(fell, size/4))
	low := free < p.need || p.low && free < p.need+p.need/10
	changed, p.low = low != p.low, low
	return changed
}

// diskFile keeps the samples over a restart.
const diskFile = "disk.json"

// savedPressure is the content of diskFile.
type savedPressure struct {
	At   time.Time `json:"at"`
	Free []uint64  `json:"free"`
	Low  bool      `json:"low"`
}

// readPressure returns the samples of the last day that an earlier process left. A
// missing or damaged file gives none.
func readPressure(state string, now time.Time) pressure {
	var was savedPressure
	text, err := os.ReadFile(filepath.Join(state, diskFile))
	if err != nil || json.Unmarshal(text, &was) != nil {
		return pressure{}
	}
	age := int(now.Sub(was.At) / diskInterval)
	if age < 0 || age >= diskSamples {
		return pressure{}
	}
	return pressure{free: was.Free[max(0, len(was.Free)-(diskSamples-age)):], low: was.Low}
}

// save keeps the samples for the next process. A failure loses them, no more: the
// disk may be full.
func (p *pressure) save(state string, now time.Time) {
	if text, err := json.Marshal(savedPressure{At: now, Free: p.free, Low: p.low}); err == nil {
		_ = fsutil.Replace(filepath.Join(state, diskFile), text, 0o600)
	}
}
