package digest

import (
	"context"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// period is the latest day or week whose digest is due.
type period struct {
	name string // 2026-11-20 or 2026-W47; later names are greater
	last string // name of the last sent digest
	due  time.Time
	from time.Time // start of the reported time, which ends now
	says func(*report.Facts)
	body loop.InputBody
}

// Due sends the daily and weekly digests. It checks at the start and every
// minute; the core decides whether a digest is sent, so a repeated check sends
// nothing twice.
type Due struct {
	service.Base
	maker *Maker
}

// NewDue returns the service that sends due digests.
func NewDue(m *Maker) *Due { return &Due{maker: m} }

// Start begins to check.
func (d *Due) Start(context.Context) error {
	if err := d.Begin(); err != nil {
		return err
	}
	d.Go(func(ctx context.Context) {
		due, stop := service.Minutely()
		defer stop()
		for {
			d.maker.Send(ctx, time.Now())
			select {
			case <-ctx.Done():
				return
			case <-due:
			}
		}
	})
	return nil
}

// Send sends the digests that are due at now.
func (m *Maker) Send(ctx context.Context, now time.Time) {
	now = now.In(m.Catalog.Zone())
	set := m.Catalog.Config().Digest
	if set.At.Set {
		m.send(ctx, ofDay(set.At, m.Engine.Shared(), now), now)
	}
	if set.Weekly.At.Set {
		m.send(ctx, ofWeek(set.Weekly, m.Engine.Shared(), now), now)
	}
}

// digestDay returns the local day of the latest due digest and the time at
// which it was due. Before today's digest is due, that is yesterday's, so a
// digest can still be sent after midnight. A time of day that a change of
// daylight-saving time skips moves to the time that replaces it.
func digestDay(at config.Clock, now time.Time) (day string, due time.Time) {
	date, due := dueLast(at, 1, 0, now)
	return date.Format(time.DateOnly), due
}

// digestWeek returns the ISO week of the latest due digest and the time at
// which it was due.
func digestWeek(at config.WeekTime, now time.Time) (week string, due time.Time) {
	date, due := dueLast(at.At, 7, (int(now.Weekday())-int(at.Day)+7)%7, now)
	year, n := date.ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, n), due
}

// dueLast returns the latest due time that is not after now, and its date. Due
// times come every so many days, at the time of day at; one of them is ago days
// before now's date.
func dueLast(at config.Clock, every, ago int, now time.Time) (date, due time.Time) {
	y, m, d := now.Date()
	on := func(d int) time.Time { return at.On(y, m, d, now.Location()) }
	d -= ago
	if due = on(d); now.Before(due) {
		d -= every
		due = on(d)
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC), due
}

// lateBy is the delay after which a digest mentions that it is late.
const lateBy = 10 * time.Minute

// ofDay returns the daily occasion at now.
func ofDay(at config.Clock, shared loop.Shared, now time.Time) period {
	day, due := digestDay(at, now)
	var missed []string
	for _, d := range (ledger.DigestSent{Day: day}).Missed(shared.Digest.Day) {
		if at, err := time.Parse(time.DateOnly, d); err == nil {
			missed = append(missed, at.Format("Mon 2 Jan"))
		}
	}
	return period{
		name: day, last: shared.Digest.Day, due: due, from: shared.DigestFrom(due, now),
		says: func(f *report.Facts) { f.Missed = missed }, body: people.DigestDue{Day: day, At: due},
	}
}

// ofWeek returns the weekly occasion at now.
func ofWeek(at config.WeekTime, shared loop.Shared, now time.Time) period {
	week, due := digestWeek(at, now)
	return period{
		name: week, last: shared.Week.Week, due: due, from: shared.WeekDigestFrom(due, now),
		says: func(f *report.Facts) { f.Weekly = true }, body: people.WeekDigestDue{Week: week, At: due},
	}
}

// send makes and commits an occasion's digests if they are due. It makes them
// before the decision, because the decision commits their text.
func (m *Maker) send(ctx context.Context, o period, now time.Time) {
	if o.name <= o.last || now.Before(o.due) || now.Sub(o.due) >= people.DigestWindow {
		return // the core would refuse it, so nothing is drawn
	}
	drawn, err := guarded(func() (*digests, error) { return m.draw(ctx, o, now), nil })
	if err != nil {
		m.reportFault(ctx, "", err, now)
		return // the check of the next minute tries again
	}
	m.ready.Store(drawn)
	defer m.ready.Store(nil)
	a, err := m.Engine.Do(ctx, loop.Input{Time: now, Actor: "daemon", Idle: true, Body: o.body})
	switch {
	case err != nil && ctx.Err() == nil:
		m.Log.Error("digest", "of", o.name, "error", err)
	case err == nil:
		m.Log.Info("digest", "of", o.name, "sent", a.OK, "text", a.Text)
	}
}

// draw makes the digests of all projects that have had a run.
func (m *Maker) draw(ctx context.Context, o period, now time.Time) *digests {
	out := &digests{name: o.name}
	for _, name := range m.Engine.Projects() {
		s, _ := m.Engine.State(name)
		if s.Project.Run == nil {
			continue
		}
		all, few, err := m.digestPair(ctx, s, o, now)
		if err != nil {
			m.Log.Error("digest", "project", name, "error", err)
			all, few = bot.DigestBroken(name), bot.DigestBroken(name)
		}
		out.admins, out.others = append(out.admins, all), append(out.others, few)
	}
	return out
}

// digestPair returns a project's digest for admins and for everybody else, with
// one picture.
func (m *Maker) digestPair(ctx context.Context, s loop.State, o period, now time.Time) (admins, others bot.Message, err error) {
	f, err := m.Facts(ctx, s, o.from, now)
	if err != nil {
		return admins, others, err
	}
	if o.says(&f); now.Sub(o.due) >= lateBy {
		f.Due = o.due
	}
	if admins, err = Text(f, ""); err != nil {
		return admins, others, err
	}
	admins = m.WithPicture(ctx, admins, f, now)
	f.Strangers = 0
	others, err = Text(f, "")
	others.Picture, others.Alt = admins.Picture, admins.Alt
	return admins, others, err
}

// For returns a person's digests of an occasion, nil if that is not the
// occasion being sent. Compose calls it during the decision.
func (m *Maker) For(name string, p ledger.Person) []bot.Message {
	d := m.ready.Load()
	if d == nil || d.name != name {
		return nil
	}
	if p.Role.May(ledger.RoleAdmin) {
		return d.admins
	}
	return d.others
}
