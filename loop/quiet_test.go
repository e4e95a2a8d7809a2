package loop

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestQuietHoursOfAChat(t *testing.T) {
	h := Shared{Quiet: map[string]ledger.Hours{"a": ledger.QuietOff}}
	if h.QuietHours("a", "23:00-07:00") != ledger.QuietOff || h.QuietHours("b", "23:00-07:00") != "23:00-07:00" {
		t.Error("a chat's own hours come first")
	}
}
