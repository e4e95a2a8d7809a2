package project

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Problems formats an error for a person: every mistake on its own line with
// its remedy, ending in a newline.
func Problems(err error) string {
	var in *ledger.InputError
	var c *config.Error
	switch {
	case errors.As(err, &in):
		var text strings.Builder
		for _, f := range in.Diagnostics {
			fmt.Fprintf(&text, "✗ %s\n", f)
		}
		return text.String()
	case errors.As(err, &c):
		return strings.TrimRight(c.Error(), "\n") + "\n"
	}
	return fmt.Sprintf("✗ %v\n", err)
}

// OneLine formats an error in one line: the first mistake.
func OneLine(err error) string {
	var in *ledger.InputError
	if errors.As(err, &in) && len(in.Diagnostics) > 0 {
		return in.Diagnostics[0].String()
	}
	var c *config.Error
	if errors.As(err, &c) && len(c.Diagnostics) > 0 {
		i := c.Masked()[0]
		text := i.Text
		if i.Line > 0 {
			text = fmt.Sprintf("line %d: %s", i.Line, text)
		}
		return text
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// Quote quotes a word for a POSIX shell if necessary.
func Quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-:@+,", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
