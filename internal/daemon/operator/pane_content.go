package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/patch"
	"github.com/nightporter/nightporter/bot/tui"
	"github.com/nightporter/nightporter/internal/daemon/logging"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace/secret"
)

// maxPaneSessions is how many sessions the output pane goes back.
const maxPaneSessions = 24

// outputPane shows what the latest sessions of a task, or of the run, said and did.
func (svc *Service) outputPane(ctx context.Context, s loop.State, task string) (paneContent, error) {
	all, err := svc.watched.sessions(ctx, svc.o.Store, s)
	if err != nil {
		return paneContent{}, err
	}
	if t, ok := bot.FindTask(s, task); ok {
		all = slices.DeleteFunc(all, func(x watchedSession) bool { return !ledger.SameID(x.task, t.Task.ID) })
	}
	all = all[max(len(all)-maxPaneSessions, 0):]
	c := paneContent{version: "o"}
	for _, x := range all {
		c.version += " " + x.id + " " + svc.o.Sessions.OutputStamp(x.id)
		_, live := s.Project.Session(x.id)
		c.live = c.live || live
	}
	c.version = hash(c.version)
	c.build = func(context.Context) (tui.Pane, error) { return svc.output(all) }
	return c, nil
}

func (svc *Service) output(all []watchedSession) (tui.Pane, error) {
	var p tui.Pane
	if len(all) == 0 {
		p.Note = "no session has begun"
	}
	// The newest session that fills the pane is the first one that is read of.
	var parts [][]tui.PaneLine
	lines := 0
	for n, x := range slices.Backward(all) {
		said, err := svc.o.Sessions.Transcript(x.id, tui.MaxOutputLines)
		if err != nil {
			return p, err
		}
		if len(said) == 0 && x.kind != ledger.KindAgent && n < len(all)-1 {
			continue // a command that had nothing to say
		}
		var part tui.Pane
		part.Add(tui.LineHead, tui.SessionHead(x.at, x.task, x.doing, svc.now()))
		for _, passage := range said {
			kind := tui.LineText
			if passage.Action {
				kind = tui.LineAction
			}
			part.Add(kind, logging.Redact(passage.Text))
		}
		parts = append(parts, part.Lines)
		if lines += len(part.Lines); lines > tui.MaxOutputLines {
			break
		}
	}
	slices.Reverse(parts)
	p.Lines = slices.Concat(parts...)
	p.KeepLast()
	if len(all) > 0 {
		last := all[len(all)-1]
		p.Title = bot.Cut(bot.Clean(ledger.ShortID(last.task)+" "+last.doing), 60)
	}
	return p, nil
}

// paneTask returns the task that panes are about: the one that was asked for, the one
// at work, the one of the last session, or the next one.
func (svc *Service) paneTask(ctx context.Context, s loop.State, task string) (loop.TaskState, bool, error) {
	if t, ok := bot.FindTask(s, task); ok {
		return t, true, nil
	}
	var next *loop.TaskState
	for _, t := range s.Project.Tasks.All() {
		if t.Status == ledger.Active && t.Attempt != nil {
			return *t, true, nil
		}
		over := t.Status == ledger.Done || t.Status == ledger.Skipped || t.Status == ledger.Withdrawn
		if !over && (next == nil || next.Status != ledger.Ready && t.Status == ledger.Ready) {
			next = t
		}
	}
	all, err := svc.watched.sessions(ctx, svc.o.Store, s)
	if err != nil {
		return loop.TaskState{}, false, err
	}
	for _, x := range slices.Backward(all) {
		if t, ok := s.Project.Find(x.task); ok {
			return t, true, nil
		}
	}
	if next == nil {
		return loop.TaskState{}, false, nil
	}
	return *next, true, nil
}

