package hatcli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/api"
)

// data returns the value of --data: JSON itself, @FILE, or - for standard
// input. The result is one JSON object of at most api.MaxEvent bytes, without
// insignificant white space.
func (h *hat) data(value, help string) (json.RawMessage, error) {
	raw, where, err := h.read(value)
	if err != nil {
		return nil, usageError{"--data: " + err.Error(), help}
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff")) // some editors write a BOM, which is no JSON
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, usageError{"--data: " + where + " is empty; write {} for an event without fields", help}
	}
	if !utf8.Valid(raw) {
		return nil, usageError{"--data: " + where + " is not UTF-8", help}
	}
	// Unmarshal reports the position of an error; Compact does not.
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, usageError{"--data: " + where + " is not JSON: " + position(raw, err), help}
	}
	var packed bytes.Buffer
	if err := json.Compact(&packed, whole); err != nil {
		return nil, usageError{"--data: " + where + ": " + err.Error(), help}
	}
	if packed.Bytes()[0] != '{' {
		return nil, usageError{"--data: " + where + " has to be one JSON object, {\"name\": value, …}; this begins with " + string(packed.Bytes()[0]), help}
	}
	if packed.Len() > api.MaxEvent {
		return nil, usageError{fmt.Sprintf("--data: %s has %d bytes, at most %d are taken: leave out what matters least, or put long text into a file and name the file", where, packed.Len(), api.MaxEvent), ""}
	}
	return packed.Bytes(), nil
}

// read returns the bytes of a value, and a name for their source.
func (h *hat) read(value string) (raw []byte, where string, err error) {
	// Enough for any event with white space; the rest is not read.
	const most = 4 * api.MaxEvent
	from := h.stdin
	switch file, isFile := strings.CutPrefix(value, "@"); {
	case value == "-" || value == "@-":
		where = "standard input"
	case isFile:
		f, err := os.Open(file)
		if err != nil {
			return nil, "", err
		}
		defer f.Close()
		from, where = f, file
	default:
		return []byte(value), "it", nil
	}
	raw, err = io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", where, err)
	}
	if len(raw) > most {
		return nil, "", fmt.Errorf("%s is over %d bytes: put long text into a file and name the file", where, most)
	}
	return raw, where, nil
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
