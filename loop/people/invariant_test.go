package people

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
)

// crowd is a random sequence of inputs with what an observer of it remembers.
type crowd struct {
	*rapid.T
	s        State
	now      time.Time
	codes    int
	digests  []ledger.DigestSent
	weeks    []ledger.WeekDigestSent
	recorded []Stranger
}

// TestInvariants: what doc.go promises holds after every input, whoever sends it
// and whatever the clock does.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &crowd{T: t, now: time.Date(2026, 11, 19, 22, 0, 0, 0, time.UTC)}
		for range rapid.IntRange(1, 80).Draw(t, "inputs") {
			c.step()
		}
	})
}

func (c *crowd) pick(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(c.T, label)
}

func (c *crowd) step() {
	if far := rapid.IntRange(-90, 400).Draw(c.T, "minutes"); far > 0 || c.pick("clock", "on", "on", "back") == "back" {
		c.now = c.now.Add(time.Duration(far) * time.Minute)
	}
	c.add(Expire(c.s, c.now))
	if due := Due(c.s); !due.IsZero() && !due.After(c.now) {
		c.Fatalf("%v is due, and it is %v", due, c.now)
	}
	from := Sender{Name: c.pick("name", "", "Mira", " a\n b ", strings.Repeat("n", 90))}
	from.Actor = c.pick("actor", "console", "daemon", "telegram:1", "telegram:2", "telegram:3", "slack:U1")
	from.Role = ledger.Role(c.pick("role", "", "", "", "view", "steer", "admin"))
	if refusal, ok := CheckRole(c.s, c.now, from); !ok {
		if p, _ := c.s.Person(from.Actor); p.Role.May(from.Role) || refusal.Answer.OK {
			c.Fatalf("%+v is refused as %q: %+v", p, from.Role, refusal.Answer)
		}
		c.decided(from, nil, refusal)
		return
	}
	in := c.input()
	before := mustJSON(c.T, c.s)
	d := Decide(c.s, c.now, from, in)
	if again := Decide(c.s, c.now, from, in); !cmp.Equal(d, again) {
		c.Fatalf("%+v gives two decisions: %s", in, cmp.Diff(d, again))
	}
	if after := mustJSON(c.T, c.s); after != before {
		c.Fatalf("%+v changes the state that it is given: %s, was %s", in, after, before)
	}
	c.decided(from, in, d)
}

func (c *crowd) input() Input {
	id := func() string { return c.pick("id", "telegram:1", "telegram:2", "telegram:3", "slack:U1", "nobody") }
	switch rapid.IntRange(0, 11).Draw(c.T, "input") {
	case 0, 1:
		c.codes++
		return OfferPairing{Hash: fmt.Sprint("h", c.codes), Role: ledger.Role(c.pick("offered", "view", "steer", "admin", "admin", "owner", ""))}
	case 2, 3, 4:
		return TryPairing{Hash: c.pick("code", fmt.Sprint("h", c.codes), fmt.Sprint("h", c.codes), fmt.Sprint("h", c.codes-1), "", "x")}
	case 5, 6:
		return Remove{ID: id()}
	case 7:
		return SetQuiet{Chat: id(), Hours: ledger.Hours(c.pick("hours", "22:00-07:00", "off", "default", "22-7"))}
	case 8:
		return MeetStranger{Chat: id(), Why: "not paired"}
	case 9:
		return RefuseCommand{Command: "stop", For: "shop"}
	case 10:
		at := c.now.Add(-time.Duration(rapid.IntRange(-30, 500).Draw(c.T, "late")) * time.Minute)
		if c.pick("span", "day", "week") == "week" {
			year, week := at.ISOWeek()
			return WeekDigestDue{Week: fmt.Sprintf("%04d-W%02d", year, week), At: at}
		}
		return DigestDue{Day: at.Format(time.DateOnly), At: at}
	}
	return CameBack{Off: c.now.Add(-time.Duration(rapid.IntRange(-5, 60).Draw(c.T, "off")) * time.Minute)}
}

func (c *crowd) add(bodies []ledger.Body) {
	for _, b := range bodies {
		e := ledger.Entry{Stream: ledger.SharedStream, Time: c.now, Body: b}
		r, err := e.Record() // as it comes back from the ledger
		if err != nil {
			c.Fatal(err)
		}
		if e, err = r.Entry(); err != nil {
			c.Fatal(err)
		}
		was := c.s
		c.s = Apply(c.s, e)
		if b, ok := b.(ledger.PersonPaired); ok && was.Pairing == nil {
			c.Fatalf("%s is paired without a code", b.Person.ID)
		}
	}
	var again State
	if err := json.Unmarshal([]byte(mustJSON(c.T, c.s)), &again); err != nil || mustJSON(c.T, again) != mustJSON(c.T, c.s) {
		c.Fatalf("a snapshot gives another state (%v): %+v, was %+v", err, again, c.s)
	}
}

// decided folds a decision and compares the answer's claim with the new state.
func (c *crowd) decided(from Sender, in Input, d Decision) {
	was := c.s
	c.add(d.Entries)
	a := d.Answer
	if !a.OK && (!cmp.Equal(was.People, c.s.People) || !cmp.Equal(was.Quiet, c.s.Quiet) || was.Digest != c.s.Digest || was.Week != c.s.Week) {
		c.Fatalf("%+v is refused (%s), and changed %s", in, a.Text, cmp.Diff(was, c.s))
	}
	if !a.OK && (a.Code == "" || a.Text == "") {
		c.Fatalf("%+v is refused without a reason: %+v", in, a)
	}
	if a.OK {
		c.claimed(from, in, a)
	}
	c.paired(from, was)
	c.audited(d.Entries)
	c.covered(d.Entries)
}

