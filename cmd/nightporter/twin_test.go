package main

import (
	"testing"

	"github.com/nightporter/nightporter/bot"
)

// TestTwins holds the shell's commands against the table of commands: each twin
// that the table names can be typed.
func TestTwins(t *testing.T) {
	for verb, name := range bot.TwinNames() {
		if cmd, _, err := root().Find([]string{name}); err != nil || cmd.Name() != name {
			t.Errorf("the twin of /%s is no command: nightporter %s", verb, name)
		}
	}
}
