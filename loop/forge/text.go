package forge

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/ledger"
)

// MaxComments is how many comments a view of a request has. The newest are taken:
// a request of that many is read by nobody from its beginning.
const MaxComments = 500

// MaxBody limits the text of a request or comment, in bytes. GitHub takes 65,536
// characters.
const MaxBody = 60_000

// MaxLog limits the log of a failed check, in bytes of its end.
const MaxLog = 16 << 10

// marker returns the line that tells a comment by its key. Forges do not show it.
// It has a hash, because a key may have characters that would end it.
func marker(key string) string {
	sum := sha256.Sum256([]byte(key))
	return markerBegin + hex.EncodeToString(sum[:12]) + markerEnd
}

const (
	markerBegin = "<!-- nightporter:"
	markerEnd   = " -->"
)

// Mark returns a comment's body with the marker of its key, not longer than
// MaxBody.
func Mark(body, key string) string { return Clip(body, MaxBody) + "\n\n" + marker(key) }

// HasMark reports whether a body has the marker of a key. It stands at the end; a
// quotation of it elsewhere is none.
func HasMark(body, key string) bool { return strings.HasSuffix(trim(body), marker(key)) }

// Unmark returns a body without the marker at its end.
func Unmark(body string) string {
	body = trim(body)
	if n := strings.LastIndex(body, markerBegin); n >= 0 && strings.HasSuffix(body, markerEnd) && !strings.Contains(body[n:], "\n") {
		body = trim(body[:n])
	}
	return body
}

// trim returns a body without the white space at its end and with the line ends
// that were written: forges store those of a browser.
func trim(body string) string {
	return strings.TrimRightFunc(strings.ReplaceAll(body, "\r\n", "\n"), unicode.IsSpace)
}

// SameText reports whether two texts differ in white space at their ends and in
// line ends alone.
func SameText(a, b string) bool { return trim(a) == trim(b) }

// Clip returns a text of at most limit bytes that ends with "…" if it was longer.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// Tail returns the end of a text of at most limit bytes, beginning with a line.
func Tail(text string, limit int) string {
	text = strings.ToValidUTF8(text, "�")
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	if _, rest, ok := strings.Cut(text, "\n"); ok {
		return rest
	}
	return strings.ToValidUTF8(text, "")
}

// OnTop returns the draft for a request that is there with this title, body, base and
// draft state: what of the draft takes their place, and what people keep.
func OnTop(d ledger.RequestDraft, title, body, base string, draft bool) ledger.RequestDraft {
	if d.Body = ledger.EditBody(body, d.Body); d.Keep {
		d.Title, d.Draft = title, draft
		if d.Was == "" || d.Was != base {
			d.Base = base
		}
	}
	return d
}
