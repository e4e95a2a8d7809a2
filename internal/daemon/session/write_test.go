package session

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestWrite: a session is told of a file out of scope once, another session anew, and
// nothing is said of what is in scope, cannot be judged, or is asked too often.
func TestWrite(t *testing.T) {
	n := scenario.New("shop", time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC))
	n.Start(n.Settings(), n.Base("r1"), scenario.Task(1, "Pay by card"))
	a := &API{Engine: night{n}, Log: slog.New(slog.DiscardHandler)}
	session := func() string {
		id := ""
		n.Until(func() bool {
			for _, s := range n.State.Project.Sessions {
				if s.Planned.Kind == ledger.KindAgent && s.ID != id {
					id = s.ID
				}
			}
			return id != ""
		})
		return id
	}
	say := func(session, path string) string {
		t.Helper()
		r, err := a.Write(t.Context(), session, api.Write{Path: path})
		if err != nil || !r.OK {
			t.Fatal(err, r)
		}
		return r.Text
	}
	one := session()
	if text := say(one, "/work/other/../other/b.go"); !strings.Contains(text, `"other/b.go" is not in the scope`) || !strings.Contains(text, "$TMPDIR") {
		t.Errorf("the first time: %q", text)
	}
	for _, path := range []string{"/work/other/b.go", "/work/a.go", "other/c.go", "", "/work/broken", "/work/other/" + strings.Repeat("x", maxStray)} {
		if text := say(one, path); text != "" {
			t.Errorf("%.40q: %q", path, text)
		}
	}
	if text := say("r1-999", "/work/other/b.go"); text != "" {
		t.Errorf("a session that has ended: %q", text)
	}
	told := 0
	for i := range 2 * maxStrays {
		if say(one, fmt.Sprintf("/work/other/%d.go", i)) != "" {
			told++
		}
	}
	if told != maxStrays-1 || len(a.strays.files) != 1 {
		t.Errorf("told %d times, of %d sessions", told, len(a.strays.files))
	}
	// What ended sessions were told is forgotten.
	a.strays.files["r0-1"] = map[string]bool{"x": true}
	delete(a.strays.files, one)
	if text := say(one, "/work/other/b.go"); text == "" || len(a.strays.files) != 1 {
		t.Errorf("%q, %d sessions", text, len(a.strays.files))
	}
}

var errJudge = errors.New("cannot be judged")
