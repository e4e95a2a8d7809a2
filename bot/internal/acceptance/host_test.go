package acceptance

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// wanting makes a session ask for hosts before it works.
func wanting(a act, wants ...want) act {
	a.wants = wants
	return a
}

// TestHosts: a night with a closed network. One new host is answered from the phone,
// one at 02:10 is not and stays closed, one is refused; a session that sends what was
// planted is ended; and /net lists and changes what is open.
func TestHosts(t *testing.T) {
	const long = "assets-eu-central-1.packages.partner-of-the-shop.example.org"
	for _, platform := range []func(*testing.T) phone{newTelegram, newSlack} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(tuesday.Add(-time.Minute)))
			p := platform(t)
			tasks := ledger.Snapshot{Name: "checkout", Path: plan().Path}
			for n, title := range []string{"Price list", "Refund flow", "Order emails", "Address form"} {
				tasks.Tasks = append(tasks.Tasks, scenario.Task(n+1, title))
			}
			s := newSessions(tasks, map[string][]act{
				"1 builder": {wanting(builder("23:00", 0.12, "a list of prices"), want{"22:45", "npm.example.org", "npm"}, want{"22:50", long, ""})},
				"2 builder": {wanting(builder("02:20", 0.44, "refunds by order"), want{"02:10", "cdn.example.org", "curl"}, want{"02:15", "fourth.example.org", "curl"})},
				"3 builder": {{till: "02:40", cost: 0.20, leaks: "cdn.example.org:443"}, builder("03:00", 0.30, "mails in plain text")},
				"4 builder": {builder("03:20", 0.20, "a form")},
			})
			closed := func() ledger.Settings {
				set := single()
				set.Network = ledger.NetworkRules{Mode: ledger.NetworkNone, Hosts: []string{"git.example.org"}, ReadOnly: []string{"registry.npmjs.org"}, Services: []string{"127.0.0.1:5432"}}
				return set
			}
			w := openNight(t, p, s, nil, closed, len(tasks.Tasks))
			w.until(tuesday)
			w.pair("Mira", ledger.RoleAdmin, "K7QX-M2PD")
			w.pair("Ana", ledger.RoleSteer, "H3RT-9KWZ")
			asked := ""
			shows := func(who, first string) func() error {
				return func() error { asked += w.shown(who, first) + "\n"; return nil }
			}
			for _, d := range []struct {
				at string
				do func() error
			}{
				{"22:40", say(p, "/run shop")},
				{"22:41", pressing(p, "? Start shop?", "Start")},
				{"22:45:30", shows("Mira", "? builder wants npm")},
				{"22:45:40", pressing(p, "? builder wants npm", "This run")},
				{"22:50:30", shows("Ana", "? builder wants …")},
				{"22:50:40", func() error { return p.press("Ana", "? builder wants …", "No") }},
				{"23:10", say(p, "shop: /net allow api.example.org:8443")},
				{"23:11", say(p, "shop: /net allow https://api.example.org/v1")},
				{"23:12", say(p, "/net shop")},
				{"23:13", say(p, "shop: /net remove api.example.org:8443")},
				{"23:14", say(p, "shop: /net open")},
				{"23:15", say(p, "/net shop")},
				{"23:16", say(p, "shop: /net close")},
				{"23:17", func() error { p.say("Ana", "shop: /net allow evil.example.org"); return nil }},
				{"02:10:30", shows("Mira", "? builder wants cdn")},
				{"07:30", func() error { w.digest(at("07:30")); return nil }},
			} {
				w.until(at(d.at))
				if err := d.do(); err != nil {
					t.Errorf("%s: %v", d.at, err)
				}
				synctest.Wait()
			}
			w.until(at("07:31"))
			golden.Compare(t, p.name()+"-hosts.txt", settled("════ while open\n"+asked+"════ Mira\n"+p.transcript("Mira")+"\n════ Ana\n"+p.transcript("Ana")))
		})
	}
}
