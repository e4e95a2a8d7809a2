package operator

import (
	"context"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Records returns the ledger's records of a task or, for task "", of the
// project's last run. A project without a run has none.
func (svc *Service) Records(ctx context.Context, project, task string) ([]ledger.Record, error) {
	var out []ledger.Record
	keep := func(r ledger.Record) error { out = append(out, r); return nil }
	stream := ledger.ProjectStream(project)
	if task != "" {
		err := svc.o.Store.RecordsOfTask(ctx, stream, task, keep)
		return out, err
	}
	s, ok := svc.State(project)
	if !ok || s.Project.Run == nil {
		return nil, nil
	}
	return svc.RunRecords(ctx, project, s.Project.Run.ID)
}

// Runs returns the ids of a project's runs, oldest first. Checks are none.
func (svc *Service) Runs(ctx context.Context, project string) ([]string, error) {
	all, err := svc.o.Store.RunsOf(ctx, ledger.ProjectStream(project))
	return slices.DeleteFunc(all, func(id string) bool { return !strings.HasPrefix(id, "r") }), err
}

// RunRecords returns the ledger's records of a run. types restricts them to
// these entry types; none means all.
func (svc *Service) RunRecords(ctx context.Context, project, run string, types ...string) ([]ledger.Record, error) {
	var out []ledger.Record
	keep := func(r ledger.Record) error { out = append(out, r); return nil }
	stream := ledger.ProjectStream(project)
	if len(types) == 0 {
		err := svc.o.Store.RecordsOfRun(ctx, stream, run, keep)
		return out, err
	}
	err := svc.o.Store.RecordsOfTypes(ctx, stream, run, types, keep)
	return out, err
}
