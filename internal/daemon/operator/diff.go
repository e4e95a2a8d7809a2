package operator

import (
	"context"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace/secret"
)

// maxDiff limits a shown diff, in bytes.
const maxDiff = 1 << 20

// Diff returns a patch: of the last run for target "", else of the task or the
// earlier run with that id. The patch is empty if nothing was changed. It is without
// what looks like a secret, because it can go into a chat.
func (svc *Service) Diff(ctx context.Context, project, target string) (string, error) {
	s, ok := svc.State(project)
	if !ok || s.Project.Run == nil {
		return "", nil
	}
	r := s.Project.Run
	w, err := svc.o.Projects.Workspace(ctx, r.Settings, nil)
	if err != nil {
		return "", err
	}
	from, to := r.Base.Commit, r.Tip
	if target != "" && !strings.EqualFold(target, r.ID) {
		if t, ok := s.Project.Find(target); ok {
			from, to, err = svc.trees(ctx, project, t)
		} else {
			from, to, err = svc.pastTips(ctx, project, target)
		}
		if err != nil {
			return "", err
		}
	}
	if from == "" || to == "" || from == to {
		return "", nil
	}
	text, err := w.Diff(ctx, from, to, maxDiff)
	return secret.Redact(text), err
}

// pastTips returns the first and last commit of an earlier run. Both are empty
// if no run has that id.
func (svc *Service) pastTips(ctx context.Context, project, run string) (from, to string, err error) {
	records, err := svc.RunRecords(ctx, project, strings.ToLower(run), ledger.PreflightDone{}.EntryType(), ledger.TipFound{}.EntryType(), ledger.TaskCommitted{}.EntryType(), ledger.BranchRemade{}.EntryType())
	if err != nil {
		return "", "", err
	}
	for _, r := range records {
		e, err := r.Entry()
		if err != nil {
			return "", "", err
		}
		switch b := e.Body.(type) {
		case ledger.PreflightDone:
			from, to = b.Base.Commit, b.Base.Commit
		case ledger.TipFound:
			to = b.Commit
		case ledger.TaskCommitted:
			to = b.Commit
		case ledger.BranchRemade:
			to = b.Tip
		}
	}
	return from, to, nil
}

// trees returns the two trees to compare for a task's diff: the parent and the
// task's commit or, without a commit, the start and the newest tree of its last
// attempt.
func (svc *Service) trees(ctx context.Context, project string, t loop.TaskState) (from, to string, err error) {
	records, err := svc.Records(ctx, project, t.Task.ID)
	if err != nil {
		return "", "", err
	}
	for _, r := range records {
		e, err := r.Entry()
		if err != nil {
			return "", "", err
		}
		switch b := e.Body.(type) {
		case ledger.Commitment:
			if !b.Resume {
				from, to = b.Base, ""
			}
		case ledger.TakenOver:
			to = b.Taken.Tree
		case ledger.TreeKept:
			if to == "" {
				to = b.Tree
			}
		case ledger.TaskCommitted:
			from, to = b.Parent, b.Commit
		}
	}
	return from, to, nil
}
