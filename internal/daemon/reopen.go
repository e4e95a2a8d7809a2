package daemon

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Pauses between looks at projects that cannot be worked on. A look costs a few
// system calls. The longest pause is what a late mount can lose: the kernel
// reports no event for one.
const (
	firstLook = time.Second
	lastLook  = time.Minute
)

// reopen looks again at all projects, and begins to work on those that can be
// worked on now.
func (d *Daemon) reopen(ctx context.Context) {
	d.looking.Lock()
	defer d.looking.Unlock()
	before, blocked := d.Projects.Working(), d.Projects.Blocked()
	for _, name := range blocked {
		_ = d.Engine.ReadAgain(ctx, name) // Workable reports what is still wrong
	}
	names := d.Projects.Workable(ctx, before)
	d.Projects.Work(slices.DeleteFunc(slices.Clone(before), func(name string) bool { return !slices.Contains(names, name) }))
	for _, name := range names {
		begin := func() { d.Projects.Work(append(slices.Clone(d.Projects.Working()), name)) }
		if err := d.Engine.TakeUp(ctx, name, begin); err != nil && ctx.Err() == nil {
			d.Log.Error("project is not taken up", "project", name, "error", err)
		}
	}
	if !slices.Equal(before, d.Projects.Working()) {
		d.Autostart.Free(ctx)
	}
	if !slices.Equal(blocked, d.Projects.Blocked()) {
		d.Autostart.Reconsider()
	}
	d.Hub.TellObstacles(ctx)
	d.Changes.Ring()
}

// reopenLoop looks again at projects that cannot be worked on, when something
// changes near what they lack and after growing pauses, until ctx ends.
func (d *Daemon) reopenLoop(ctx context.Context) {
	pause := firstLook
	for {
		blocked := d.Projects.Blocked()
		if len(blocked) == 0 {
			pause = firstLook
			select {
			case <-ctx.Done():
				return
			case <-d.looked:
			}
			continue
		}
		d.awaitChange(ctx, d.Projects.Lacks(), pause)
		if ctx.Err() != nil {
			return
		}
		d.reopen(ctx)
		if pause = min(2*pause, lastLook); !slices.Equal(blocked, d.Projects.Blocked()) {
			pause = firstLook
		}
	}
}

// awaitChange returns when something changed near one of the paths, after pause,
// or when ctx ends.
func (d *Daemon) awaitChange(ctx context.Context, paths []string, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	var events chan fsnotify.Event
	w, err := fsnotify.NewWatcher()
	if err == nil {
		defer w.Close()
		events = w.Events
		for _, path := range paths {
			_ = w.Add(nearestFolder(path)) // without it, the pause decides
		}
	}
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-events:
		// One change is followed by others, and a busy folder changes all the
		// time.
		select {
		case <-ctx.Done():
		case <-time.After(min(pause, firstLook)):
		}
	}
}

// nearestFolder returns the path if it is a folder, and else the nearest folder
// above it.
func nearestFolder(path string) string {
	for {
		if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeDir != 0 || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}
