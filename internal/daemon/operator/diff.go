package operator

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/patch"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace"
	"github.com/nightporter/nightporter/loop/workspace/secret"
)

// Limits of a shown diff.
const (
	maxDiff      = 1 << 20 // bytes of a patch as git prints it
	maxChanges   = 2 << 20 // bytes of the patches of all versions
	maxDiffFiles = 5000
	maxVersions  = 4
)

// version is two trees to compare, and which state of the task or run they are.
type version struct {
	from, to string
	commit   string
	time     time.Time
	attempt  int
	atWork   bool
	checks   []string // paths of changed checks
}

// Changes returns what a task or a run changed. It is without what looks like a
// secret, because it can go into a chat.
func (svc *Service) Changes(ctx context.Context, project, target string) ([]bot.DiffVersion, error) {
	w, versions, err := svc.versions(ctx, project, target)
	if err != nil {
		return nil, err
	}
	var out []bot.DiffVersion
	for _, v := range versions {
		shown, err := changesOf(ctx, w, v, maxChanges/len(versions))
		if err != nil {
			return nil, err
		}
		out = append(out, shown)
	}
	return out, nil
}

// changesOf returns a version with patches of at most limit bytes, without what looks
// like a secret.
func changesOf(ctx context.Context, w *workspace.Workspace, v version, limit int) (bot.DiffVersion, error) {
	shown := bot.DiffVersion{Version: patch.Version{Checks: v.checks}, Commit: v.commit, Time: v.time, AtWork: v.atWork}
	files, err := w.Changes(ctx, v.from, v.to, limit)
	if err != nil {
		return shown, err
	}
	if v.commit == "" {
		shown.Attempt = v.attempt
	}
	shown.More = max(len(files)-maxDiffFiles, 0)
	for _, f := range files[:len(files)-shown.More] {
		if ctx.Err() != nil {
			return shown, context.Cause(ctx)
		}
		f.Path, f.From, f.Patch = secret.Redact(f.Path), secret.Redact(f.From), secret.Redact(f.Patch)
		shown.Files = append(shown.Files, f)
	}
	return shown, nil
}

// Diff returns the newest version of what a task or a run changed as git prints it,
// without what looks like a secret.
func (svc *Service) Diff(ctx context.Context, project, target string) (string, error) {
	w, versions, err := svc.versions(ctx, project, target)
	if err != nil || len(versions) == 0 {
		return "", err
	}
	text, err := w.Diff(ctx, versions[0].from, versions[0].to, maxDiff)
	return secret.Redact(text), err
}

// versions returns the versions of a task or a run that differ from what they
// began with, the newest first: the last run for target "", else the task, the
// attempt of a task ("Task 5.1") or the earlier run with that id.
func (svc *Service) versions(ctx context.Context, project, target string) (*workspace.Workspace, []version, error) {
	s, ok := svc.State(project)
	if !ok || s.Project.Run == nil {
		return nil, nil, nil
	}
	w, err := svc.o.Projects.Workspace(ctx, s.Project.Run.Settings, nil)
	if err != nil {
		return nil, nil, err
	}
	all, err := svc.versionsOf(ctx, s, target)
	return w, all, err
}

// versionsOf is versions for a state with a run.
func (svc *Service) versionsOf(ctx context.Context, s loop.State, target string) (all []version, err error) {
	project, r := s.Project.Name, s.Project.Run
	t, isTask := s.Project.Find(target)
	attempt := 0
	if id, n, dotted := cutLast(target, "."); !isTask && dotted {
		if attempt, err = strconv.Atoi(n); err == nil {
			t, isTask = s.Project.Find(id)
		}
	}
	switch {
	case target == "", strings.EqualFold(target, r.ID):
		all = []version{{from: firstOf(r.Base), to: r.Tip}}
	case isTask:
		all, err = svc.versionsOfTask(ctx, project, t, attempt)
	default:
		var v version
		v.from, v.to, err = svc.pastTips(ctx, project, target)
		all = []version{v}
	}
	all = slices.DeleteFunc(all, func(v version) bool { return v.from == "" || v.to == "" || v.from == v.to })
	return all[:min(len(all), maxVersions)], err
}

