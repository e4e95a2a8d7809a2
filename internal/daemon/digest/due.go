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
)

// occasion is a digest that was due last: of a day, or of a week.
type occasion struct {
	name string // 2026-11-20, 2026-W47: it grows with the time
	last string // name of the last one that was sent
	due  time.Time
	from time.Time // what it looks at, up to now
	says func(*report.Facts)
	body loop.InputBody
}

// digests are those of an occasion, ready to go out.
type digests struct {
	name           string
	admins, others []bot.Message // in the same order
}

// Due sends the digest of each day, and of each week: it looks every minute,
// and at the start, whether one is due. The core decides.
type Due struct {
	service.Base
	maker *Maker
}

// NewDue makes the service that sends what is due.
func NewDue(m *Maker) *Due { return &Due{maker: m} }

// Start begins to look.
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

// Send sends what is due at a time.
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

// digestDay is the local day whose digest was due last, and when that was: of
// yesterday, as long as today's is to come. A late hour has its window beyond
// midnight. A time of day that a change of daylight-saving time leaves out is
// the moment that takes its place.
func digestDay(at config.Clock, now time.Time) (day string, due time.Time) {
	date, due := dueLast(at, 1, 0, now)
	return date.Format(time.DateOnly), due
}

// digestWeek is the ISO week whose digest was due last, and when that was.
func digestWeek(at config.WeekTime, now time.Time) (week string, due time.Time) {
	date, due := dueLast(at.At, 7, (int(now.Weekday())-int(at.Day)+7)%7, now)
	year, n := date.ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, n), due
}

// dueLast is the last moment not after now at which the clock of now's zone
// showed a time of day, so many days ago, or as many as every before that, and
// its date.
func dueLast(at config.Clock, every, ago int, now time.Time) (date, due time.Time) {
	y, m, d := now.Date()
	on := func(d int) time.Time { return time.Date(y, m, d, at.Hour, at.Minute, 0, 0, now.Location()) }
	d -= ago
	if due = on(d); now.Before(due) {
		d -= every
		due = on(d)
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC), due
}

// lateBy is from when on a digest says that it is late.
const lateBy = 10 * time.Minute

func ofDay(at config.Clock, house loop.Shared, now time.Time) occasion {
	day, due := digestDay(at, now)
	var missed []string
	for _, d := range (ledger.DigestSent{Day: day}).Missed(house.Digest.Day) {
		if at, err := time.Parse(time.DateOnly, d); err == nil {
			missed = append(missed, at.Format("Mon 2 Jan"))
		}
	}
	return occasion{
		name: day, last: house.Digest.Day, due: due, from: house.DigestFrom(due, now),
		says: func(f *report.Facts) { f.Missed = missed }, body: loop.DigestDue{Day: day, At: due},
	}
}

func ofWeek(at config.WeekTime, house loop.Shared, now time.Time) occasion {
	week, due := digestWeek(at, now)
	return occasion{
		name: week, last: house.Week.Week, due: due, from: house.WeekDigestFrom(due, now),
		says: func(f *report.Facts) { f.Weekly = true }, body: loop.WeekDigestDue{Week: week, At: due},
	}
}

// send sends an occasion's digests, if they are due now. They are drawn first:
// the decision commits them whole.
func (m *Maker) send(ctx context.Context, o occasion, now time.Time) {
	if o.name <= o.last || now.Before(o.due) || now.Sub(o.due) >= loop.DigestWindow {
		return // the core would refuse it: nothing is drawn for that
	}
	drawn, err := guarded(func() (*digests, error) { return m.draw(ctx, o, now), nil })
	if err != nil {
		m.faulted(ctx, "", err, now)
		return // it is tried again in a minute
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

// draw makes the digests of all projects that ever ran.
func (m *Maker) draw(ctx context.Context, o occasion, now time.Time) *digests {
	out := &digests{name: o.name}
	for _, name := range m.Engine.Projects() {
		s, _ := m.Engine.State(name)
		if s.Project.Run == nil {
			continue
		}
		all, few, err := m.both(ctx, s, o, now)
		if err != nil {
			m.Log.Error("digest", "project", name, "error", err)
			all, few = bot.DigestBroken(name), bot.DigestBroken(name)
		}
		out.admins, out.others = append(out.admins, all), append(out.others, few)
	}
	return out
}

// both are a project's digest for admins and for the others, with one picture.
func (m *Maker) both(ctx context.Context, s loop.State, o occasion, now time.Time) (admins, others bot.Message, err error) {
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

// For returns what a person reads of a day or a week.
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
