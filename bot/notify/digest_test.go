package notify_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// TestDigest checks that everybody gets one message a project, once, and that
// only the first message with news makes a sound.
func TestDigest(t *testing.T) {
	p := runningNight(t, true)
	message := func(key, project string) bot.Message {
		return bot.Message{Key: key, Project: project, Lines: []bot.Line{{Text: "✓ " + project + " 1/1 done"}, {Text: "Nothing runs."}}, Picture: []byte("png")}
	}
	all := []bot.Message{message(bot.KeyDigestIdle, "attic"), message(bot.KeyDigest, "blog"), message(bot.KeyDigest, "shop")}
	asked := map[string]string{}
	p.n = notify.New(notify.Options{Zone: func() *time.Location { return zone }, Digests: func(of string, who ledger.Person) []bot.Message {
		asked[who.ID] = of
		if who.Role == ledger.RoleView {
			return all[2:]
		}
		return all
	}})
	for range 2 {
		p.Do(loop.Input{Idle: true, Body: people.DigestDue{Day: "2026-11-20", At: p.Now.Add(-time.Minute)}})
	}
	if diff := cmp.Diff(map[string]string{mira: "2026-11-20", ana: "2026-11-20", ben: "2026-11-20"}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	want := map[string][]string{
		mira: {"push notice silent ✓ attic 1/1 done", "push notice sound ✓ blog 1/1 done", "push notice silent ✓ shop 1/1 done"},
		ben:  {"push notice sound ✓ shop 1/1 done"},
	}
	for who, lines := range want {
		log := p.chats[who].log
		if diff := cmp.Diff(lines, log[max(len(log)-len(lines), 0):]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", who, diff)
		}
		last := p.chats[who].shown[len(p.chats[who].shown)-1]
		if last.key != "digest/2026-11-20/shop" || string(last.m.Picture) != "png" {
			t.Errorf("%s: %+v", who, last)
		}
	}
}

// TestWeekDigest checks that a weekly digest makes a sound only if something
// needs a person.
func TestWeekDigest(t *testing.T) {
	p := runningNight(t, true)
	p.n = notify.New(notify.Options{Zone: func() *time.Location { return zone }, Digests: func(of string, _ ledger.Person) []bot.Message {
		if of != "2026-W47" {
			t.Errorf("asked for %s", of)
		}
		return []bot.Message{
			{Key: bot.KeyDigestWeek, Project: "blog", Lines: []bot.Line{{Text: "✓ blog 1/1 done"}, {Text: "Nothing runs."}}},
			{Key: bot.KeyDigest, Project: "shop", Lines: []bot.Line{{Text: "? shop 1/2 done, 1 needs you"}, {Text: "Nothing runs."}}},
		}
	}})
	for range 2 {
		p.Do(loop.Input{Idle: true, Body: people.WeekDigestDue{Week: "2026-W47", At: p.Now.Add(-time.Minute)}})
	}
	log := p.chats[mira].log
	want := []string{"push notice silent ✓ blog 1/1 done", "push notice sound ? shop 1/2 done, 1 needs you"}
	if diff := cmp.Diff(want, log[max(len(log)-2, 0):]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if last := p.chats[mira].shown[len(p.chats[mira].shown)-1]; last.key != "digest/2026-W47/shop" {
		t.Errorf("%+v", last)
	}
}
