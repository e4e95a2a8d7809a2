package main

import (
	"testing"

	"github.com/nightporter/nightporter/bot"
)

// TestTwins: every shell command that the table of chat commands names exists.
func TestTwins(t *testing.T) {
	for verb, name := range bot.TwinNames() {
		if cmd, _, err := root().Find([]string{name}); err != nil || cmd.Name() != name {
			t.Errorf("the twin of /%s is no command: nightporter %s", verb, name)
		}
	}
}
