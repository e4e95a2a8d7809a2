package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Me is the bot's own account.
type Me struct {
	ID       int64
	Username string // "mira_porter_bot": https://t.me/mira_porter_bot
	Name     string
	Groups   bool // the bot may be added to groups
	ReadsAll bool // in groups the bot sees every message, not only commands and replies
}

// Me asks Telegram for the bot's account. Errors are those of a bot.Sender, such
// as bot.ErrTokenRejected and bot.ErrOffline.
func (b *Bot) Me(ctx context.Context) (Me, error) {
	var u tgbotapi.User
	if err := b.call(ctx, "getMe", nil, &u); err != nil {
		return Me{}, sendError(err)
	}
	return Me{ID: u.ID, Username: u.UserName, Name: u.FirstName, Groups: u.CanJoinGroups, ReadsAll: u.CanReadAllGroupMessages}, nil
}

// Probe checks the token, the webhook, and the bot's rights in each of the groups
// and topics. It fetches no updates and changes nothing, so it may run beside the
// daemon. The first diagnostic is about the connection and the token; if that one is
// not OK, there are no others. A warning means that messages arrive later, or with
// less.
func (b *Bot) Probe(ctx context.Context, threads ...string) []ledger.Diagnostic {
	me, err := b.Me(ctx)
	var failure *bot.SendError
	switch {
	case errors.Is(err, bot.ErrTokenRejected):
		return []ledger.Diagnostic{{Severity: ledger.DiagnosticError, Text: "Telegram refuses the token", Remedy: "ask @BotFather for a new one (/token) and write it into the token file"}}
	case errors.As(err, &failure) && errors.Is(failure, bot.ErrOffline):
		return []ledger.Diagnostic{{Severity: ledger.DiagnosticWarning, Text: "Telegram is out of reach: " + failure.Text, Remedy: "look at the network, and at telegram.api"}}
	case err != nil:
		return []ledger.Diagnostic{{Severity: ledger.DiagnosticWarning, Text: "Telegram does not answer as it should: " + err.Error(), Remedy: "look at telegram.api; else try again later"}}
	}
	out := []ledger.Diagnostic{{Severity: ledger.DiagnosticOK, Text: "token accepted, bot @" + me.Username}}
	var hook tgbotapi.WebhookInfo
	switch err := b.call(ctx, "getWebhookInfo", nil, &hook); {
	case err != nil:
		out = append(out, ledger.Diagnostic{Severity: ledger.DiagnosticWarning, Text: "cannot see whether a webhook is set: " + err.Error()})
	case hook.URL != "":
		out = append(out, ledger.Diagnostic{
			Severity: ledger.DiagnosticError, Text: "a webhook is set, so nightporter gets no messages",
			Remedy: "call deleteWebhook of this bot, or make a bot of its own with @BotFather",
		})
	default:
		text := "no webhook"
		if n := hook.PendingUpdateCount; n > 0 {
			text += fmt.Sprintf(", %d updates wait", n)
		}
		out = append(out, ledger.Diagnostic{Severity: ledger.DiagnosticOK, Text: text})
	}
	if s := b.State(); s.Trouble == TroubleConflict {
		out = append(out, ledger.Diagnostic{Severity: ledger.DiagnosticError, Text: s.Text + fmt.Sprintf(" (since %s)", s.Since.Format(time.TimeOnly)), Remedy: "end the other program"})
	}
	for _, chat := range threads {
		out = append(out, b.probeThread(ctx, me, chat))
	}
	return out
}

// probeThread checks a group or topic to which messages are sent.
func (b *Bot) probeThread(ctx context.Context, me Me, chat string) ledger.Diagnostic {
	id, thread, err := parseAddress(chat)
	if err != nil {
		return ledger.Diagnostic{Severity: ledger.DiagnosticError, Text: err.Error()}
	}
	var group struct {
		Title  string `json:"title"`
		Forum  bool   `json:"is_forum"`
		Rights rights `json:"permissions"`
	}
	var mine struct {
		Status string `json:"status"`
		rights
	}
	at := strconv.FormatInt(id, 10)
	err = sendError(b.call(ctx, "getChat", tgbotapi.Params{"chat_id": at}, &group))
	if err == nil {
		err = sendError(b.call(ctx, "getChatMember", tgbotapi.Params{"chat_id": at, "user_id": strconv.FormatInt(me.ID, 10)}, &mine))
	}
	name := fmt.Sprintf("group %q", bot.Cut(bot.Clean(group.Title), 40))
	var failure *bot.SendError
	switch {
	case errors.As(err, &failure) && errors.Is(failure, bot.ErrChatMoved):
		to := strings.TrimPrefix(failure.MovedTo, Prefix)
		return ledger.Diagnostic{Severity: ledger.DiagnosticError, Text: "group " + at + " has another number by now", Remedy: fmt.Sprintf("write telegram_topic = %q", to)}
	case errors.Is(err, bot.ErrChatClosed), err == nil && (mine.Status == "left" || mine.Status == "kicked"):
		return ledger.Diagnostic{Severity: ledger.DiagnosticError, Text: "@" + me.Username + " is not in the group " + at, Remedy: "add it there, or take telegram_topic out"}
	case err != nil:
		return ledger.Diagnostic{Severity: ledger.DiagnosticWarning, Text: "cannot see the group " + at + ": " + err.Error()}
	case thread != 0 && !group.Forum:
		return ledger.Diagnostic{Severity: ledger.DiagnosticError, Text: name + " has no topics", Remedy: fmt.Sprintf("write telegram_topic = %q, or turn topics on in the group", at)}
	case mine.Status != "creator" && !mine.Pin && (mine.Status == "administrator" || !group.Rights.Pin):
		return ledger.Diagnostic{Severity: ledger.DiagnosticWarning, Text: name + ": the live status is not pinned there", Remedy: "make @" + me.Username + " an administrator that may pin messages"}
	}
	return ledger.Diagnostic{Severity: ledger.DiagnosticOK, Text: name + " can be written to"}
}

// rights are the chat permissions that this package needs.
type rights struct {
	Pin bool `json:"can_pin_messages"`
}
