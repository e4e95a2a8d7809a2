package egress

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
)

const minCanary = 8

// canaries are values that no request may carry, in the forms that they are
// likely to have in one. A program that wants to hide a value can; the forms are
// those of programs that do not try.
type canaries struct {
	folded [][]byte // compared in lower case
	exact  [][]byte // base64
	names  []string // in names, without dots and hyphens
}

func newCanaries(values []string) (c canaries) {
	for _, v := range values {
		if len(v) < minCanary {
			continue
		}
		for _, form := range []string{v, url.QueryEscape(v), hex.EncodeToString([]byte(v))} {
			c.folded = append(c.folded, []byte(strings.ToLower(form)))
		}
		for offset := range 3 {
			c.exact = append(c.exact, base64Core(v, offset, base64.RawStdEncoding), base64Core(v, offset, base64.RawURLEncoding))
		}
		for _, form := range []string{v, hex.EncodeToString([]byte(v)), strings.TrimRight(base32.StdEncoding.EncodeToString([]byte(v)), "=")} {
			if form = squeeze(form); len(form) >= minCanary {
				c.names = append(c.names, form)
			}
		}
	}
	return c
}

// base64Core returns the characters that value always has in the base64 of a
// text in which it begins at offset modulo three.
func base64Core(value string, offset int, enc *base64.Encoding) []byte {
	text := enc.EncodeToString(append(make([]byte, offset), value...))
	first := []int{0, 2, 3}[offset]
	last := (offset + len(value)) * 8 / 6
	return []byte(text[first:last])
}

func squeeze(name string) string {
	return strings.NewReplacer(".", "", "-", "", "_", "").Replace(strings.ToLower(name))
}

// inText reports whether a header carries a canary.
func (c *canaries) inText(text []byte) bool {
	if len(c.folded) == 0 {
		return false
	}
	low := bytes.ToLower(text)
	plain := percentDecode(low)
	for _, n := range c.folded {
		if bytes.Contains(low, n) || bytes.Contains(plain, n) {
			return true
		}
	}
	for _, n := range c.exact {
		if bytes.Contains(text, n) {
			return true
		}
	}
	return false
}

// percentDecode decodes %XX and leaves what is malformed.
func percentDecode(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '%' && i+2 < len(b) {
			if c, err := hex.DecodeString(string(b[i+1 : i+3])); err == nil {
				out = append(out, c[0])
				i += 2
				continue
			}
		}
		out = append(out, b[i])
	}
	return bytes.ToLower(out)
}

// inName reports whether a host name carries a canary, also in several labels.
func (c *canaries) inName(name string) bool {
	if len(c.names) == 0 {
		return false
	}
	name = squeeze(name)
	for _, n := range c.names {
		if strings.Contains(name, n) {
			return true
		}
	}
	return false
}

func (p *Proxy) hasCanary(text []byte) bool {
	p.mu.Lock()
	c := p.canaries
	p.mu.Unlock()
	return c.inText(text)
}

func (p *Proxy) hasCanaryName(name string) bool {
	p.mu.Lock()
	c := p.canaries
	p.mu.Unlock()
	return c.inName(name)
}

func (p *Proxy) sawCanary(t Target) {
	if p.opt.Canary != nil {
		p.opt.Canary(t)
	}
}
