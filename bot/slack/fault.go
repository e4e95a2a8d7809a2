package slack

import (
	"errors"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
)

// meanings of the platform's refusals. Whatever is missing here is refused for
// good.
var meanings = map[string]bot.Fault{
	"message_not_found":             bot.FaultMessageGone,
	"cant_update_message":           bot.FaultMessageGone,
	"edit_window_closed":            bot.FaultMessageGone,
	"channel_not_found":             bot.FaultChatClosed,
	"not_in_channel":                bot.FaultChatClosed,
	"is_archived":                   bot.FaultChatClosed,
	"is_inactive":                   bot.FaultChatClosed,
	"user_not_found":                bot.FaultChatClosed,
	"users_not_found":               bot.FaultChatClosed,
	"user_not_visible":              bot.FaultChatClosed,
	"user_disabled":                 bot.FaultChatClosed,
	"cannot_dm_bot":                 bot.FaultChatClosed,
	"messages_tab_disabled":         bot.FaultChatClosed,
	"restricted_action":             bot.FaultChatClosed,
	"restricted_action_read_only":   bot.FaultChatClosed,
	"restricted_action_thread_only": bot.FaultChatClosed,
	"team_access_not_granted":       bot.FaultChatClosed,
	"message_limit_exceeded":        bot.FaultRateLimited,
}

// unclear are refusals after which something may have happened all the same.
var unclear = map[string]bool{
	"internal_error": true, "fatal_error": true, "service_unavailable": true, "request_timeout": true, "unknown_error": true,
}

// says reports whether an error is a refusal with one of these words.
func says(err error, words ...string) bool {
	var r *refusal
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

// final reports whether the same call would be refused for ever, whatever
// becomes of the tokens.
func final(err error) bool {
	var r *refusal
	return errors.As(err, &r) && !r.foreign && r.after == 0 && !unclear[r.text] && !refusesToken(r.text)
}

// Refusals that this package answers itself.
var (
	badBlocks = []string{"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long"}
	noThread  = []string{"thread_not_found", "cannot_reply_to_message", "invalid_thread_ts"}
)

// sendError says what an error of a call means for what was to be sent: a
// *bot.SendError, or another one where nobody knows.
func (b *Bot) sendError(err error) error {
	var r *refusal
	var s *transport.NoResponseError
	var known *bot.SendError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(err, &s) && !s.Sent:
		return &bot.SendError{Fault: bot.FaultOffline, Text: s.Text()}
	case errors.As(err, &s):
		return s
	case !errors.As(err, &r):
		return errors.New(b.o.without(err.Error()))
	}
	fail := func(f bot.Fault) error { return &bot.SendError{Fault: f, Text: r.text} }
	switch {
	case r.foreign && (r.code == 413 || r.code == 414):
		return fail(bot.FaultRefused)
	case r.foreign && r.code >= 300 && r.code < 500:
		// A proxy or a login page stands in between and let nothing through.
		return fail(bot.FaultOffline)
	case r.foreign:
		return errors.New("slack " + r.method + ": " + r.text)
	case r.after > 0:
		return &bot.SendError{Fault: bot.FaultRateLimited, After: r.after, Text: r.text}
	case r.text == "missing_scope":
		return &bot.SendError{Fault: bot.FaultToken, Text: r.scope()}
	case refusesToken(r.text):
		return fail(bot.FaultToken)
	case unclear[r.text]:
		return errors.New("slack " + r.method + ": " + r.text)
	}
	if f, known := meanings[r.text]; known {
		return fail(f)
	}
	return fail(bot.FaultRefused)
}
