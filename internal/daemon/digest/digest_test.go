package digest_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/daemon/digest"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// TestDailyDigest checks that each local day has one digest, across restarts,
// days without a daemon and changes of the clock, and that missed days are
// named.
func TestDailyDigest(t *testing.T) {
	w := daemontest.New(t)
	berlin := w.Projects.Zone()
	y, m, d := time.Now().In(berlin).Date()
	at := func(day, hour, minute int) time.Time { return time.Date(y, m, d+day, hour, minute, 0, 0, berlin) }
	count := 0
	step := func(now time.Time, more int, why string) {
		t.Helper()
		for range 3 { // every minute, and after each start
			w.SendDigests(now)
		}
		count += more
		for _, chat := range []string{daemontest.Admin, daemontest.Viewer} {
			if got := len(w.QueuedDigests(chat)); got != count {
				t.Fatalf("%s: %d digests for %s, want %d", why, got, chat, count)
			}
		}
	}
	step(at(1, 8, 0), 0, "nothing ever ran")
	w.StartRun()
	step(at(2, 7, 29), 0, "too early")
	step(at(2, 7, 30), 1, "due")
	step(at(2, 12, 0), 0, "the same day")
	step(at(3, 13, 31), 0, "too late")
	step(at(4, 9, 0), 1, "late")
	last := w.QueuedDigests(daemontest.Admin)[1].Text(0)
	if !strings.Contains(last, "meant for 07:30") || !strings.Contains(last, "No digest on "+at(3, 0, 0).Format("Mon 2 Jan")) {
		t.Errorf("it does not say that it is late, and what was missed:\n%s", last)
	}
	step(at(4, 7, 45), 0, "the clock was set back")
	step(at(3, 7, 45), 0, "by a day")
	cfg := *w.Projects.Config()
	cfg.Timezone = "Pacific/Honolulu"
	w.Projects.Use(&cfg)
	step(at(5, 7, 45), 0, "west, where it is the day before")
	step(at(5, 18, 31), 1, "07:31 there")
	cfg.Digest.At = config.Clock{}
	w.Projects.Use(&cfg)
	step(at(9, 8, 0), 0, "no time of day is set")
	if got := w.Engine.Shared().Digest; got.Day != at(5, 0, 0).Format(time.DateOnly) || !got.From.Equal(at(4, 9, 0)) {
		t.Errorf("the last one is kept as %+v", got)
	}
}

