package task

import (
	"bytes"
	"slices"
)

// joined returns the text of others that is edited next, in rewrite: pending was
// edited and gave next, which took the place of found, where holds was expected. All of
// pending is in found, unless found was saved on top of holds before next was there.
func joined(pending, holds, next, found []byte) []byte {
	if changeOf(pending, found).removed() <= changeOf(holds, found).removed() {
		return found
	}
	all, ok := mergeTexts(holds, next, found)
	if !ok {
		return found
	}
	if others, ok := mergeTexts(next, pending, all); ok { // without what edit wrote
		return others
	}
	return all
}

// textChange is one replaced part of a text.
type textChange struct {
	start, end int // of what was replaced
	text       []byte
}

func (c textChange) removed() int { return c.end - c.start }

// changeOf returns the smallest single change that makes after of before.
func changeOf(before, after []byte) textChange {
	start, most := 0, min(len(before), len(after))
	for start < most && before[start] == after[start] {
		start++
	}
	tail := 0
	for tail < most-start && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	return textChange{start, len(before) - tail, after[start : len(after)-tail]}
}

// lineChange is changeOf in whole lines: a line that is added between two others is
// nothing that happens within one of them. lines is how many of before are replaced, and
// added by how many.
func lineChange(before, after []byte) (c textChange, lines, added int) {
	old, now := bytes.SplitAfter(before, []byte("\n")), bytes.SplitAfter(after, []byte("\n"))
	start, most, tail := 0, min(len(old), len(now)), 0
	for start < most && bytes.Equal(old[start], now[start]) {
		c.start += len(old[start])
		start++
	}
	c.end, c.text = len(before), after[c.start:]
	for tail < most-start && bytes.Equal(old[len(old)-1-tail], now[len(now)-1-tail]) {
		same := len(old[len(old)-1-tail])
		c.end, c.text = c.end-same, c.text[:len(c.text)-same]
		tail++
	}
	return c, len(old) - tail - start, len(now) - tail - start
}

// mergeTexts returns the text with the changes of two others, that of a first where
// both add at one place. ok is false where both change the same part.
func mergeTexts(old, a, b []byte) (both []byte, ok bool) {
	if bytes.Equal(a, b) {
		return a, true
	}
	first, lines, added := lineChange(old, a)
	second, others, addedToo := lineChange(old, b)
	if first.start == second.start && lines == others && lines == added && lines == addedToo { // within the same lines
		first, second = changeOf(old, a), changeOf(old, b)
	}
	if second.end <= first.start && (second.start < first.start || first.removed() > 0) {
		first, second = second, first
	}
	if first.end > second.start {
		return nil, false
	}
	return slices.Concat(old[:first.start], first.text, old[first.end:second.start], second.text, old[second.end:]), true
}
