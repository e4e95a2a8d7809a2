package chat_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"

	far "github.com/nightporter/nightporter/internal/fake/slack"
	"github.com/nightporter/nightporter/loop"
)

// named matches the mentions in front of a message, which Slack notifies.
var named = regexp.MustCompile(`^(<?@[A-Z0-9]+>?[| ]*)+`)

// TestThreadOnSlack checks that a project's news appears in its channel. After
// the channel is archived or the app is removed, the news goes to direct
// conversations until somebody writes there again. Renaming the channel changes
// nothing.
func TestThreadOnSlack(t *testing.T) {
	const channel = "C0SHOP"
	usual := delivery.SlackLimits
	t.Cleanup(func() { delivery.SlackLimits = usual })
	soon := delivery.Rate{Every: time.Millisecond, Burst: 5}
	delivery.SlackLimits = delivery.Limits{Private: soon, Group: soon, All: soon}
	ctx, cancel := context.WithTimeout(t.Context(), 8*daemontest.Patience) // it waits eight times
	t.Cleanup(cancel)

	s := far.Start()
	t.Cleanup(s.Close)
	s.CloseChannel(channel, "")
	s.Rename(channel, "shop")
	mira, ana := s.Direct("U0MIRA"), s.Direct("U0ANA")
	cfg := daemontest.Config(t, "manual")
	tokens := t.TempDir()
	cfg.Slack = &config.Slack{API: s.URL(), AppTokenFile: filepath.Join(tokens, "app"), BotTokenFile: filepath.Join(tokens, "bot")}
	cfg.Projects[0].SlackChannel = channel
	for path, text := range map[string]string{
		cfg.Slack.AppTokenFile: far.AppToken, cfg.Slack.BotTokenFile: far.BotToken,
		filepath.Join(cfg.Projects[0].Repo, "plan.md"): "- [ ] **Task 1: One**\n  - Depends: Task 70\n",
	} {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, _ := daemontest.Open(t, cfg)
	for _, id := range []string{"slack:U0MIRA", "slack:U0ANA"} {
		for _, in := range []loop.Input{{Actor: "console", Body: people.OfferPairing{Hash: "h", Role: ledger.RoleAdmin}}, {Actor: id, Name: "Mira", Body: people.TryPairing{Hash: "h"}}} {
			if a, err := p.Engine.Do(ctx, in); err != nil || !a.OK {
				t.Fatal(a, err)
			}
		}
	}
	c := p.Hub.Connect(time.Time{})
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	count := func(in, first string) (n int) {
		for _, m := range s.Messages(in) {
			if m.Bot && strings.HasPrefix(named.ReplaceAllString(m.Plain(), ""), first) {
				n++
			}
		}
		return n
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for !is() {
			tick, done := context.WithTimeout(ctx, 20*time.Millisecond) // the fake Slack does not show every step
			_ = s.Wait(tick, is)
			done()
			if ctx.Err() != nil {
				t.Fatalf("%s: never; remarks: %q", what, p.Projects.WarningsOf("shop"))
			}
		}
	}
	shows := func(in string, n int, first string) {
		t.Helper()
		until(first+" in "+in, func() bool { return count(in, first) >= n })
	}
	news := func() { // a run that fails at its preflight
		t.Helper()
		settings, err := p.Projects.Resolve("shop", config.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Engine.Do(ctx, loop.Input{Actor: "console", Project: "shop", Idle: true, Body: loop.StartRun{Settings: settings, MaxSessions: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	remarks := func() string { return strings.Join(p.Projects.WarningsOf("shop"), "\n") }
	const bad, shut = "✗ shop not started", "! shop: its chat takes nothing"

	news()
	shows(channel, 1, bad)
	s.Rename(channel, strings.Repeat("x", 10_000))
	news()
	shows(channel, 2, bad)
	s.Say("U0MIRA", channel, "@porter status") // for the channel's project
	shows(channel, 1, "! shop not started")
	if n := count(mira, bad) + count(ana, bad); n != 0 || strings.Contains(remarks(), "takes nothing") {
		t.Errorf("told %d times in private; remarks: %s", n, remarks())
	}

	private, there := 0, 2
	for n, why := range []string{"is_archived", "not_in_channel", "channel_not_found"} {
		s.CloseChannel(channel, why)
		news() // finds out
		if n == 0 {
			for _, in := range []string{mira, ana} {
				shows(in, 1, shut) // once a day
			}
		}
		until(why, func() bool { return strings.Contains(remarks(), "takes nothing") && strings.Contains(remarks(), why) })
		news()
		private++
		shows(mira, private, bad)
		shows(ana, private, bad)
		// Any message in the channel shows that it accepts messages again.
		s.CloseChannel(channel, "")
		s.Say("U0EVE", channel, "lunch?")
		until("open after "+why, func() bool { return s.Unacked() == 0 && !strings.Contains(remarks(), "takes nothing") })
		news()
		there++
		shows(channel, there, bad)
		if n := count(mira, bad); n != private {
			t.Errorf("%s: told %d times in private, want %d", why, n, private)
		}
	}

	// The status shows a revoked bot token, although the socket is open.
	s.Fault("chat.postMessage", far.Rejected("token_revoked"))
	news()
	until("the token", func() bool {
		return strings.Contains(remarks(), "! Slack: Slack refuses the bot token (token_revoked): get a new one on the app's page OAuth & Permissions")
	})
}
