package telegram

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Entity is a formatted range of a text, in UTF-16 units.
type Entity struct {
	Type   string `json:"type"` // "bold", "blockquote", "expandable_blockquote", "code", "pre", "text_link", …
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	URL    string `json:"url,omitempty"`
}

// tags are the HTML tags that Telegram supports, with their entity types.
var tags = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler",
	"code": "code", "pre": "pre", "blockquote": "blockquote", "a": "text_link",
}

// ParseHTML parses text in Telegram's HTML mode. It returns the visible text and
// its entities, or Telegram's error.
func ParseHTML(s string) (string, []Entity, error) {
	p := parser{in: s}
	for p.at < len(s) {
		var err error
		switch s[p.at] {
		case '<':
			err = p.tag()
		case '&':
			p.char()
		default:
			p.write(s[p.at : p.at+1])
			p.at++
		}
		if err != nil {
			return "", nil, err
		}
	}
	if n := len(p.open); n > 0 {
		return "", nil, fmt.Errorf("Can't find end tag corresponding to start tag \"%s\"", p.open[n-1].name) //nolint:staticcheck // the platform's words
	}
	return p.out.String(), p.entities, nil
}

type openTag struct {
	name, kind, url string
	offset          int
}

type parser struct {
	in       string
	at       int
	out      strings.Builder
	units    int // of out, in UTF-16
	open     []openTag
	entities []Entity
}

func (p *parser) write(s string) {
	p.out.WriteString(s)
	for _, b := range []byte(s) { // a byte of an incomplete character counts too
		if b&0xc0 != 0x80 {
			p.units++
		}
		if b >= 0xf0 {
			p.units++ // a surrogate pair
		}
	}
}

func (p *parser) tag() error {
	start := p.at
	end := strings.IndexByte(p.in[start:], '>')
	if end < 0 {
		return fmt.Errorf("Unclosed start tag at byte offset %d", start) //nolint:staticcheck // the platform's words
	}
	inner := p.in[start+1 : start+end]
	p.at = start + end + 1
	if name, closing := strings.CutPrefix(inner, "/"); closing {
		return p.close(strings.ToLower(strings.TrimSpace(name)), start)
	}
	name := inner
	if i := strings.IndexFunc(inner, unicode.IsSpace); i >= 0 {
		name = inner[:i]
	}
	attributes := strings.TrimSpace(inner[len(name):])
	name = strings.ToLower(name)
	kind, known := tags[name]
	if !known {
		return fmt.Errorf("Unsupported start tag \"%s\" at byte offset %d", name, start) //nolint:staticcheck // the platform's words
	}
	o := openTag{name: name, kind: kind, offset: p.units}
	switch {
	case name == "blockquote" && attributes == "expandable":
		o.kind = "expandable_blockquote"
	case name == "a":
		o.url = strings.Trim(strings.TrimPrefix(attributes, "href="), `"'`)
	}
	p.open = append(p.open, o)
	return nil
}

func (p *parser) close(name string, start int) error {
	n := len(p.open)
	if n == 0 {
		return fmt.Errorf("Unexpected end tag at byte offset %d", start) //nolint:staticcheck // the platform's words
	}
	o := p.open[n-1]
	if name != "" && name != o.name {
		return fmt.Errorf("Unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", start, o.name, name) //nolint:staticcheck // the platform's words
	}
	p.open = p.open[:n-1]
	if length := p.units - o.offset; length > 0 {
		p.entities = append(p.entities, Entity{Type: o.kind, Offset: o.offset, Length: length, URL: o.url})
	}
	return nil
}

// char reads an HTML entity. Unknown ones stay as they are.
func (p *parser) char() {
	rest := p.in[p.at:]
	for name, c := range map[string]string{"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": `"`} {
		if strings.HasPrefix(rest, name) {
			p.write(c)
			p.at += len(name)
			return
		}
	}
	if end := strings.IndexByte(rest, ';'); end > 2 && rest[1] == '#' {
		digits, base := rest[2:end], 10
		if digits[0] == 'x' {
			digits, base = digits[1:], 16
		}
		if n, err := strconv.ParseInt(digits, base, 32); err == nil && n > 0 {
			p.write(string(rune(n)))
			p.at += end + 1
			return
		}
	}
	p.write("&")
	p.at++
}
