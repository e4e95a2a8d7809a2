package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/diskuse"
)

// Limits of the warning about a disk that fills up.
const (
	minFree      = 2 << 30 // bytes; preflight requires as much
	diskInterval = time.Minute
	diskSamples  = 24 * 60 // a day
)

// watchDisk warns when the disk of the state folder has less free space than
// preflight requires or than the last day took, and drops caches then. The
// warning is in the status of every project until there is space again. People are
// told directly, once for each change: the outbox would need that disk. What a day
// takes is unknown after a start, until it was seen.
func (d *Daemon) watchDisk(ctx context.Context) {
	ticker := time.NewTicker(diskInterval)
	defer ticker.Stop()
	var p pressure
	for {
		if free, size, err := diskuse.Disk(d.o.State); err == nil && p.add(free, size) {
			line := ""
			if p.low {
				line = fmt.Sprintf("! %.1f GB free on the disk, %.1f GB are needed for a night: nightporter du", float64(free)/1e9, float64(p.need)/1e9)
				d.Log.Warn("the disk fills up", "free", free, "needed", p.need)
			} else {
				d.Log.Info("the disk has space again", "free", free)
			}
			d.Projects.Warn("", project.AboutDisk, line)
			d.Changes.Ring()
			if p.low {
				d.trimCaches(ctx, time.Now())
			}
			d.tellDisk(d.diskMessage(ctx, free, p))
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
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
