package bot_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nightporter/nightporter/bot"
)

// TestSendReason checks that SendReason reduces any error of a Sender to one
// reason, wrapped or not, and that an unknown error never claims that the
// message was or was not sent.
func TestSendReason(t *testing.T) {
	unknown := errors.New("EOF")
	for _, c := range []struct {
		err, want error
	}{
		{nil, nil},
		{unknown, bot.ErrOutcomeUnknown},
		{bot.ErrOutcomeUnknown, bot.ErrOutcomeUnknown},
		{bot.ErrOffline, bot.ErrOffline},
		{fmt.Errorf("send: %w", bot.ErrMessageGone), bot.ErrMessageGone},
		{&bot.SendError{Reason: bot.ErrChatClosed, Text: "kicked"}, bot.ErrChatClosed},
		{fmt.Errorf("part 2: %w", &bot.SendError{Reason: bot.ErrTokenRejected}), bot.ErrTokenRejected},
		{&bot.SendError{Reason: unknown}, bot.ErrOutcomeUnknown},
		{&bot.SendError{}, bot.ErrOutcomeUnknown},
	} {
		if got := bot.SendReason(c.err); !errors.Is(got, c.want) {
			t.Errorf("%v: reason %v, want %v", c.err, got, c.want)
		}
	}
	if got := (&bot.SendError{Reason: bot.ErrRejected, Text: "message is empty"}).Error(); got != "rejected: message is empty" {
		t.Errorf("text %q", got)
	}
	if got := (&bot.SendError{Text: "?"}).Error(); got != "outcome unknown: ?" {
		t.Errorf("text of the zero value %q", got)
	}
}