// planPane shows the plan of a task.
func (svc *Service) planPane(ctx context.Context, s loop.State, task string) (paneContent, error) {
	t, ok, err := svc.paneTask(ctx, s, task)
	if err != nil {
		return paneContent{}, err
	}
	show := func(redact func(string) string) tui.Pane {
		if !ok {
			return tui.Pane{Note: "no task is known"}
		}
		return tui.PlanOf(s, t, redact)
	}
	p := show(func(text string) string { return text })
	raw, err := json.Marshal(p)
	if err != nil {
		return paneContent{}, fmt.Errorf("plan pane: %w", err)
	}
	return paneContent{version: hash(string(raw)), build: func(context.Context) (tui.Pane, error) {
		return show(func(text string) string { return logging.Redact(secret.RedactPart(text)) }), nil
	}}, nil
}

// diffPane shows what a task changed, or the run where no task has changed anything
// yet.
func (svc *Service) diffPane(ctx context.Context, s loop.State, task string) (paneContent, error) {
	target, of := "", "nothing is changed yet"
	if s.Project.Run == nil {
		return paneContent{version: "none", build: func(context.Context) (tui.Pane, error) { return tui.Pane{Note: "no run yet"}, nil }}, nil
	}
	p := tui.Pane{Title: s.Project.Run.ID}
	if t, ok, err := svc.paneTask(ctx, s, task); err != nil {
		return paneContent{}, err
	} else if ok && (task != "" || !s.Project.Run.Over()) {
		target, p.Title = t.Task.ID, bot.Cut(bot.Clean(ledger.ShortID(t.Task.ID)), 14)
		of = p.Title + " has changed nothing yet"
		if t.Status == ledger.Active {
			of = p.Title + " is at work; what it changes is here after each session"
		}
	}
	versions, err := svc.versionsOf(ctx, s, target)
	if err != nil {
		return paneContent{}, err
	}
	if len(versions) == 0 && target != "" && task == "" {
		p.Note, p.Title = of, s.Project.Run.ID
		if versions, err = svc.versionsOf(ctx, s, ""); err != nil {
			return paneContent{}, err
		}
	}
	if len(versions) == 0 {
		p.Note = of
		return paneContent{version: hash(fmt.Sprint("none ", p.Title, of)), build: func(context.Context) (tui.Pane, error) { return p, nil }}, nil
	}
	v := versions[0]
	if v.atWork {
		p.Title += fmt.Sprintf(", attempt %d so far", v.attempt)
	}
	return paneContent{version: hash(fmt.Sprint(p.Title, p.Note, v.from, v.to, v.checks)), build: func(ctx context.Context) (tui.Pane, error) {
		w, err := svc.o.Projects.Workspace(ctx, s.Project.Run.Settings, nil)
		if err != nil {
			return p, err
		}
		shown, err := changesOf(ctx, w, v, maxPaneDiff)
		if err != nil {
			return p, err
		}
		p.AddAll(diffLines(patch.Parse(shown.Version)))
		return p, nil
	}}, nil
}

// maxPaneDiff limits the patches of a diff pane, in bytes.
const maxPaneDiff = 256 << 10

// diffLines returns the lines of a patch, below the sum of what it changes.
func diffLines(files []patch.File) []tui.PaneLine {
	added, removed := patch.Sum(files)
	out := []tui.PaneLine{{Kind: tui.LinePlace, Text: fmt.Sprintf("%s +%d −%d", bot.Plural(len(files), "file"), added, removed)}}
	for _, page := range patch.Pages([][]patch.File{files}, []string{""}, patch.WideLayout) {
		for _, t := range page.Texts() {
			kind := tui.LineText
			switch {
			case t.File:
				kind = tui.LineHead
			case t.Sign == patch.Added:
				kind = tui.LineAdded
			case t.Sign == patch.Removed:
				kind = tui.LineRemoved
			case t.Sign == 0:
				kind = tui.LinePlace
			}
			out = append(out, tui.PaneLine{Kind: kind, Text: t.Text})
		}
	}
	return out
}

// hash returns a short tag for a text.
func hash(text string) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(text)) // never fails (hash)
	return fmt.Sprintf("%016x", sum.Sum64())
}
