package bot_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/nightporter/nightporter/bot"
)

// TestFailedReply: who sends a command that the machine cannot carry out for now is
// not told of a fault in nightporter.
func TestFailedReply(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("nil map"), "failed: a fault in"},
		{fmt.Errorf("not saved: %w", syscall.ENOSPC), "not done: cannot be saved"},
		{fmt.Errorf("open: %w", syscall.EMFILE), "not done for now"},
	} {
		d := atWork()
		d.Err = c.err
		m, err := bot.Handle(t.Context(), d, bot.Request{Key: "k", Actor: "console", Text: "/pause", Time: d.Now})
		if !errors.Is(err, c.err) || !strings.Contains(m.Lines[0].Text, c.want) || !m.Refused {
			t.Errorf("%v: %v, %q", c.err, err, m.Lines[0].Text)
		}
	}
}
