package main

import (
	"context"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
)

// slackProbe asks Slack about an app: are both tokens accepted, may it do all
// that it is to do, and is it in the channels of projects. It opens no socket,
// so it can run beside a daemon.
func slackProbe(ctx context.Context, app, bot, api string, projects []config.Project) []finding {
	s, err := slack.New(slack.Options{AppToken: transport.Secret(app), BotToken: transport.Secret(bot), API: api, Timeout: 10 * time.Second})
	if err != nil {
		return []finding{mend("correct [slack] in the configuration", "%v", err)}
	}
	found := s.Probe(ctx)
	for _, pr := range projects {
		if pr.SlackChannel != "" && found[0].OK { // else it says nothing new
			found = append(found, s.ProbeChannel(ctx, string(pr.SlackChannel), pr.Name))
		}
	}
	var out []finding
	for _, f := range found {
		switch f.Trouble {
		case transport.TroubleNone:
			out = append(out, fine("%s", f.Text))
		case transport.TroubleNetwork, transport.TroubleServer, transport.TroubleSlow:
			// nightporter works on and tries again.
			out = append(out, look(f.Fix, "%s", f.Text))
		default:
			out = append(out, mend(f.Fix, "%s", f.Text))
		}
	}
	return out
}

// checkSlack looks at the tokens' files, and asks Slack about the app.
func checkSlack(ctx context.Context, p *doctorContext) []finding {
	s := p.cfg.Slack
	if !p.usable || s == nil {
		return nil // said with the projects; and Slack is no must
	}
	app, bot, err := slackTokens(s)
	if err != nil {
		return []finding{mend("deploy/slack-manifest.yaml says where the tokens come from", "%v", err)}
	}
	out := []finding{fine("tokens in %s and %s", s.AppTokenFile, s.BotTokenFile)}
	if p.slack == nil {
		return append(out, unseen("Slack itself was not asked"))
	}
	hide := strings.NewReplacer(app, "TOKEN", bot, "TOKEN")
	for _, f := range p.slack(ctx, app, bot, s.API, p.cfg.Projects) {
		f.Text, f.Fix = hide.Replace(f.Text), hide.Replace(f.Fix)
		out = append(out, f)
	}
	return out
}
