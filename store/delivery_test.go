package store

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestPlans checks that every query run for a message or a button press uses an
// index: a queue of 10^5 messages must not slow down the next one.
func TestPlans(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	for name, c := range map[string]struct {
		query string
		index []string
	}{
		"next":     {nextQuery, []string{"messages_next", "messages_key"}},
		"queue":    {queueQuery, []string{"messages_next", "messages_key"}},
		"chats":    {chatsQuery, []string{"messages_next"}},
		"stands":   {shownIDQuery, []string{"messages_key"}},
		"waiting":  {waitingQuery, []string{"messages_waiting"}},
		"at":       {sentAtQuery, []string{"messages_sent"}},
		"for":      {sentForQuery, []string{"messages_key"}},
		"together": {togetherQuery, []string{"messages_sent", "messages_key"}},
		"joined":   {lastJoinedQuery, []string{"messages_joins"}},
		"answer":   {answerQuery, []string{"messages_answer"}},
		"where":    {whereQuery, []string{"messages_where"}},
		"prune":    {pruneQuery, []string{"messages_settled", "messages_key"}},
	} {
		plan := planOf(t, s, c.query)
		for _, index := range c.index {
			if !strings.Contains(plan, index) {
				t.Errorf("%s does not use %s:\n%s", name, index, plan)
			}
		}
		for line := range strings.Lines(plan) {
			if strings.Contains(line, "SCAN m") || strings.Contains(line, "SCAN n") || strings.Contains(line, "TEMP B-TREE") && name != "answer" {
				t.Errorf("%s reads or sorts all:\n%s", name, plan)
			}
		}
	}
}

func planOf(t *testing.T, s *Store, query string) string {
	t.Helper()
	args := []any{}
	for range strings.Count(strings.ReplaceAll(strings.ReplaceAll(query, "?1", "?"), "?2", "?"), "?") {
		args = append(args, "x")
	}
	var plan strings.Builder
	if err := s.rows(t.Context(), func(rows *sql.Rows) error {
		var id, parent, unused int
		var detail string
		err := rows.Scan(&id, &parent, &unused, &detail)
		plan.WriteString(detail + "\n")
		return err
	}, "EXPLAIN QUERY PLAN "+query, args...); err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	return plan.String()
}

// TestLongQueue checks that delivery from a queue of 10^5 messages is as fast
// as from a short one.
func TestLongQueue(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	var b ledger.Batch
	for i := range 100_000 {
		b.Messages = append(b.Messages, ledger.Outgoing{Chat: fmt.Sprintf("telegram:%d", i%40), Class: ledger.ClassNotice, Body: []byte("text")})
	}
	r := mustCommit(t, s, b)
	if len(r.Chats) != 40 {
		t.Fatalf("%d chats", len(r.Chats))
	}
	if n, err := s.QueueLength(t.Context()); err != nil || n != 100_000 {
		t.Errorf("%d wait, %v", n, err)
	}
	began := time.Now()
	const asked = 100
	for range asked {
		if m := next(t, s, "telegram:7"); m.ID != 8 {
			t.Fatalf("next is %d", m.ID)
		}
		if chats, err := s.Chats(t.Context()); err != nil || len(chats) != 40 || chats[0] != "telegram:0" {
			t.Fatalf("chats %q, %v", chats, err)
		}
	}
	// Reading the whole queue would take longer than this.
	if each := time.Since(began) / asked; each > 10*time.Millisecond {
		t.Errorf("%v for chats and the next message", each)
	}
}

// TestReopenedOutbox reopens the database: a message in doubt stays in doubt,
// and a queued message stays queued.
func TestReopenedOutbox(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	commitLines(t, s, "q5 ask", "q6 ask", "- text")
	settle(t, s, mira, "100")
	begin(t, s, next(t, s, mira).ID)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.BeginDelivery(t.Context(), 1); err == nil {
		t.Error("a closed store took a mark")
	}
	s = mustOpen(t, dir)
	wantEqual(t, "queue", lines(t, s, mira), []string{"q6? ask", " text"})
	wantEqual(t, "shown", shown(t, s, mira, "q5"), "100 ask")
}
