package ledger_test

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestLastLines checks which lines of an output an excerpt holds.
func TestLastLines(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"\n \n":                         "",
		"one\n\ntwo\n  three  \nfour\n": "two\n  three\nfour",
		"a\r\nb\r\n":                    "a\nb",
		strings.Repeat("x", 400):        strings.Repeat("x", 299) + "…",
		"\xff\xfeok":                    "ok",
	} {
		if got := ledger.LastLines(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestExitWords checks that events of an agent's stream are not taken for its words.
func TestExitWords(t *testing.T) {
	for _, c := range []struct {
		exit ledger.Exit
		want string
	}{
		{ledger.Exit{Tail: "{\"type\":\"result\"}\nError: no space left\n"}, "Error: no space left"},
		{ledger.Exit{Tail: "{\"type\":\"result\"}\n"}, ""},
		{ledger.Exit{Said: "I need a key.", Tail: "other"}, "I need a key."},
	} {
		if got := c.exit.Words(); got != c.want {
			t.Errorf("%+v: %q", c.exit, got)
		}
	}
}
