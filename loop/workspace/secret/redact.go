package secret

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// Redact replaces what looks like a secret in a text by the name of its rule, and the
// passwords of addresses. The rules of gitleaks find a password by its form, and most
// have none: in an address its place gives it away. Scan leaves those alone, because
// the files of a repository have them for services that run on the reader's machine.
func Redact(text string) string {
	return redactAddresses(redactFindings(text))
}

// RedactPart is Redact for a part of a longer text. A private key that begins before
// it, or ends behind it, is replaced too: the rules know one by both its ends.
func RedactPart(text string) string {
	if text = Redact(text); strings.Contains(text, "PRIVATE KEY") {
		text = cutKey.ReplaceAllString(text, removedKey)
	}
	return RedactRows(text)
}

const removedKey = "[secret removed: private-key]"

// RedactRows replaces the rows at the beginning of a part of a longer text that can be
// of the middle of a private key: at least two of one width, as keys are written.
func RedactRows(text string) string {
	end, n, width := 0, 0, 0
	for line := range strings.Lines(text) {
		row := strings.TrimSpace(line)
		last := end+len(line) == len(text) && len(row) <= width && strings.ToLower(row) != row // it can be shorter
		if !base64.MatchString(row) || !last && (len(row) < 60 || n > 0 && len(row) != width) {
			break
		}
		width, n, end = max(width, len(row)), n+1, end+len(line)
	}
	rows := text[:end]
	if n < 2 || !strings.ContainsAny(rows, "0123456789+/") || strings.ToLower(rows) == rows || strings.ToUpper(rows) == rows { // sums in hexadecimal, lines drawn
		return text
	}
	if strings.HasSuffix(rows, "\n") {
		return removedKey + "\n" + text[end:]
	}
	return removedKey + text[end:]
}

// base64 matches a row of a private key. Longer lines are no row.
var base64 = regexp.MustCompile(`^[A-Za-z0-9+/]{1,76}={0,2}$`)

// cutKey matches the beginning or the end of a private key, with what can belong to
// it. Words without punctuation beside it match too.
var cutKey = regexp.MustCompile(`-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s\\]*|[A-Za-z0-9+/=\s\\]*-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`)

// address matches a URL with a password in front of its host. A password can contain
// an @ where people write it as it is.
var address = regexp.MustCompile("(?i)\\b([a-z][a-z0-9+.-]*://[^\\s/?#:@\"<>`]*:)([^\\s/?#\"<>`]+)@")

// placeholder matches what stands for a password: $TOKEN, {{ pw }}, [NAME], %s, ***.
// Those with spaces do not match address.
var placeholder = regexp.MustCompile(`^(?:\$\w+|\$?\{.*\}|\$\(.*\)|\[.*\]|%\w|%\w+%|\*+|[xX]{3,}|\.{3,}|…)$`)

// redactAddresses replaces the passwords of addresses.
func redactAddresses(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	return address.ReplaceAllStringFunc(text, func(match string) string {
		part := address.FindStringSubmatch(match)
		if placeholder.MatchString(part[2]) {
			return match
		}
		return part[1] + "[secret removed: url-password]@"
	})
}

// redactFindings replaces what Scan finds.
func redactFindings(text string) string {
	for range 20 { // a text with more is not worth keeping
		found := Scan("", text, Exceptions{}, func(int) bool { return true })
		if len(found) == 0 {
			return text
		}
		for n := len(found) - 1; n >= 0; n-- {
			if f := found[n]; n == 0 || found[n-1].end <= f.start {
				text = text[:f.start] + "[secret removed: " + f.Rule + "]" + text[f.end:]
			}
		}
	}
	return "[secrets removed]"
}

// RedactJSON is Redact for every string in a JSON value, the names of fields
// excepted. A value without secrets keeps its bytes.
func RedactJSON(data []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&v) != nil || d.More() {
		return data // whoever reads it next refuses it
	}
	removed := false
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			text := Redact(v)
			removed = removed || text != v
			return text
		case []any:
			for n := range v {
				v[n] = walk(v[n])
			}
		case map[string]any:
			for name := range v {
				v[name] = walk(v[name])
			}
		}
		return v
	}
	v = walk(v)
	if !removed {
		return data
	}
	out, err := json.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return out
}
