package nearest

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	keys := []string{"protected", "profile", "project", "push", "token_file", "max_tasks", "max_waves"}
	commands := []string{"start", "status", "guidance", "stop", "task", "tasks", "approve"}
	for _, c := range []struct {
		names      []string
		word, want string
	}{
		{keys, "protectd", "protected"},
		{keys, "Protected", "protected"},
		{keys, "porfile", "profile"},
		{keys, "psuh", "push"},
		{keys, "token", "token_file"},
		{keys, "max_task", "max_tasks"},
		{keys, "xyz", ""},
		{keys, "", ""},
		{keys, "p", ""},
		{keys, "max", ""}, // begins two of them
		{keys, strings.Repeat("push", 50), ""},
		{commands, "guidence", "guidance"},
		{commands, "sotp", "stop"},
		{commands, "sta", ""},        // begins two
		{commands, "stat", "status"}, // begins it; start is only near
		{commands, "tasl", "task"},
		{commands, "frobnicate", ""},
	} {
		if got := Of(c.word, c.names); got != c.want {
			t.Errorf("Of(%.20q) = %q, want %q", c.word, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "stop", 4},
		{"stop", "stop", 0},
		{"stopp", "stop", 1},
		{"sotp", "stop", 1},
		{"stpo", "stop", 1},
		{"sotpp", "stop", 2},
		{"ab", "cd", 2},
		{"größe", "grösse", 2},
		{strings.Repeat("a", 81), "a", 81},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%.20q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