func cutLast(s, sep string) (before, after string, found bool) {
	at := strings.LastIndex(s, sep)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(sep):], true
}

// pastTips returns the first and last commit of an earlier run. Both are empty
// if no run has that id.
func (svc *Service) pastTips(ctx context.Context, project, run string) (from, to string, err error) {
	records, err := svc.RunRecords(ctx, project, strings.ToLower(run), ledger.PreflightDone{}.EntryType(), ledger.TipFound{}.EntryType(), ledger.TaskCommitted{}.EntryType(), ledger.BranchRemade{}.EntryType())
	if err != nil {
		return "", "", err
	}
	return readTips(records)
}

// firstOf returns the commit that a run's changes are compared with. A run that keeps a
// request green has merged its base before it starts: that is what it did.
func firstOf(b ledger.Base) string {
	if b.Upkeep != nil {
		return b.Upkeep.Head
	}
	return b.Commit
}

// readTips returns the first and last commit of the run that records are of.
func readTips(records []ledger.Record) (from, to string, err error) {
	for _, r := range records {
		e, err := r.Entry()
		if err != nil {
			return "", "", err
		}
		switch b := e.Body.(type) {
		case ledger.PreflightDone:
			from, to = firstOf(b.Base), b.Base.Commit
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

func (svc *Service) versionsOfTask(ctx context.Context, project string, t loop.TaskState, attempt int) ([]version, error) {
	records, err := svc.Records(ctx, project, t.Task.ID)
	if err != nil {
		return nil, err
	}
	all, err := readVersions(records)
	return chooseVersions(all, t, attempt), err
}

// chooseVersions returns what an attempt left or, for attempt 0, what the task is
// now: the attempt at work if it has a tree, and every commit; without either,
// what the last attempt left. The newest is first.
func chooseVersions(all []version, t loop.TaskState, attempt int) []version {
	slices.Reverse(all)
	if attempt > 0 {
		return slices.DeleteFunc(all, func(v version) bool { return v.attempt != attempt })
	}
	var out []version
	for n, v := range all {
		if n == 0 && v.commit == "" && v.to != "" && t.Attempt != nil && (t.Status == ledger.Active || t.Status == ledger.Waiting) {
			v.atWork = true
			out = append(out, v)
		} else if v.commit != "" {
			out = append(out, v)
		}
	}
	if at := slices.IndexFunc(all, func(v version) bool { return v.to != "" }); len(out) == 0 && at >= 0 {
		return all[at : at+1]
	}
	return out
}

// readVersions returns the attempts and commits of a task in order. An attempt has
// the newest tree that was captured of it; if it was committed, the commit stands
// for it.
func readVersions(records []ledger.Record) ([]version, error) {
	var all []version
	last := func() *version {
		if len(all) == 0 || all[len(all)-1].commit != "" {
			all = append(all, version{})
		}
		return &all[len(all)-1]
	}
	for _, r := range records {
		e, err := r.Entry()
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case ledger.Commitment:
			if !b.Resume || len(all) == 0 {
				n, _ := strconv.Atoi(strings.TrimPrefix(e.Attempt, "a"))
				all = append(all, version{from: b.Base, attempt: n})
			}
		case ledger.TakenOver:
			v := last()
			v.to, v.time = b.Taken.Tree, e.Time
			if b.Taken.Proof != nil {
				v.checks = nil
				for _, c := range b.Taken.Proof.Changes {
					v.checks = append(v.checks, c.Path)
				}
			}
		case ledger.TreeKept:
			if v := last(); v.to == "" {
				v.to, v.time = b.Tree, e.Time
			}
		case ledger.TaskCommitted:
			v := last()
			v.from, v.to, v.commit, v.time = b.Parent, b.Commit, b.Commit, e.Time
		}
	}
	return all, nil
}