// TestDigestLate checks that the time for a late digest continues beyond
// midnight, also if the clock changes.
func TestDigestLate(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	late, early := config.Clock{Set: true, Hour: 23, Minute: 30}, config.Clock{Set: true, Hour: 2, Minute: 30}
	for _, c := range []struct {
		at       config.Clock
		now      string
		day, due string
	}{
		{late, "2026-11-20T23:30:00+01:00", "2026-11-20", "2026-11-20T23:30:00+01:00"},
		{late, "2026-11-21T00:05:00+01:00", "2026-11-20", "2026-11-20T23:30:00+01:00"},
		{late, "2027-01-01T05:29:00+01:00", "2026-12-31", "2026-12-31T23:30:00+01:00"},
		{early, "2026-03-29T03:31:00+02:00", "2026-03-29", "2026-03-29T03:30:00+02:00"}, // no 02:30
		{early, "2026-10-25T03:31:00+01:00", "2026-10-25", "2026-10-25T02:30:00+02:00"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		day, due := digest.Day(c.at, now.In(berlin))
		if day != c.day || due.Format(time.RFC3339) != c.due {
			t.Errorf("at %s: %s, due %s; want %s, %s", c.now, day, due.Format(time.RFC3339), c.day, c.due)
		}
	}
}

// TestWeeklyDigest checks that each ISO week has one digest beside the daily
// ones, across days without a daemon and changes of the clock.
func TestWeeklyDigest(t *testing.T) {
	w := daemontest.New(t)
	berlin := w.Projects.Zone()
	cfg := *w.Projects.Config()
	cfg.Digest.Weekly = config.WeekTime{Day: time.Monday, At: config.Clock{Set: true, Hour: 8}}
	w.Projects.Use(&cfg)
	at := func(month time.Month, day, hour, minute int) time.Time {
		return time.Date(2026, month, day, hour, minute, 0, 0, berlin)
	}
	w.Now.Store(at(10, 1, 0, 0).UnixNano())
	w.StartRun()
	days, weeks := 0, 0
	step := func(now time.Time, moreDays, moreWeeks int, why string) {
		t.Helper()
		for range 2 {
			w.SendDigests(now)
		}
		days, weeks = days+moreDays, weeks+moreWeeks
		if got := len(w.QueuedDigests(daemontest.Viewer)); got != days+weeks {
			t.Fatalf("%s: %d digests, want %d of days and %d of weeks", why, got, days, weeks)
		}
	}
	step(at(10, 19, 7, 45), 1, 0, "Monday, but early")
	step(at(10, 19, 8, 0), 0, 1, "due")
	text := w.QueuedDigests(daemontest.Viewer)[1].Text(0)
	if !strings.Contains(text, "week to Mon 19 Oct") {
		t.Errorf("it is not that of a week:\n%s", text)
	}
	step(at(10, 20, 8, 0), 1, 0, "Tuesday")
	step(at(10, 26, 13, 0), 1, 1, "late, and the clocks have changed")
	if last := w.QueuedDigests(daemontest.Viewer)[4].Text(0); !strings.Contains(last, "meant for 08:00 · week to Mon 26 Oct") {
		t.Errorf("it does not say that it is late:\n%s", last)
	}
	step(at(11, 2, 14, 0), 0, 0, "off on Monday")
	step(at(11, 16, 8, 0), 1, 1, "again")
	step(at(11, 9, 8, 0), 0, 0, "the clock was set back")
	if got := w.Engine.Shared().Week; got.Week != "2026-W47" || !got.From.Equal(at(11, 9, 8, 0)) {
		t.Errorf("the last one is kept as %+v", got)
	}
	for _, c := range []struct {
		at             config.WeekTime
		now, week, due string
	}{
		{config.WeekTime{Day: time.Monday, At: config.Clock{Set: true}}, "2026-11-23T00:00:00+01:00", "2026-W48", "2026-11-23T00:00:00+01:00"},
		{config.WeekTime{Day: time.Monday, At: config.Clock{Set: true}}, "2026-11-22T23:59:59+01:00", "2026-W47", "2026-11-16T00:00:00+01:00"},
		{config.WeekTime{Day: time.Sunday, At: config.Clock{Set: true, Hour: 23}}, "2027-01-04T04:00:00+01:00", "2026-W53", "2027-01-03T23:00:00+01:00"},
		{config.WeekTime{Day: time.Sunday, At: config.Clock{Set: true, Hour: 2, Minute: 30}}, "2026-03-29T12:00:00+02:00", "2026-W13", "2026-03-29T03:30:00+02:00"},
		{config.WeekTime{Day: time.Friday, At: config.Clock{Set: true, Hour: 8}}, "2027-01-07T12:00:00+01:00", "2026-W53", "2027-01-01T08:00:00+01:00"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if week, due := digest.Week(c.at, now.In(berlin)); week != c.week || due.Format(time.RFC3339) != c.due {
			t.Errorf("%s at %s: %s, due %s; want %s, %s", c.at, c.now, week, due.Format(time.RFC3339), c.week, c.due)
		}
	}
}

// TestDigestStrangers checks that only admins see messages from strangers.
func TestDigestStrangers(t *testing.T) {
	w := daemontest.New(t)
	w.StartRun()
	y, m, d := time.Now().In(w.Projects.Zone()).Date()
	w.Now.Store(time.Date(y, m, d+1, 6, 0, 0, 0, w.Projects.Zone()).UnixNano())
	w.Input(loop.Input{Actor: "telegram:99", Name: "Somebody", Body: people.MeetStranger{Chat: "telegram:99", Why: "not paired"}})
	w.SendDigests(time.Date(y, m, d+1, 7, 30, 5, 0, w.Projects.Zone()))
	for chat, want := range map[string]bool{daemontest.Admin: true, daemontest.Viewer: false} {
		all := w.QueuedDigests(chat)
		if len(all) != 1 || strings.Contains(all[0].Text(0), "1 stranger wrote") != want {
			t.Errorf("%s reads %+v", chat, all)
		}
	}
}

// TestDigestCommand checks the digest and its picture, in the chat and at the
// host.
func TestDigestCommand(t *testing.T) {
	w := daemontest.New(t)
	w.StartRun()
	d := w.Daemon.Operator
	r, err := d.Command(t.Context(), api.Command{Key: "1", Project: "shop", Text: "/digest today"})
	if err != nil || !r.OK || !strings.Contains(r.Text, "No agent ran.") {
		t.Errorf("%+v, %v", r, err)
	}
	view := func(look string) api.Reply {
		r, err := d.View(t.Context(), api.View{Name: "digest", Project: "shop", Args: map[string]string{"span": "7d", "look": look}})
		if err != nil || !r.OK {
			t.Fatalf("%+v, %v", r, err)
		}
		return r
	}
	var data operator.Digest
	if err := json.Unmarshal(view("light").Data, &data); err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(data.Picture)); err != nil {
		t.Error(err)
	}
	if r := view(""); strings.Contains(string(r.Data), "picture") || !strings.Contains(r.Text, "Night of shop") {
		t.Errorf("%s\n%s", r.Text, r.Data)
	}
}

// TestDigestFault checks that a panic while drawing or composing does not end
// the daemon: the text is sent without a picture, admins are told once, and the
// log has the stack.
func TestDigestFault(t *testing.T) {
	w := daemontest.New(t)
	w.StartRun()
	y, m, d := time.Now().In(w.Projects.Zone()).Date()
	due := time.Date(y, m, d+1, 7, 30, 0, 0, w.Projects.Zone())
	w.AddSessions(due)
	drawn := 0
	w.Digests.Picture = func(report.Facts, bool) ([]byte, error) {
		drawn++
		panic("index out of range")
	}
	w.SendDigests(due.Add(time.Minute))
	daemon := w.Daemon.Operator
	for range 2 {
		m, err := daemon.Digest(t.Context(), "shop", bot.DigestQuery{Span: "7d", Now: due.Add(2 * time.Minute)})
		if err != nil || m.Picture != nil || m.Key != bot.KeyDigest {
			t.Errorf("/digest: %+v, %v", m, err)
		}
	}
	if drawn != 3 {
		t.Errorf("it was drawn %d times", drawn)
	}
	for chat, faults := range map[string]int{daemontest.Admin: 1, daemontest.Viewer: 0} {
		if all := w.QueuedDigests(chat); len(all) != 1 || all[0].Picture != nil || !strings.Contains(all[0].Text(0), "3 sessions · $1.50") {
			t.Errorf("%s reads %+v", chat, all)
		}
		queue, err := w.Store.Queued(t.Context(), chat)
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		for _, o := range queue {
			if strings.Contains(string(o.Body), "no picture: a fault") {
				told++
			}
		}
		if told != faults {
			t.Errorf("%s is told %d times of the fault, want %d", chat, told, faults)
		}
	}
	r, err := daemon.View(t.Context(), api.View{Name: "digest", Project: "shop", Args: map[string]string{"look": "dark"}})
	if err != nil || !r.OK {
		t.Fatalf("%+v, %v", r, err)
	}
	var data operator.Digest
	if err := json.Unmarshal(r.Data, &data); err != nil || data.Fault != "a fault in nightporter: index out of range" || data.Picture != nil || !strings.Contains(r.Text, "Night of shop") {
		t.Errorf("%+v, %v", r, err)
	}
	log, err := os.ReadFile(filepath.Join(w.Projects.State(), "nightporter.log"))
	if err != nil || !strings.Contains(string(log), "index out of range") || !strings.Contains(string(log), "digest_test.go") {
		t.Errorf("the log says %s, %v", log, err)
	}
	if m, err := digest.Text(report.Facts{Guidance: []report.Guided{{}}, Hats: nil, Needs: make([]report.Need, 1)}, ""); err != nil || m.Key != bot.KeyDigest {
		t.Errorf("what does not panic: %+v, %v", m, err)
	}
	if _, err := digest.RecoverPanic(func() (int, error) { panic("x") }); err == nil {
		t.Error("a panic came to nothing")
	}
}

// TestLongWait checks that the digest names a wait that began before its span,
// with the person or agent waited for, and that it has the ledger's head even
// without new entries.
func TestLongWait(t *testing.T) {
	w := daemontest.New(t)
	y, m, d := time.Now().In(w.Projects.Zone()).Date()
	due := time.Date(y, m, d+9, 7, 30, 0, 0, w.Projects.Zone())
	began := due.Add(-5 * 24 * time.Hour)
	w.Now.Store(began.Add(-time.Hour).UnixNano())
	w.StartRun()
	project := ledger.ProjectStream("shop")
	put := func(at time.Time, stream string, body ledger.Body) {
		t.Helper()
		r, err := ledger.Entry{Stream: stream, Time: at, Body: body}.Record()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Store.Commit(t.Context(), ledger.Batch{Time: at, Records: []ledger.Record{r}}); err != nil {
			t.Fatal(err)
		}
	}
	put(began, ledger.SharedStream, ledger.AgentParked{Agent: "claude", Why: ledger.FailureLimit})
	put(began, project, ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitLimit})
	for n := range 3 {
		put(began.Add(time.Hour), ledger.SharedStream, ledger.StrangerWrote{})
		put(began.Add(time.Duration(n)*time.Hour), project, ledger.SourceRead{})
	}
	ask := func(now time.Time) string {
		t.Helper()
		m, err := w.Daemon.Operator.Digest(t.Context(), "shop", bot.DigestQuery{Now: now, Span: "1d"})
		if err != nil {
			t.Fatal(err)
		}
		return m.Text(0)
	}
	_, head, err := w.Store.Head(t.Context(), project)
	if err != nil {
		t.Fatal(err)
	}
	text := ask(due)
	for _, want := range []string{"Waited 24 h 00 for claude's limit, still does", hex.EncodeToString(head)[:12]} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	put(due.Add(time.Hour), project, ledger.RunStateSet{State: ledger.RunRunning})
	if text := ask(due.Add(6 * time.Hour)); !strings.Contains(text, "Waited 19 h 00 for claude's limit\n") {
		t.Errorf("over by now:\n%s", text)
	}
}

