package agent

import (
	"bytes"
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// minMasked is the length of the shortest value that is removed from output, in
// bytes. Shorter ones, such as 1 or true, are part of many words.
const minMasked = 6

// mask replaces values of variables in a command's output by the variables'
// names, before anything stores the output. It finds a value that is printed as
// it is, in however many pieces, but not one that is encoded or broken into
// lines. nil and the zero value change nothing.
type mask struct {
	values []maskedValue // the longest first
	first  [256]bool     // bytes that a value begins with
	held   []byte        // end of the output so far, which may be the beginning of a value
}

type maskedValue struct {
	value, shown []byte
}

// newMask returns the mask of variables NAME=VALUE. The password in an address
// is a value of its own: programs print it without the rest.
func newMask(vars []string) *mask {
	m := &mask{}
	add := func(name, value string) {
		if len(value) >= minMasked {
			m.values = append(m.values, maskedValue{[]byte(value), []byte("[" + name + "]")})
			m.first[value[0]] = true
		}
	}
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		add(name, value)
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				add(name, password)
			}
		}
	}
	slices.SortStableFunc(m.values, func(a, b maskedValue) int { return cmp.Compare(len(b.value), len(a.value)) })
	return m
}

// next returns the masked form of the output so far that has not been returned
// yet. It keeps back an end that may be the beginning of a value, unless last
// says that no more output comes.
func (m *mask) next(p []byte, last bool) []byte {
	if m == nil || len(m.values) == 0 {
		return p
	}
	text := slices.Concat(m.held, p)
	out := make([]byte, 0, len(text))
	from := 0 // start of what was not copied yet
	for i := 0; i < len(text); i++ {
		if !m.first[text[i]] {
			continue
		}
		for _, v := range m.values {
			rest := text[i:]
			if !last && len(rest) < len(v.value) && bytes.HasPrefix(v.value, rest) {
				out = append(out, text[from:i]...)
				m.held = slices.Clone(rest)
				return out
			}
			if bytes.HasPrefix(rest, v.value) {
				out = append(append(out, text[from:i]...), v.shown...)
				i += len(v.value) - 1
				from = i + 1
				break
			}
		}
	}
	m.held = nil
	return append(out, text[from:]...)
}

// text returns a whole text masked.
func (m *mask) text(s string) string {
	if m == nil {
		return s
	}
	return string((&mask{values: m.values, first: m.first}).next([]byte(s), true))
}

// failures masks what the ledger keeps of failures. A test can write a value into
// a report in place of its output.
func (m *mask) failures(f *ledger.Failures) {
	for i := range f.Failed {
		x := &f.Failed[i]
		x.File, x.Name = m.text(x.File), m.text(x.Name)
	}
}
