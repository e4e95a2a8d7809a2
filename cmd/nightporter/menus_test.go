package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"

	far "github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/loop"
)

// TestMenus: everybody's menu is that of their role, from the moment at which
// it is theirs; strangers have none, whatever an earlier release left there.
func TestMenus(t *testing.T) {
	const steers, looks = "status guidance pause resume tasks queue now stop cost digest quiet help", "status tasks queue cost digest quiet help"
	f := newForum(t, config.Topic{Chat: -1001234567890, Thread: 42})
	f.far.SetMenu(0, []far.Command{{Command: "run", Description: "Start a run"}})
	sees := func(chat int64, want string) {
		t.Helper()
		if err := f.far.WaitMenu(f.ctx, chat, strings.Fields(want)...); err != nil {
			t.Fatal(err)
		}
	}
	f.stop()
	f.begin()
	sees(1, steers)
	sees(2, looks)
	sees(99, "")
	sees(-1001234567890, "")
	f.do(loop.Input{Actor: "console", Body: loop.OfferPairing{Hash: "h", Role: ledger.RoleSteer}})
	f.do(loop.Input{Actor: digestViewer, Name: "Mira", Body: loop.TryPairing{Hash: "h"}})
	sees(2, steers)
	f.do(loop.Input{Actor: "console", Body: loop.RemovePerson{ID: digestViewer}})
	sees(2, "")
	sees(1, steers)
	if n := len(f.far.Calls("setMyCommands")); n > 5 {
		t.Errorf("%d calls", n)
	}
}

// script answers calls of SetCommands in turn.
type script struct {
	calls []string
	errs  []error
}

func (s *script) SetCommands(_ context.Context, chat string, list []telegram.MenuCommand) error {
	s.calls = append(s.calls, chat+" "+menuNames(list))
	if len(s.errs) == 0 {
		return nil
	}
	err := s.errs[0]
	s.errs = s.errs[1:]
	return err
}

func menuNames(list []telegram.MenuCommand) string {
	if len(list) == 0 {
		return "none"
	}
	return list[0].Name + "…" + list[len(list)-1].Name
}

// TestMenusFail: what was not set is tried again, what is refused is not, and
// what is set stays alone.
func TestMenusFail(t *testing.T) {
	away := &bot.SendError{Reason: bot.ErrRateLimited, RetryAfter: 3 * time.Minute}
	s := &script{errs: []error{nil, away, &bot.SendError{Reason: bot.ErrChatClosed}, errors.New("garbage")}}
	m := menus{bot: s, log: slog.New(slog.DiscardHandler), set: map[string]ledger.Role{}}
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