// claimed: an accepted answer is true.
func (c *crowd) claimed(from Sender, in Input, a ledger.Answer) {
	ok := true
	switch in := in.(type) {
	case OfferPairing:
		p := c.s.Pairing
		ok = p != nil && p.Hash == in.Hash && p.Role == in.Role && p.Until.Equal(c.now.Add(PairingTime)) && p.Tries == 0
	case TryPairing:
		p, paired := c.s.Person(from.Actor)
		ok = paired && string(p.Role) == a.ID && c.s.Pairing == nil
	case Remove:
		_, paired := c.s.Person(in.ID)
		_, quiet := c.s.Quiet[in.ID]
		ok = !paired && !quiet
	case SetQuiet:
		hours, err := ledger.ParseHours(string(in.Hours))
		ok = err == nil && c.s.QuietHours(in.Chat, "") == hours
	case DigestDue:
		ok = c.s.Digest.Day == in.Day && c.s.Digest.To.Equal(c.now)
	case WeekDigestDue:
		ok = c.s.Week.Week == in.Week && c.s.Week.To.Equal(c.now)
	}
	if !ok {
		c.Fatalf("%+v is answered with %+v, and the state is %+v", in, a, c.s)
	}
}

// paired: people, roles and the code, compared with the state before an input.
func (c *crowd) paired(from Sender, was State) {
	admins := func(s State) (n int) {
		for _, p := range s.People {
			if p.Role == ledger.RoleAdmin {
				n++
			}
		}
		return n
	}
	if from.Actor != "console" && admins(was) > 0 && admins(c.s) == 0 {
		c.Fatalf("%s took away the last admin: %+v, was %+v", from.Actor, c.s.People, was.People)
	}
	for n, p := range c.s.People {
		if slices.ContainsFunc(c.s.People[:n], func(o ledger.Person) bool { return o.ID == p.ID }) {
			c.Fatalf("%s is paired twice: %+v", p.ID, c.s.People)
		}
		if p.Role.Rank() == 0 || p.Name == "" || strings.ContainsAny(p.Name, "\n") || len(p.Name) > 40 {
			c.Fatalf("%+v", p)
		}
	}
	if p := c.s.Pairing; p != nil && (p.Tries >= PairingTries || p.Role.Rank() == 0 || p.Hash == "") {
		c.Fatalf("an open code is %+v", p)
	}
}

// audited: a stranger is recorded once an hour. An hour may begin anew when the clock
// is set back.
func (c *crowd) audited(bodies []ledger.Body) {
	for _, b := range bodies {
		b, ok := b.(ledger.StrangerWrote)
		if !ok {
			continue
		}
		back := slices.ContainsFunc(c.recorded, func(o Stranger) bool { return c.now.Before(o.At) })
		for _, o := range c.recorded {
			if !back && o.Who == b.Who && c.now.Sub(o.At) < auditEvery {
				c.Fatalf("%s is recorded at %v and at %v", b.Who, o.At, c.now)
			}
		}
		c.recorded = append(c.recorded, Stranger{b.Who, c.now})
	}
}

// covered: each day and week has one digest, and those of days cover all time.
func (c *crowd) covered(bodies []ledger.Body) {
	for _, b := range bodies {
		switch b := b.(type) {
		case ledger.DigestSent:
			if !b.From.Before(b.To) {
				c.Fatalf("a digest of no time: %+v", b)
			}
			if n := len(c.digests); n > 0 {
				last := c.digests[n-1]
				if b.Day <= last.Day || last.To.Before(c.now) && !b.From.Equal(last.To) {
					c.Fatalf("after %+v comes %+v", last, b)
				}
			}
			c.digests = append(c.digests, b)
		case ledger.WeekDigestSent:
			if !b.From.Before(b.To) {
				c.Fatalf("a digest of no time: %+v", b)
			}
			if n := len(c.weeks); n > 0 && (b.Week <= c.weeks[n-1].Week || c.weeks[n-1].To.Before(c.now) && b.From.Before(c.weeks[n-1].To)) {
				c.Fatalf("after %+v comes %+v", c.weeks[n-1], b)
			}
			c.weeks = append(c.weeks, b)
		}
	}
}

func mustJSON(t *rapid.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestStrangersAreBounded: a crowd within one hour gives a fixed number of entries,
// and the next hour has room again.
func TestStrangersAreBounded(t *testing.T) {
	var s State
	now := time.Date(2026, 11, 19, 22, 0, 0, 0, time.UTC)
	for hour, want := range []int{maxStrangers, maxStrangers} {
		entries := 0
		for n := range 3 * maxStrangers {
			at := now.Add(time.Duration(hour)*auditEvery + time.Duration(n)*time.Second)
			d := Decide(s, at, Sender{Actor: fmt.Sprintf("telegram:%d-%d", hour, n)}, MeetStranger{Why: "not paired"})
			entries += len(d.Entries)
			s = fold(s, at, d.Entries)
		}
		if entries != want || len(s.Strangers) > maxStrangers {
			t.Errorf("hour %d: %d entries, want %d; %d in the state", hour, entries, want, len(s.Strangers))
		}
	}
}
