package slack_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot/link"
	"github.com/nightporter/nightporter/bot/slack"
	far "github.com/nightporter/nightporter/internal/far/slack"
)

func TestProbe(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   func(*far.Server)
		texts []string // with "!" where something is to be done
	}{
		{"all well", func(*far.Server) {}, []string{"bot token accepted: porter in the workspace House", "app token accepted: Socket Mode is on"}},
		{"bot token", func(s *far.Server) { s.Fault("auth.test", far.Refuse("invalid_auth")) }, []string{"!Slack refuses the bot token"}},
		{"app token", func(s *far.Server) { s.Fault("apps.connections.open", far.Refuse("not_allowed_token_type")) },
			[]string{"bot token accepted: porter in the workspace House", "!Slack refuses the app token"}},
		{"app scope", func(s *far.Server) { s.Fault("apps.connections.open", far.Lacking("connections:write")) },
			[]string{"bot token accepted: porter in the workspace House", "!the app token lacks the scope connections:write"}},
		{"scopes", func(s *far.Server) { s.SetScopes("chat:write,commands") },
			[]string{"bot token accepted: porter in the workspace House", "!the bot lacks app_mentions:read, channels:history, channels:read, files:write, groups:history, groups:read, im:history, im:read, im:write", "app token accepted: Socket Mode is on"}},
		{"garbage", func(s *far.Server) { s.Fault("auth.test", far.Garbage(200)) }, []string{"!the bot token cannot be tried: what answers is not Slack: 200 OK"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.set(w.far)
			var got []string
			for _, f := range w.bot.Probe(t.Context()) {
				mark := "!"
				if f.OK {
					mark = ""
				} else if f.Fix == "" || f.Trouble == link.TroubleNone {
					t.Errorf("nothing to do about %+v", f)
				}
				w.secret("finding", f.Text+f.Fix)
				got = append(got, mark+f.Text)
			}
			if !slices.Equal(got, c.texts) {
				t.Errorf("%q, want %q", got, c.texts)
			}
			if w.far.Sockets() != 0 {
				t.Error("a probe opened a socket")
			}
		})
	}
}

// The manifest asks for the scopes that are used, and no others.
func TestManifest(t *testing.T) {
	text, err := os.ReadFile("../../deploy/slack-manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "scopes:\n    bot:\n")
	var has []string
	for line := range strings.SplitSeq(after, "\n") {
		scope, is := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !is {
			break
		}
		has = append(has, scope)
	}
	if !slices.Equal(has, slack.Scopes) {
		t.Errorf("the manifest has %q, the code uses %q", has, slack.Scopes)
	}
	for _, want := range []string{"socket_mode_enabled: true", "command: " + slack.Command, "- app_mention", "- message.im", "- message.channels", "- message.groups", "messages_tab_read_only_enabled: false"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the manifest lacks %q", want)
		}
	}
}
