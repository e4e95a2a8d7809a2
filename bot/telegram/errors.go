package telegram

import (
	"errors"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
)

// refusalReasons maps parts of Telegram's error texts with code 400 to reasons.
// Only the text distinguishes these errors.
var refusalReasons = []struct {
	part   string
	reason error
}{
	{"message to edit not found", bot.ErrMessageGone},
	{"message can't be edited", bot.ErrMessageGone},
	{"message_id_invalid", bot.ErrMessageGone},
	{"chat not found", bot.ErrChatClosed},
	{"topic_closed", bot.ErrChatClosed},
	{"topic_deleted", bot.ErrChatClosed},
	{"chat_write_forbidden", bot.ErrChatClosed},
	{"not enough rights to send", bot.ErrChatClosed},
	{"have no rights to send", bot.ErrChatClosed},
	{"need administrator rights in the channel chat", bot.ErrChatClosed},
	{"user is deactivated", bot.ErrChatClosed},
	{"group chat was deactivated", bot.ErrChatClosed},
	{"peer_id_invalid", bot.ErrChatClosed},
}

// Parts of error texts that this package handles itself.
const (
	textNotModified     = "message is not modified"
	textUnparsable      = "can't parse entities"
	textNoThread        = "message thread not found"
	textTopicDeleted    = "topic_deleted"
	textNothingToDelete = "message to delete not found"
	textNothingToUnpin  = "message to unpin not found"
	textNoText          = "there is no text in the message to edit"
	textNoCaption       = "there is no caption in the message to edit"
	textNoPhotoRights   = "rights to send photos"
	textPressTooOld     = "query is too old"
	textPressUnknown    = "query id is invalid"
)

// isRefusal reports whether err is an error response whose text contains part.
func isRefusal(err error, part string) bool {
	var r *apiError
	return errors.As(err, &r) && strings.Contains(strings.ToLower(r.text), part)
}

// isReplyTargetGone reports whether the message to reply to does not exist.
func isReplyTargetGone(err error) bool {
	return isRefusal(err, "message to be replied not found") || isRefusal(err, "message to reply not found") || isRefusal(err, "reply message not found")
}

// sendError converts an error of a call into a *bot.SendError. An error that
// leaves open whether the message was sent is returned as it is.
func sendError(err error) error {
	var r *apiError
	var s *transport.NoResponseError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &s) && !s.Sent:
		return &bot.SendError{Reason: bot.ErrOffline, Text: s.Text()}
	case !errors.As(err, &r):
		return err
	}
	fail := func(reason error) error { return &bot.SendError{Reason: reason, Text: r.text} }
	switch {
	case r.foreign && (r.code == 413 || r.code == 414):
		return fail(bot.ErrRejected)
	case r.foreign && r.code >= 300 && r.code < 500:
		// A proxy or a login page answered, so nothing reached Telegram.
		return fail(bot.ErrOffline)
	case r.foreign:
		return err
	case r.retryAfter > 0 || r.code == 429:
		return &bot.SendError{Reason: bot.ErrRateLimited, RetryAfter: max(r.retryAfter, time.Second), Text: r.text}
	case r.migratedTo != 0:
		return &bot.SendError{Reason: bot.ErrChatMoved, MovedTo: Address(r.migratedTo, 0), Text: r.text}
	case r.code == 401 || (r.code == 404 && !strings.Contains(r.text, "method")):
		return fail(bot.ErrTokenRejected)
	case r.code == 403:
		return fail(bot.ErrChatClosed)
	case r.code >= 400 && r.code < 500:
		text := strings.ToLower(r.text)
		for _, m := range refusalReasons {
			if strings.Contains(text, m.part) {
				return fail(m.reason)
			}
		}
		return fail(bot.ErrRejected)
	}
	return err
}
