package notify_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestWave checks that everybody gets one silent message a wave, with what its picture shows, and
// the words alone where there is no picture or nothing to draw.
func TestWave(t *testing.T) {
	tried := ledger.WaveEnded{Wave: 2, Passed: []ledger.WaveReport{{Task: "Task 1", Number: 3, URL: "https://forge.example/shop/pulls/3"}}}
	for name, c := range map[string]struct {
		wave        ledger.WaveEnded
		picture     string
		messages    int
		drawn, want string // pictures made, and the one of a message
	}{
		"drawn":        {tried, `{"n":1}`, 1, "1", `{"n":1}`},
		"not possible": {tried, "", 1, "1", ""},
		"no attempt":   {ledger.WaveEnded{Wave: 2}, `{"n":1}`, 1, "", ""},
		"cut":          {ledger.WaveEnded{Wave: 2, Cut: "stopped", Skipped: tried.Passed}, `{"n":1}`, 0, "", ""},
	} {
		p := runningNight(t, true)
		drawn := ""
		p.n = notify.New(notify.Options{Zone: func() *time.Location { return zone }, Wave: func(s loop.State, w ledger.WaveEnded, now time.Time) json.RawMessage {
			if drawn += "1"; s.Project.Name != "shop" || w.Wave != 2 || now.Location() != zone {
				t.Errorf("%s: asked for wave %d of %s at %s", name, w.Wave, s.Project.Name, now)
			}
			return json.RawMessage(c.picture)
		}})
		before := map[string]int{}
		for who, chat := range p.chats {
			before[who] = len(chat.shown)
		}
		e := ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: p.Now, Run: "r1", Actor: "daemon", Body: c.wave}
		p.deliver(p.n.Compose(p.State, loop.Decided(p.State, e), loop.Input{Time: p.Now, Project: "shop", Actor: "daemon", Body: loop.Tick{}}))
		if drawn != c.drawn {
			t.Errorf("%s: drawn %q times", name, drawn)
		}
		for who, chat := range p.chats {
			fresh := chat.shown[before[who]:]
			if len(fresh) != c.messages {
				t.Errorf("%s: %d messages for %s", name, len(fresh), who)
				continue
			}
			for _, x := range fresh {
				of := ""
				if x.m.Drawing != nil {
					of = string(x.m.Drawing.Wave)
				}
				if of != c.want || len(x.m.Picture) > 0 || !x.silent || x.m.Run != "r1" {
					t.Errorf("%s: %s reads %+v", name, who, x)
				}
			}
		}
	}
}
