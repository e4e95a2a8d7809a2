package main

import (
	"context"
	"slices"
	"time"
)

// keptFolders is how long what sessions and runs left is there to be looked at.
const keptFolders = 14 * 24 * time.Hour

// tidyFolders removes old folders of sessions and runs at the start and once a
// day: nightporter stays for months. Unfinished runs and the last one of each
// project are spared.
func (p *porter) tidyFolders(ctx context.Context) {
	daily := time.NewTicker(24 * time.Hour)
	defer daily.Stop()
	for {
		removed, err := p.runner.Tidy(ctx, time.Now().Add(-keptFolders), p.spared)
		if err != nil && ctx.Err() == nil {
			p.log.Warn("old folders are not removed", "error", err)
		}
		if removed > 0 {
			p.log.Info("old folders of sessions and runs are removed", "folders", removed)
		}
		select {
		case <-daily.C:
		case <-ctx.Done():
			return
		}
	}
}

// spared reports whether a run's folders stay whatever their age.
func (p *porter) spared(run string) bool {
	return slices.ContainsFunc(p.engine.Projects(), func(name string) bool {
		s, _ := p.engine.State(name)
		return s.Project.Run != nil && s.Project.Run.ID == run
	})
}
