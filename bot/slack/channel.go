package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxName limits a channel's name in diagnostics, in columns.
const maxName = 30

// ProbeChannel checks whether a project's channel accepts messages of this bot.
// It changes nothing.
func (b *Bot) ProbeChannel(ctx context.Context, id, project string) ledger.Diagnostic {
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
		return ledger.Diagnostic{Severity: ledger.DiagnosticError, Text: name + ", is archived", Remedy: "unarchive it, or give the project another slack_channel"}
	case err == nil && !c.Member:
		return ledger.Diagnostic{Severity: ledger.DiagnosticError, Text: "the app is not in " + name, Remedy: invite}
	case err == nil:
		return ledger.Diagnostic{Severity: ledger.DiagnosticOK, Text: "the app is in " + name}
	case errors.As(b.sendError(err), &known) && errors.Is(known, bot.ErrChatClosed):
		return ledger.Diagnostic{
			Severity: ledger.DiagnosticError, Text: fmt.Sprintf("Slack shows the app no channel %s, which is that of %s (%s)", id, project, known.Text),
			Remedy: "correct slack_channel; where it is right, " + invite,
		}
	}
	f := b.diagnosticOf("conversations.info", err)
	f.Text = "the channel of " + project + ": " + f.Text
	return f
}
