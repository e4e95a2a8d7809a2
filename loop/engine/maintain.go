package engine

import (
	"context"
	"encoding/json"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Maintainer is a Repository that needs maintenance.
type Maintainer interface {
	// Maintain does what is due and stops for any other use of the repository.
	Maintain(ctx context.Context, m ledger.Maintenance) error
}

// maintain starts maintenance of a project's repository when a decision leaves it
// unused for a while: a run began, so its first session works for minutes; a task
// was committed; the run ended.
func (e *Engine) maintain(ctx context.Context, project string, d loop.Decision) {
	idle := false
	for _, entry := range d.Entries {
		switch entry.Body.(type) {
		case ledger.RunStarted, ledger.TaskCommitted, ledger.RunEnded:
			idle = true
		}
	}
	ports, ok := e.portsOf(project)
	if !idle || !ok {
		return
	}
	m, ok := ports.Repository.(Maintainer)
	if !ok {
		return
	}
	keep, err := hashesOf(d.State.Project)
	if err != nil {
		e.o.Log.Warn("repository not maintained", "project", project, "error", err)
		return
	}
	run := ""
	if r := d.State.Project.Run; r != nil {
		run = r.ID
	}
	e.spawn(func() {
		if err := m.Maintain(ctx, ledger.Maintenance{Run: run, Keep: keep, Age: ledger.DefaultRetention}); err != nil && ctx.Err() == nil {
			e.o.Log.Warn("repository not maintained", "project", project, "error", err)
		}
	})
}

var fullHash = regexp.MustCompile(`"(?:[0-9a-f]{40}|[0-9a-f]{64})"`)

// hashesOf returns every full hash that a project's state holds, whichever field
// has it: what a state names can be asked for.
func hashesOf(p loop.Project) ([]string, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var list []string
	for _, quoted := range fullHash.FindAllString(string(data), -1) {
		if hash := quoted[1 : len(quoted)-1]; !seen[hash] {
			seen[hash] = true
			list = append(list, hash)
		}
	}
	return list, nil
}
