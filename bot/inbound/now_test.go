package inbound_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestNowOvertaken checks that the words of a /now have a receipt when their session
// ends before anybody answers.
func TestNowOvertaken(t *testing.T) {
	w := newFixture(t)
	w.private(mira, "/now Keep the old names")
	q := ledger.Question{}
	for _, x := range w.state().Project.Questions {
		if x.Kind == ledger.AskNow {
			q = x
		}
	}
	if q.ID == "" {
		t.Fatalf("nothing is asked:\n%s", w.transcript(mira))
	}
	w.later.Store(int64(q.Expires.Add(time.Minute).Sub(w.now)))
	if _, err := w.engine.Do(t.Context(), loop.Input{Time: w.clock(), Actor: "daemon", Project: "shop", Body: loop.Tick{}}); err != nil {
		t.Fatal(err)
	}
	w.deliver()
	items := w.state().Project.Guidance.Items
	if len(items) == 0 {
		t.Fatal("the words are queued nowhere")
	}
	id := items[len(items)-1].ID
	if got := w.newestWithKey(mira, id).m; !strings.Contains(got.First(), fmt.Sprintf("%s queued", id)) || !strings.Contains(got.Text(0), "Keep the old names") {
		t.Errorf("%s", got.Text(0))
	}
}
