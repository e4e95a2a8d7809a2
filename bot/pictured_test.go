package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestShowPictured: the question of a manual verification says how the result looks,
// and which of two pictures is which only where it shows them.
func TestShowPictured(t *testing.T) {
	a, b := &ledger.Picture{Hash: "a"}, &ledger.Picture{Hash: "b"}
	start := ledger.Shot{Tree: "c0", Picture: a}
	different, same := ledger.Compare(start, ledger.Shot{Tree: "t1", Picture: b}), ledger.Compare(start, ledger.Shot{Tree: "t1", Picture: a})
	broken := ledger.Compare(start, ledger.Shot{Tree: "t1", Why: "longer than 1m"})
	const plain = "\nPictures: the result looks different from the start.\n"
	for name, c := range map[string]struct {
		is      *ledger.Pictured
		picture []byte
		text    string
		alt     string
	}{
		"both":            {&different, []byte("png"), "\nPictures, start above, result below: the result looks different from the start.\n", "#5, its start above and its result below"},
		"same":            {&same, []byte("png"), "\nPictures: the result looks exactly like the start.\n", "#5, its result"},
		"nothing to show": {&different, nil, plain, ""},
		"too large":       {&different, make([]byte, bot.MaxPicture+1), plain, ""},
		"no result":       {&broken, nil, "\nPictures: none of the result: longer than 1m.\n", ""},
	} {
		q := ledger.Question{ID: "q3", Kind: ledger.AskManual, Task: "Task 5", Title: "Pay page", Text: "Pictures: look at them", Pictured: c.is}
		var s loop.State
		s.Project.Name = "shop"
		m := bot.Ask(s, q, time.Now())
		m.ShowPictured(bot.Compared{Task: q.Task, Pictured: *c.is}, c.picture)
		if text := m.Text(80); !strings.Contains(text, c.text) || m.Alt != c.alt || (len(m.Picture) > 0) != (c.alt != "") {
			t.Errorf("%s: alt %q, %d bytes\n%s", name, m.Alt, len(m.Picture), text)
		}
	}
}
