package messagelint_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestHelpOnSlack: Slack shows all of /help in the message itself, for each role.
// TestCommandTable in package bot holds that /help has each command of the role.
func TestHelpOnSlack(t *testing.T) {
	for _, role := range []ledger.Role{ledger.RoleView, ledger.RoleSteer, ledger.RoleAdmin} {
		m := bot.Help("", role)
		shown := slack.Render(m, nil, "")
		raw, err := json.Marshal(shown.Blocks)
		if err != nil || shown.File != nil {
			t.Fatalf("%s: %v, as a file: %v", role, err, shown.File != nil)
		}
		for _, l := range m.Lines {
			if l.Kind != bot.Pre { // "/help now" becomes "/porter help now"
				continue
			}
			for _, word := range strings.Fields(l.Text) {
				if word = strings.TrimPrefix(word, "/"); !strings.Contains(string(raw), word) {
					t.Errorf("%s: %q is not shown", role, word)
				}
			}
		}
	}
}
