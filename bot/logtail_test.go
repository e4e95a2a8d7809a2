package bot_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// recordsOf is a Service whose tasks have the given records.
type recordsOf struct {
	*service
	records []ledger.Record
}

func (s recordsOf) Records(context.Context, string, string) ([]ledger.Record, error) {
	return s.records, nil
}

// TestLogPart checks what /log 7 tail and /log 7 file show of what was printed: the end
// of the last output, and all of it.
func TestLogPart(t *testing.T) {
	var long strings.Builder
	for n := range 40 {
		fmt.Fprintf(&long, "line %d\n", n+1)
	}
	s := recordsOf{atWork(), failureRecords(t, "a1",
		ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: "builder"},
		ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedEvent, Exit: ledger.Exit{Said: "I added a test."}},
		ledger.SessionPlanned{Kind: ledger.KindVerify, Command: "npm test"},
		ledger.SessionEnded{Kind: ledger.KindVerify, End: ledger.EndedEvent, Exit: ledger.Exit{Code: 1, Tail: long.String()}},
	)}
	say := func(line string, terminal bool) bot.Message {
		m, err := bot.Handle(t.Context(), s, bot.Request{Key: line, Actor: "console", Text: line, Time: evening, Terminal: terminal})
		if err != nil {
			t.Fatal(err)
		}
		checkForm(t, line, m)
		return m
	}
	if text := say("/log 1 tail", false).Text(38); !strings.Contains(text, "npm test") || !strings.Contains(text, "line 40") || strings.Contains(text, "line 24") {
		t.Errorf("the tail:\n%s", text)
	}
	if text := say("/log 1 tail", true).Text(80); !strings.Contains(text, "line 1\n") {
		t.Errorf("the tail on a terminal:\n%s", text)
	}
	file := say("/log 1 file", false).Document
	if file == nil || !strings.HasSuffix(file.Name, ".txt") {
		t.Fatalf("no file: %+v", file)
	}
	for _, want := range []string{"builder\nI added a test.", "npm test\nline 1\n", "line 40\n"} {
		if !strings.Contains(string(file.Data), want) {
			t.Errorf("%s lacks %q:\n%s", file.Name, want, file.Data)
		}
	}
	if text := say("/log 1 file", true).Text(80); !strings.Contains(text, "line 40") {
		t.Errorf("the file on a terminal:\n%s", text)
	}
}
