package logging

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/regexp"
)

// TestJournalHandler: every line has the priority of its level, whatever was
// added to the logger.
func TestJournalHandler(t *testing.T) {
	var out strings.Builder
	log := slog.New(JournalHandler(&out, slog.LevelInfo))
	log.Debug("hidden")
	log.Info("a")
	log.With("x", 1).WithGroup("g").Warn("b\nc", "y", 2)
	log.Error("d")
	got := regexp.MustCompile(`"time":"[^"]*",`).ReplaceAllString(out.String(), "")
	want := `<6>{"level":"INFO","msg":"a"}
<4>{"level":"WARN","msg":"b\nc","x":1,"g":{"y":2}}
<3>{"level":"ERROR","msg":"d"}
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestPriorityWriter: a text of several lines has the priority at each.
func TestPriorityWriter(t *testing.T) {
	var out strings.Builder
	text := "✗ wrong\n    5 | line\n"
	if n, err := PriorityWriter(&out, slog.LevelError).Write([]byte(text)); n != len(text) || err != nil {
		t.Error(n, err)
	}
	if want := "<3>✗ wrong\n<3>    5 | line\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
