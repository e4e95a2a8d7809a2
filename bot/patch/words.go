package patch

import (
	"unicode"
	"unicode/utf8"
)

// Limits of the comparison of two lines.
const (
	maxCompared = 1000 // bytes of a line; a longer one is not marked
	maxWords    = 200
)

// markChanged marks what differs between removed lines and the added lines that
// replace them.
func markChanged(lines []Line) {
	for n := 0; n < len(lines); {
		if lines[n].Kind != Removed {
			n++
			continue
		}
		first := n
		for n < len(lines) && (lines[n].Kind == Removed || lines[n].Kind == Note) {
			n++
		}
		var was, is []*Line
		for k := first; k < n; k++ {
			if lines[k].Kind == Removed {
				was = append(was, &lines[k])
			}
		}
		for n < len(lines) && lines[n].Kind == Added {
			is = append(is, &lines[n])
			n++
		}
		pair(was, is)
	}
}

// maxTried limits the added lines that a removed one is compared with.
const maxTried = 12

// pair marks what differs in lines that belong together: those in the same place
// where there are as many of both, else each removed line and the next added one
// that has enough in common with it.
func pair(was, is []*Line) {
	if len(was) == len(is) {
		for k := range was {
			was[k].Changed, is[k].Changed, _ = compareLines(was[k].Text, is[k].Text)
		}
		return
	}
	for _, l := range was {
		for k, other := range is[:min(len(is), maxTried)] {
			if a, b, alike := compareLines(l.Text, other.Text); alike {
				l.Changed, other.Changed = a, b
				is = is[k+1:]
				break
			}
		}
	}
}

// compareLines returns the ranges in which two lines differ. Lines with little in
// common have none: marking nearly all of both says nothing.
func compareLines(a, b string) (inA, inB [][2]int, alike bool) {
	if len(a) > maxCompared || len(b) > maxCompared {
		return nil, nil, false
	}
	x, y := splitWords(a), splitWords(b)
	if len(x) > maxWords || len(y) > maxWords {
		return nil, nil, false
	}
	common := longestCommon(a, b, x, y)
	same := 0
	for _, p := range common {
		same += x[p[0]][1] - x[p[0]][0]
	}
	if same*5 < 2*max(len(a), len(b)) {
		return nil, nil, false
	}
	keepA, keepB := map[int]bool{}, map[int]bool{}
	for _, p := range common {
		keepA[p[0]], keepB[p[1]] = true, true
	}
	return differing(x, keepA), differing(y, keepB), true
}

// splitWords returns the ranges of the words of a line: runs of letters and
// digits, runs of spaces, and every other character alone.
func splitWords(s string) [][2]int {
	var out [][2]int
	kind := func(r rune) int {
		switch {
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.In(r, unicode.Mn):
			return 1
		case r == ' ' || r == '\t':
			return 2
		}
		return 0
	}
	last := 0
	for at, r := range s {
		k, end := kind(r), at+utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size := utf8.DecodeRuneInString(s[at:])
			end = at + size
		}
		if k != 0 && k == last && len(out) > 0 {
			out[len(out)-1][1] = end
			continue
		}
		out, last = append(out, [2]int{at, end}), k
	}
	return out
}

// longestCommon returns the pairs of words of the longest sequence that both lines
// have.
func longestCommon(a, b string, x, y [][2]int) [][2]int {
	var out [][2]int
	head := 0
	equal := func(i, j int) bool { return a[x[i][0]:x[i][1]] == b[y[j][0]:y[j][1]] }
	for head < len(x) && head < len(y) && equal(head, head) {
		out = append(out, [2]int{head, head})
		head++
	}
	tail := 0
	for tail < len(x)-head && tail < len(y)-head && equal(len(x)-1-tail, len(y)-1-tail) {
		tail++
	}
	n, m := len(x)-head-tail, len(y)-head-tail
	length := make([][]int, n+1)
	for i := range length {
		length[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if equal(head+i, head+j) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case equal(head+i, head+j):
			out = append(out, [2]int{head + i, head + j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	for k := tail; k > 0; k-- {
		out = append(out, [2]int{len(x) - k, len(y) - k})
	}
	return out
}

// differing returns the ranges of the words that are not kept, adjacent ones
// joined.
func differing(words [][2]int, kept map[int]bool) [][2]int {
	var out [][2]int
	for n, w := range words {
		switch {
		case kept[n]:
		case len(out) > 0 && out[len(out)-1][1] == w[0]:
			out[len(out)-1][1] = w[1]
		default:
			out = append(out, w)
		}
	}
	return out
}
