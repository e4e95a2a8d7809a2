package tui

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/regexp"
)

// Colours of the terminal's own sixteen, which its user has chosen.
const (
	plain  = "\x1b[0m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
)

var signColor = map[string]string{
	bot.SignDone: green, bot.SignFailed: red, bot.SignBlocked: red, bot.SignAsk: yellow, bot.SignLook: yellow,
	bot.SignNow: cyan, bot.SignLater: dim, bot.SignPaused: yellow, bot.SignAway: dim, bot.SignAgain: cyan,
}

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
		for sign, color := range signColor {
			if before, ok := strings.CutSuffix(part, sign+" "); ok {
				if frame, rest, ok := strings.Cut(before, "│"); ok {
					before = frame + dim + "│" + plain + rest
				}
				return before + color + sign + plain + " "
			}
		}
		return dim + part + plain
	})
}
