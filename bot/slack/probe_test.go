package slack_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot/slack"
	far "github.com/nightporter/nightporter/internal/fake/slack"
	"github.com/nightporter/nightporter/loop/ledger"
)

func TestProbe(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   func(*far.Server)
		texts []string // expected findings; "!" marks a finding with a remedy
	}{
		{"all well", func(*far.Server) {}, []string{"bot token accepted: porter in the workspace House", "app token accepted: Socket Mode is on"}},
		{"bot token", func(s *far.Server) { s.Fault("auth.test", far.Rejected("invalid_auth")) }, []string{"!Slack refuses the bot token"}},
		{"app token", func(s *far.Server) { s.Fault("apps.connections.open", far.Rejected("not_allowed_token_type")) },
			[]string{"bot token accepted: porter in the workspace House", "!Slack refuses the app token"}},
		{"app scope", func(s *far.Server) { s.Fault("apps.connections.open", far.MissingScope("connections:write")) },
			[]string{"bot token accepted: porter in the workspace House", "!the app token lacks the scope connections:write"}},
		{"scopes", func(s *far.Server) { s.SetScopes("chat:write,commands") },
			[]string{"bot token accepted: porter in the workspace House", "!the bot lacks app_mentions:read, channels:history, channels:read, files:read, files:write, groups:history, groups:read, im:history, im:read, im:write, reactions:read", "app token accepted: Socket Mode is on"}},
		{"a scope of later manifests", func(s *far.Server) { s.SetScopes(strings.ReplaceAll(far.Scopes, "files:read,", "")) },
			[]string{"bot token accepted: porter in the workspace House", "!the bot lacks files:read: pictures are not taken", "app token accepted: Socket Mode is on"}},
		{"garbage", func(s *far.Server) { s.Fault("auth.test", far.ForeignPage(200)) }, []string{"!the bot token cannot be tried: what answers is not Slack: 200 OK"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			c.set(w.far)
			var got []string
			for _, f := range w.bot.Probe(t.Context()) {
				mark := "!"
				if f.Severity == ledger.DiagnosticOK {
					mark = ""
				} else if f.Remedy == "" {
					t.Errorf("nothing to do about %+v", f)
				}
				w.CheckSecret("diagnostic", f.Text+f.Remedy)
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

// TestProbeChannel checks the findings about a project's channel.
func TestProbeChannel(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*far.Server)
		text string // expected finding; "!" marks a finding with a remedy
	}{
		{"all well", func(s *far.Server) { s.Rename(channel, "shop") }, "the app is in #shop, the channel of shop"},
		{"archived", func(s *far.Server) { s.CloseChannel(channel, "is_archived") }, "!#c0shop, the channel of shop, is archived"},
		{"not a member", func(s *far.Server) { s.CloseChannel(channel, "not_in_channel") }, "!the app is not in #c0shop, the channel of shop"},
		{"private, or none", func(s *far.Server) { s.CloseChannel(channel, "channel_not_found") }, "!Slack shows the app no channel C0SHOP, which is that of shop (channel_not_found)"},
		{"a scope", func(s *far.Server) { s.Fault("conversations.info", far.MissingScope("groups:read")) }, "!the channel of shop: the bot token lacks the scope groups:read"},
		{"a token", func(s *far.Server) { s.Fault("conversations.info", far.Rejected("token_revoked")) }, "!the channel of shop: Slack refuses the bot token"},
		{"garbage", func(s *far.Server) { s.Fault("conversations.info", far.ForeignPage(200)) }, "!the channel of shop: the bot token cannot be tried: what answers is not Slack: 200 OK"},
		{"an empty answer", func(s *far.Server) { s.Fault("conversations.info", far.Fault{Body: `{"ok":true}`}) },
			"!the channel of shop: the bot token cannot be tried: what answers is not Slack: another channel in the answer"},
		{"another form", func(s *far.Server) { s.Fault("conversations.info", far.Fault{Body: `{"ok":true,"channel":[7]}`}) }, "!the channel of shop: the bot token cannot be tried: what answers is not Slack: unexpected result"},
		{"patience", func(s *far.Server) { s.Fault("conversations.info", far.RateLimited(3)) }, "the app is in #c0shop, the channel of shop"},
		{"a long name", func(s *far.Server) { s.Rename(channel, strings.Repeat("\u202e<!channel>\n", 1000)) }, "the app is in #<!channel> <!channel> <!chann…, the channel of shop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			c.set(w.far)
			f := w.bot.ProbeChannel(t.Context(), channel, "shop")
			got := f.Text
			if f.Severity != ledger.DiagnosticOK {
				got = "!" + got
				if f.Remedy == "" {
					t.Errorf("nothing to do about %+v", f)
				}
			}
			if got != c.text && !(c.name == "another form" && strings.HasPrefix(got, c.text)) {
				t.Errorf("%q, want %q", got, c.text)
			}
			w.CheckSecret("diagnostic", f.Text+f.Remedy)
		})
	}
}

// TestManifest checks that the manifest requests exactly the scopes that are
// used.
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
	for _, want := range []string{"socket_mode_enabled: true", "command: " + slack.Command, "- app_mention", "- member_joined_channel", "- reaction_added", "- message.im", "- message.channels", "- message.groups", "messages_tab_read_only_enabled: false"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the manifest lacks %q", want)
		}
	}
}
