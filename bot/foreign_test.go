package bot_test

import (
	"testing"

	"github.com/nightporter/nightporter/bot"
)

// TestForeign checks which commands of foreign words a joiner divides, and that a
// composed line keeps it.
func TestForeign(t *testing.T) {
	for in, want := range map[string]string{
		"/stop":                         "/\u2060stop",
		"May I (/stop now)?":            "May I (/\u2060stop now)?",
		"'/task_8', \"/Stop\".":         "'/\u2060task_8', \"/\u2060Stop\".",
		"/usr/bin, a/stop and /frob":    "/usr/bin, a/stop and /frob",
		"\u202e/\u200bstop /\u2060stop": "/\u2060stop /\u2060stop",
		"9/12":                          "9/12",
	} {
		got := bot.Foreign(in)
		if got != want || bot.CleanLine(got) != got || bot.AsWritten(got) != bot.Clean(in) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
