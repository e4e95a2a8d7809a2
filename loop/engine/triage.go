package engine

import (
	"context"
	"fmt"
	"maps"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/triage"
)

// sortReports carries out EffectTriage: the vocabulary comes from the run's branch, as
// it is now, and what triage says from the project's reports.
func (e *Engine) sortReports(ctx context.Context, project string, ports Ports, b ledger.EffectTriage) (loop.InputBody, error) {
	s, _ := e.State(project)
	if s.Project.Run == nil || s.Project.Run.ID != b.Run {
		return loop.Triaged{Run: b.Run, Wave: b.Wave, Answers: b.Answers}, nil
	}
	files := map[string][]byte{}
	if err := ports.Files.EachFile(ctx, s.Project.Run.Tip, triage.MostRead, triage.Reads, func(path string, text []byte) { files[path] = text }); err != nil {
		return nil, err
	}
	var kinds []triage.Kind
	if ports.Kinds != nil {
		var err error
		if kinds, err = ports.Kinds(); err != nil {
			return nil, fmt.Errorf("kinds of fixes: %w", err)
		}
	}
	set, now := s.Project.Run.Settings, e.o.Clock()
	sorted := loop.SortReports(s, b, triage.Collect(maps.All(files), set.Domains, set.Elsewhere), kinds, now)
	sorted.Claimed = withBranches(sorted.Claimed, branchClaims(ctx, ports, s, s.Project.Run.StaleClaim(), now))
	return sorted, nil
}

// keepWaves carries out EffectKeepWaves.
func (e *Engine) keepWaves(ctx context.Context, project string, ports Ports, b ledger.EffectKeepWaves) error {
	s, _ := e.State(project)
	if s.Project.Run == nil || s.Project.Run.ID != b.Run {
		return nil // a later run has written the file
	}
	state, err := loop.WavesFile(s.Project.Run)
	if err != nil {
		return err
	}
	return e.writeNotebook(project, ports, func(n Notebook) error { return n.KeepWaves(ctx, state) })
}
