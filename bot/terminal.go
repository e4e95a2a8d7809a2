package bot

// Colours of a terminal's own sixteen, whose values its user chose for a light or a
// dark background.
const (
	colorReset  = "\x1b[0m"
	colorStrong = "\x1b[1m"
	colorDim    = "\x1b[2m"
	colorRed    = "\x1b[31m"
	colorGreen  = "\x1b[32m"
	colorYellow = "\x1b[33m"
	colorCyan   = "\x1b[36m"
)

var signColors = map[string]string{
	SignDone: colorGreen, SignFailed: colorRed, SignBlocked: colorRed, SignAsk: colorYellow, SignLook: colorYellow,
	SignNow: colorCyan, SignLater: colorDim, SignPaused: colorYellow, SignAway: colorDim, SignAgain: colorCyan,
}

// Dim returns text that a terminal shows fainter than the rest.
func Dim(text string) string { return colorDim + text + colorReset }

// Strong returns bold text.
func Strong(text string) string { return colorStrong + text + colorReset }

// Green returns green text.
func Green(text string) string { return colorGreen + text + colorReset }

// Red returns red text.
func Red(text string) string { return colorRed + text + colorReset }

// ColorSign returns a sign in its colour on a terminal. What is no sign comes back as
// it is.
func ColorSign(sign string) string {
	if color := signColors[sign]; color != "" {
		return color + sign + colorReset
	}
	return sign
}
