package config

import (
	"slices"
	"strings"
)

// nearest returns the candidate that a misspelt word most probably means, or
// "" when none is near: a wrong guess is worse than none.
func nearest(word string, candidates []string) string {
	best, bestDistance := "", 0
	folded := strings.ToLower(word)
	if len(folded) > 80 { // no name of ours; distance is quadratic
		return ""
	}
	sorted := slices.Sorted(slices.Values(candidates))
	var longer []string // the word is how these begin, as "token" of "token_file"
	for _, c := range sorted {
		if len(folded) >= 3 && strings.HasPrefix(strings.ToLower(c), folded) {
			longer = append(longer, c)
		}
		d := distance(folded, strings.ToLower(c))
		if d <= max(1, min(len(c), len(folded))/3) && (best == "" || d < bestDistance) {
			best, bestDistance = c, d
		}
	}
	if best == "" && len(longer) == 1 {
		return longer[0]
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour to get from a to b (optimal string alignment).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}
