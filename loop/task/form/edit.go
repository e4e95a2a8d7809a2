package form

import (
	"cmp"
	"slices"
)

// Span is a range of bytes of a text, end excluded.
type Span struct{ Start, End int }

// Edit replaces one span of a text.
type Edit struct {
	Span
	Text string
}

// Apply returns data with the edits made. Their spans do not overlap. Edits at one
// place are made in the order in which they are given.
func Apply(data []byte, edits []Edit) []byte {
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	out := make([]byte, 0, len(data)+16*len(edits))
	last := 0
	for _, e := range edits {
		out = append(append(out, data[last:e.Start]...), e.Text...)
		last = e.End
	}
	return append(out, data[last:]...)
}
