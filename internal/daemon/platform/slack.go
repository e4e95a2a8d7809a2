package platform

import (
	"context"

	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Slack is the row of Slack: an app in one workspace, with direct messages,
// channels and their threads.
var Slack = Platform{
	Name:  "slack",
	Title: "Slack",
	// Everything is typed after one command, so there is no menu. Members of a
	// channel see its messages, and nobody mentions an app by name.
	Lacks: []string{"BotName", "SetMenu", "Reads", "PairLink"},

	NoticeStays: true,

	Section: func(c *config.Config) any {
		if c.Slack == nil {
			return nil
		}
		return *c.Slack
	},
	Tokens: []Token{{
		File:    func(c *config.Config) string { return c.Slack.AppTokenFile },
		Form:    regexp.MustCompile(`^xapp-[A-Za-z0-9-]+$`),
		Example: "xapp-1-A0NIGHT-1-night",
		Ask:     "Put the app's token (xapp-…) there, mode 0600",
		Want:    "no app token: one line like xapp-1-A…, as the app's page Basic Information gives it under App-Level Tokens, and nothing else",
	}, {
		File:    func(c *config.Config) string { return c.Slack.BotTokenFile },
		Form:    regexp.MustCompile(`^xoxb-[A-Za-z0-9-]+$`),
		Example: "xoxb-1-night",
		Ask:     "Put the bot's token (xoxb-…) there, mode 0600",
		Want:    "no bot token: one line like xoxb-…, as the app's page OAuth & Permissions gives it, and nothing else",
	}},
	TokenFix: func(e *TokenError) (fix, text string) {
		return "deploy/slack-manifest.yaml says where the tokens come from", e.Error()
	},

	Connect: func(c *config.Config, tokens []transport.Secret, h Hooks) (*Conn, error) {
		b, err := slack.New(slack.Options{
			AppToken: tokens[0], BotToken: tokens[1], API: c.Slack.API, Log: h.Log,
			OnChange: h.Changed, Mentions: h.Steerers, RepliedTo: h.Answered, OpenQuestions: h.Open, OnChannelActive: h.Alive,
		})
		if err != nil {
			return nil, err
		}
		return &Conn{ID: c.Slack.API + " " + b.ID(), Cursor: b.CursorName(), Sender: b, State: b.State, Close: b.Close, Listen: b.Run, Ask: b.OpenForm, Fetch: b.Fetch}, nil
	},
	Probe: func(ctx context.Context, c *config.Config, tokens []transport.Secret) ([]ledger.Diagnostic, error) {
		b, err := slack.New(slack.Options{AppToken: tokens[0], BotToken: tokens[1], API: c.Slack.API, Timeout: probeTime})
		if err != nil {
			return nil, err
		}
		found := b.Probe(ctx)
		for _, pr := range c.Projects {
			if pr.SlackChannel != "" && found[0].Severity == ledger.DiagnosticOK { // else it says nothing new
				found = append(found, b.ProbeChannel(ctx, string(pr.SlackChannel), pr.Name))
			}
		}
		return found, nil
	},
	Limits: &delivery.SlackLimits,

	IsGroup: slack.IsGroup,
	Group:   func(chat string) string { return chat },
	Thread: func(pr config.Project) string {
		if pr.SlackChannel == "" {
			return ""
		}
		return slack.Prefix + string(pr.SlackChannel)
	},
	ThreadKey:  "slack_channel",
	ThreadName: func(id string) (kind, name string) { return "channel", id },
	// A reply below a person's message refers to our answer to that message.
	SentAt: func(ctx context.Context, sent inbound.Outbox, _ []string, chat, id string) (ledger.SentMessage, bool, error) {
		if slack.IsUserMessage(id) {
			return sent.AnswerTo(ctx, chat, id)
		}
		return sent.SentAt(ctx, chat, id)
	},

	PairLabel: "In Slack",
	PairLine: func(code string) string {
		return slack.Command + " pair " + code + "   (to the app itself, not in a channel)"
	},
}
