package chat_test

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"

	far "github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/loop"
)

// TestMenus checks that each person's menu follows their role at once, and that
// strangers have none, whatever an earlier release set.
func TestMenus(t *testing.T) {
	const steers, looks = "status guidance pause resume tasks queue now stop cost digest quiet help", "status tasks queue cost digest quiet help"
	f := newThreadFixture(t, config.Topic{Chat: -1001234567890, Thread: 42})
	f.Telegram.SetMenu(0, []far.Command{{Command: "run", Description: "Start a run"}})
	sees := func(chat int64, want string) {
		t.Helper()
		if err := f.Telegram.WaitMenu(f.patience(), chat, strings.Fields(want)...); err != nil {
			t.Fatal(err)
		}
	}
	f.stop()
	f.begin()
	sees(1, steers)
	sees(2, looks)
	sees(99, "")
	sees(-1001234567890, "")
	f.Input(loop.Input{Actor: "console", Body: people.OfferPairing{Hash: "h", Role: ledger.RoleSteer}})
	f.Input(loop.Input{Actor: daemontest.Viewer, Name: "Mira", Body: people.TryPairing{Hash: "h"}})
	sees(2, steers)
	f.Input(loop.Input{Actor: "console", Body: people.Remove{ID: daemontest.Viewer}})
	sees(2, "")
	sees(1, steers)
	if n := len(f.Telegram.Calls("setMyCommands")); n > 5 {
		t.Errorf("%d calls", n)
	}
}
