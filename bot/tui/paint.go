package tui

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/regexp"
)

// signsAndFrame matches the signs at the start of a line or column, and the
// frame.
var signsAndFrame = regexp.MustCompile(`(?:^|│)[ ›]*[` + bot.Signs + `] |[─│┬┤├┼┴]+`)

// paint adds colour to signs and frame only, so that no information depends on
// it.
func (m model) paint(line string) string {
	if !m.opt.Color {
		return line
	}
	return signsAndFrame.ReplaceAllStringFunc(line, func(part string) string {
		at := strings.IndexAny(part, bot.Signs)
		if at < 0 {
			return bot.Dim(part)
		}
		before, sign := part[:at], strings.TrimSuffix(part[at:], " ")
		if frame, rest, ok := strings.Cut(before, "│"); ok {
			before = frame + bot.Dim("│") + rest
		}
		return before + bot.ColorSign(sign) + " "
	})
}
