package loop

import (
	"maps"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// clockJumped records a jump of the clock for what waits (docs/spec 13.7).
// Without anything that waits it changes nothing.
func (d *decision) clockJumped(by time.Duration) {
	e := ledger.ClockJumped{From: d.in.Time.Add(-by), To: d.in.Time}
	switch {
	case d.in.Project == "":
		d.addShared(e)
	case !d.run().Over() || len(d.Project.Questions)+len(d.Project.Answered)+len(d.Project.Failing) > 0:
		d.add(scope{}, e)
	}
}

// clockJumped returns the project after the clock jumped to now. The time of a
// question passes only while an answer can arrive. What counts from a time that is
// now in the future is counted from now. Times of day stay.
func (p Project) clockJumped(by time.Duration, now time.Time) Project {
	p.Questions = slices.Clone(p.Questions)
	for n := range p.Questions {
		q := &p.Questions[n]
		q.Expires, q.Remind = shifted(q.Expires, by), shifted(q.Remind, by)
		if by < 0 {
			q.Asked = shifted(q.Asked, by)
		}
	}
	if by > 0 {
		return p
	}
	p.Answered = slices.Clone(p.Answered)
	for n := range p.Answered {
		p.Answered[n].At = shifted(p.Answered[n].At, by)
	}
	p.Failing = slices.Clone(p.Failing)
	for n := range p.Failing {
		p.Failing[n].Since = shifted(p.Failing[n].Since, by)
	}
	if p.Run == nil {
		return p
	}
	run := *p.Run
	if isFaultWait(run.Wait) {
		run.Until = shifted(run.Until, by)
	}
	if run.Retold != nil {
		run.Retold = &RetoldOutlook{Outlook: run.Retold.Outlook, At: shifted(run.Retold.At, by)}
	}
	// The end of a run is a time of day of the next 24 hours. In UTC, because a time in a
	// ledger knows its offset and no zone: where summer time begins or ends, it is an hour off.
	for until := run.Settings.Until.UTC(); until.After(now); until = until.AddDate(0, 0, -1) {
		run.Settings.Until = until
	}
	p.Run = &run
	return p
}

// clockJumped returns the shared state after the clock jumped to now.
func (s Shared) clockJumped(by time.Duration, now time.Time) Shared {
	if by < 0 {
		s.Agents = maps.Clone(s.Agents)
		for name, h := range s.Agents {
			h.Since, h.Until = shifted(h.Since, by), shifted(h.Until, by)
			s.Agents[name] = h
		}
		s.Limits = maps.Clone(s.Limits)
		for name, l := range s.Limits {
			l.Since, l.Until = shifted(l.Since, by), shifted(l.Until, by)
			s.Limits[name] = l
		}
		s.Early = maps.Clone(s.Early)
		for name, l := range s.Early {
			l.Last = shifted(l.Last, by)
			s.Early[name] = l
		}
	}
	s.State = people.ClockJumped(s.State, by, now)
	return s
}

// shifted returns t moved by a jump of the clock; the zero time stays.
func shifted(t time.Time, by time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(by)
}
