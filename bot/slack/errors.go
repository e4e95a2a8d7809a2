package slack

import (
	"errors"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
)

// refusalReasons maps Slack's error codes to reasons. Any other code means
// bot.ErrRejected.
var refusalReasons = map[string]error{
	"message_not_found":             bot.ErrMessageGone,
	"cant_update_message":           bot.ErrMessageGone,
	"edit_window_closed":            bot.ErrMessageGone,
	"channel_not_found":             bot.ErrChatClosed,
	"not_in_channel":                bot.ErrChatClosed,
	"is_archived":                   bot.ErrChatClosed,
	"is_inactive":                   bot.ErrChatClosed,
	"user_not_found":                bot.ErrChatClosed,
	"users_not_found":               bot.ErrChatClosed,
	"user_not_visible":              bot.ErrChatClosed,
	"user_disabled":                 bot.ErrChatClosed,
	"cannot_dm_bot":                 bot.ErrChatClosed,
	"messages_tab_disabled":         bot.ErrChatClosed,
	"restricted_action":             bot.ErrChatClosed,
	"restricted_action_read_only":   bot.ErrChatClosed,
	"restricted_action_thread_only": bot.ErrChatClosed,
	"team_access_not_granted":       bot.ErrChatClosed,
	"message_limit_exceeded":        bot.ErrRateLimited,
}

// ambiguousRefusals are error codes of calls that may have had an effect.
var ambiguousRefusals = map[string]bool{
	"internal_error": true, "fatal_error": true, "service_unavailable": true, "request_timeout": true, "unknown_error": true,
}

// isRefusal reports whether err is an error response with one of these codes.
func isRefusal(err error, words ...string) bool {
	var r *apiError
	if !errors.As(err, &r) || r.foreign {
		return false
	}
	for _, w := range words {
		if r.text == w {
			return true
		}
	}
	return false
}

// isPermanent reports whether repeating the call would fail again, even with
// another token.
func isPermanent(err error) bool {
	var r *apiError
	return errors.As(err, &r) && !r.foreign && r.retryAfter == 0 && !ambiguousRefusals[r.text] && !refusesToken(r.text)
}

// Error codes that this package handles itself.
var (
	badBlocks = []string{"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long"}
	noThread  = []string{"thread_not_found", "cannot_reply_to_message", "invalid_thread_ts"}
)

// sendError converts an error of a call into a *bot.SendError. An error that
// leaves open whether the message was sent is not converted; only tokens are
// removed from it.
func (b *Bot) sendError(err error) error {
	var r *apiError
	var s *transport.NoResponseError
	var known *bot.SendError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(err, &s) && !s.Sent:
		return &bot.SendError{Reason: bot.ErrOffline, Text: s.Text()}
	case errors.As(err, &s):
		return s
	case !errors.As(err, &r):
		return errors.New(b.o.redact(err.Error()))
	}
	fail := func(reason error) error { return &bot.SendError{Reason: reason, Text: r.text} }
	switch {
	case r.foreign && (r.code == 413 || r.code == 414):
		return fail(bot.ErrRejected)
	case r.foreign && r.code >= 300 && r.code < 500:
		// A proxy or a login page answered, so nothing reached Slack.
		return fail(bot.ErrOffline)
	case r.foreign:
		return errors.New("slack " + r.method + ": " + r.text)
	case r.retryAfter > 0:
		return &bot.SendError{Reason: bot.ErrRateLimited, RetryAfter: r.retryAfter, Text: r.text}
	case r.text == "missing_scope":
		return &bot.SendError{Reason: bot.ErrTokenRejected, Text: r.missingScope()}
	case refusesToken(r.text):
		return fail(bot.ErrTokenRejected)
	case ambiguousRefusals[r.text]:
		return errors.New("slack " + r.method + ": " + r.text)
	}
	if reason, known := refusalReasons[r.text]; known {
		return fail(reason)
	}
	return fail(bot.ErrRejected)
}
