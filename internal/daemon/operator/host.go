package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Host is the Service of a daemon that stays. It adds the queries and commits
// that only chats need.
type Host struct {
	*Service
	bot.Placer
	Chats
}

var (
	_ bot.DaemonService  = Host{}
	_ bot.Blocker        = Host{}
	_ bot.ActionReporter = (*Service)(nil)
)

// Host returns the service for chats. It needs Options.Stays.
func (svc *Service) Host() Host { return Host{svc, svc.o.Threads, svc.o.Chats} }

// Shared returns the state that all projects share.
func (h Host) Shared() loop.Shared { return h.o.Engine.Shared() }

// QuietHours returns the configured quiet hours.
func (h Host) QuietHours() ledger.Hours { return h.o.Projects.QuietHours() }

// Configured returns the names of the projects that a run can be started for.
func (h Host) Configured() []string {
	var names []string
	for _, pr := range h.o.Projects.Config().Projects {
		names = append(names, pr.Name)
	}
	return names
}

// Blocked returns why a project cannot be worked on now, "" if it can.
func (h Host) Blocked(project string) (why string, rests bool) {
	o, _ := h.o.Projects.Obstacle(project)
	return o.Why, o.Rests
}

// LookAgain looks at all projects, and begins to work on those that can be
// worked on now.
func (h Host) LookAgain(ctx context.Context) { h.o.Projects.LookAgain(ctx) }

// Offer resolves the settings of a requested run and reads its task source, so
// that errors appear now and not after the confirmation. Mistakes of the
// request or the configuration are a *ledger.InputError.
func (h Host) Offer(ctx context.Context, project string, f bot.RunFlags) (loop.OfferRun, error) {
	s, err := h.o.Projects.Resolve(project, config.Overrides{Profile: f.Profile, From: f.From, Only: f.Only})
	if err != nil {
		return loop.OfferRun{}, asInput(err)
	}
	ports, err := h.o.Projects.Ports(ctx, s)
	if err != nil {
		return loop.OfferRun{}, err
	}
	snapshot, err := ports.Source.Read(ctx)
	if err != nil {
		return loop.OfferRun{}, err
	}
	for _, id := range []string{f.From, f.Only} {
		if id != "" && !slices.ContainsFunc(snapshot.Tasks, func(t ledger.Task) bool { return names(t, id) }) {
			return loop.OfferRun{}, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
				File: s.Source.Path, Text: fmt.Sprintf("there is no task %s (it has %d)", id, len(snapshot.Tasks)), Remedy: "Name one of them: nightporter tasks",
			}}}
		}
	}
	state, _ := h.o.Engine.State(project)
	o := loop.OfferRun{
		Settings: s, MaxSessions: h.o.Projects.Config().Sessions(s), Day: h.o.Projects.Config().Budget.Day(),
		Idle: len(state.Project.RedTips) == 0 && !state.Project.WasCutOff() && len(loop.ReadyTasks(state, s, snapshot, time.Now())) == 0,
	}
	if s.Source.Kind != ledger.SourceBugs { // a wave's triage decides what is fixed
		o.Outlook = loop.OfferedOutlook(state, s, o.Day, snapshot, time.Now().In(ports.Zone), h.histories(project)...)
		o.Lanes = loop.OfferedLanes(state, s, snapshot, h.o.Projects.Config().MostSessions(), time.Now(), h.histories(project)...)
	}
	if s.Profile != "review" {
		r, err := h.o.Projects.Resolve(project, config.Overrides{Profile: "review"})
		if err != nil {
			return loop.OfferRun{}, asInput(err)
		}
		limits := r.Limits()
		o.Review = &limits
	}
	begun := f.From == ""
	for _, t := range snapshot.Tasks {
		if begun = begun || names(t, f.From); !begun || f.Only != "" && !names(t, f.Only) || t.Mark == ledger.MarkDone {
			continue
		}
		if known, ok := state.Project.Find(t.ID); ok && (known.Status == ledger.Done || known.Status == ledger.Skipped && (known.Aside == "" || f.Only == "")) {
			continue // the ledger decides which tasks are done, not the source
		}
		if o.Tasks++; o.First == "" {
			o.First = t.ID
		}
	}
	return o, nil
}

// histories returns what is known of the machine's other projects.
func (h Host) histories(project string) (others []history.History) {
	for _, name := range h.o.Engine.Projects() {
		if s, ok := h.o.Engine.State(name); ok && name != project {
			others = append(others, s.Project.History)
		}
	}
	return others
}

// asInput converts a *config.Error to a *ledger.InputError and returns any
// other error unchanged.
func asInput(err error) error {
	var wrong *config.Error
	if !errors.As(err, &wrong) {
		return err
	}
	return &ledger.InputError{Diagnostics: wrong.Masked()}
}

// names reports whether id, as a person typed it, is the task's.
func names(t ledger.Task, id string) bool {
	return ledger.SameID(t.ID, id) || strings.EqualFold(strings.TrimPrefix(ledger.ShortID(t.ID), "#"), strings.TrimPrefix(id, "#"))
}
