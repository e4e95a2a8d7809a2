package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
)

// maxName limits a channel's name in findings, in columns.
const maxName = 30

// ProbeChannel checks whether a project's channel accepts messages of this bot.
// It changes nothing.
func (b *Bot) ProbeChannel(ctx context.Context, id, project string) transport.Finding {
	const invite = "type in it: /invite @porter"
	var r struct {
		Channel struct {
			ID       string `json:"id"`
			Name     string `json:"name"`
			Archived bool   `json:"is_archived"`
			Member   bool   `json:"is_member"`
		} `json:"channel"`
	}
	err := b.callWithRetry(ctx, "conversations.info", url.Values{"channel": {id}}, &r)
	c := r.Channel
	if err == nil && c.ID != id {
		err = &apiError{method: "conversations.info", code: http.StatusOK, text: "another channel in the answer", foreign: true}
	}
	name := "#" + bot.Cut(bot.Clean(c.Name), maxName) + ", the channel of " + project
	var known *bot.SendError
	switch {
	case err == nil && c.Archived:
		return transport.Finding{Trouble: transport.TroubleChannel, Text: name + ", is archived", Fix: "unarchive it, or give the project another slack_channel"}
	case err == nil && !c.Member:
		return transport.Finding{Trouble: transport.TroubleChannel, Text: "the app is not in " + name, Fix: invite}
	case err == nil:
		return transport.Finding{OK: true, Text: "the app is in " + name}
	case errors.As(b.sendError(err), &known) && errors.Is(known, bot.ErrChatClosed):
		return transport.Finding{
			Trouble: transport.TroubleChannel, Text: fmt.Sprintf("Slack shows the app no channel %s, which is that of %s (%s)", id, project, known.Text),
			Fix: "correct slack_channel; where it is right, " + invite,
		}
	}
	f := b.findingOf("conversations.info", err)
	f.Text = "the channel of " + project + ": " + f.Text
	return f
}
