package chat

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// script answers the calls of SetMenu, one after the other.
type script struct {
	calls []string
	errs  []error
}

func (s *script) set(_ context.Context, chat string, list []bot.MenuItem) error {
	s.calls = append(s.calls, chat+" "+menuNames(list))
	if len(s.errs) == 0 {
		return nil
	}
	err := s.errs[0]
	s.errs = s.errs[1:]
	return err
}

func menuNames(list []bot.MenuItem) string {
	if len(list) == 0 {
		return "none"
	}
	return list[0].Command + "…" + list[len(list)-1].Command
}

// TestMenusFail checks that a failed menu is tried again, a refused one is not,
// and a confirmed one is not set twice.
func TestMenusFail(t *testing.T) {
	away := &bot.SendError{Reason: bot.ErrRateLimited, RetryAfter: 3 * time.Minute}
	s := &script{errs: []error{nil, away, &bot.SendError{Reason: bot.ErrChatClosed}, errors.New("garbage")}}
	m := menus{prefix: "telegram:", tell: s.set, log: slog.New(slog.DiscardHandler), set: map[string]ledger.Role{}}
	people := []ledger.Person{{ID: "telegram:1", Role: ledger.RoleAdmin}, {ID: "telegram:2", Role: ledger.RoleView}, {ID: "telegram:3", Role: ledger.RoleSteer}, {ID: "slack:U1", Role: ledger.RoleAdmin}}
	if retry := m.update(t.Context(), people); retry != 3*time.Minute {
		t.Errorf("again after %v", retry)
	}
	s.calls = append(s.calls, "--")
	for range 2 {
		if retry := m.update(t.Context(), people); retry != 0 {
			t.Errorf("again after %v", retry)
		}
	}
	people[0].Role = ledger.RoleView
	m.update(t.Context(), people[:2])
	want := []string{" none", "telegram:1 status…help", "telegram:2 status…help", "telegram:3 status…help", "--", "telegram:1 status…help", "telegram:3 status…help", "telegram:1 status…help", "telegram:3 none"}
	if diff := cmp.Diff(want, s.calls); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
