package verb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/api"
)

// Object returns raw as one JSON object of at most api.MaxEvent bytes, without
// insignificant white space. Anything else is an InvalidError, which names raw as
// where says.
func Object(raw []byte, where string) (json.RawMessage, error) {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff")) // some editors write a BOM, which is no JSON
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, InvalidError{where + " is empty; write {} for an event without fields"}
	}
	if !utf8.Valid(raw) {
		return nil, InvalidError{where + " is not UTF-8"}
	}
	// Unmarshal reports the position of an error; Compact does not.
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, InvalidError{where + " is not JSON: " + position(raw, err)}
	}
	var packed bytes.Buffer
	if err := json.Compact(&packed, whole); err != nil {
		return nil, InvalidError{where + ": " + err.Error()}
	}
	if packed.Bytes()[0] != '{' {
		return nil, InvalidError{where + " has to be one JSON object, {\"name\": value, …}; this begins with " + string(packed.Bytes()[0])}
	}
	if packed.Len() > api.MaxEvent {
		return nil, InvalidError{fmt.Sprintf("%s has %d bytes, at most %d are taken: leave out what matters least, or put long text into a file and name the file", where, packed.Len(), api.MaxEvent)}
	}
	return packed.Bytes(), nil
}

// position describes where in raw a JSON error is, and shows that place.
func position(raw []byte, err error) string {
	at := len(raw)
	text := err.Error()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		// The offset counts the bytes up to and including the offending one, if
		// any.
		if at = int(syntax.Offset); at > 0 && !strings.Contains(text, "unexpected end") {
			at--
		}
		at = min(at, len(raw))
	}
	before := raw[:at]
	line := 1 + bytes.Count(before, []byte("\n"))
	begin := bytes.LastIndexByte(before, '\n') + 1
	end := len(raw)
	if i := bytes.IndexByte(raw[at:], '\n'); i >= 0 {
		end = at + i
	}
	column := 1 + utf8.RuneCount(raw[begin:at])

	// Cut a window of the line by runes, so that the caret stands under the
	// place.
	const side = 30
	left, right := []rune(string(raw[begin:at])), []rune(string(raw[at:end]))
	mark := ""
	if len(left) > side {
		left, mark = left[len(left)-side:], "…"
	}
	if len(right) > side {
		right = append(right[:side:side], '…')
	}
	shown := strings.Map(func(r rune) rune {
		if r < 0x20 {
			return ' '
		}
		return r
	}, mark+string(left)+string(right))
	caret := strings.Repeat(" ", utf8.RuneCountInString(mark)+len(left)) + "^"
	return fmt.Sprintf("line %d, column %d: %s\n  %s\n  %s", line, column, text, shown, caret)
}