// TestCameBackNoted checks that the ledger and the digest contain the time
// without a daemon.
func TestCameBackNoted(t *testing.T) {
	w := daemontest.New(t)
	w.StartRun()
	w.CameBack(t.Context(), time.Time{})
	w.CameBack(t.Context(), time.Now().Add(-10*time.Second))
	w.CameBack(t.Context(), time.Now().Add(-3*time.Hour))
	d := w.Daemon.Operator
	m, err := d.Digest(t.Context(), "shop", bot.DigestQuery{Now: time.Now()})
	if err != nil || !strings.Contains(m.Text(0), "nightporter was off") || !strings.Contains(m.First(), "off ") {
		t.Errorf("%s, %v", m.Text(0), err)
	}
}

// TestDigestArrives checks that the digest of a night with sessions is
// delivered with its picture exactly once, across restarts.
func TestDigestArrives(t *testing.T) {
	w := daemontest.New(t)
	w.StartRun()
	y, m, d := time.Now().In(w.Projects.Zone()).Date()
	due := time.Date(y, m, d+1, 7, 30, 0, 0, w.Projects.Zone())
	w.AddSessions(due)
	for id, name := range map[int64]string{1: "Mira", 2: "Ben"} {
		w.Telegram.Say(telegram.User{ID: id, Name: name}, id, "hello")
	}
	patient, cancel := context.WithTimeout(t.Context(), daemontest.Patience)
	defer cancel()
	for range 2 {
		w.SendDigests(due.Add(time.Minute))
		c := w.Hub.Connect(time.Time{})
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, id := range []int64{1, 2} {
			found := telegram.Message{}
			if _, err := w.Telegram.WaitFor(patient, id, func(c telegram.Chat) (ok bool) {
				found, ok = c.Find(func(m telegram.Message) bool { return m.File != nil })
				return ok
			}); err != nil {
				t.Fatal(err)
			}
			if !found.File.Photo || !strings.Contains(found.Text, "3 sessions · $1.50") { // the sound depends on other messages, which bot/notify tests
				t.Errorf("%d: %+v", id, found)
			}
		}
		c.Stop()
	}
	if n := len(w.Telegram.Calls("sendPhoto")); n != 2 {
		t.Errorf("%d photos were sent to two people", n)
	}
}
