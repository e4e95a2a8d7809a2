// Package nearest answers "did you mean": it finds the name that a misspelt
// word most probably stands for. The command line, the chats, the
// configuration and the plan parser share it, so that one slip is understood
// the same everywhere.
package nearest

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxLen is the length in bytes from which a word is no name of ours. The
// cost of a distance grows with its square, and people can type anything.
const maxLen = 80

// minPrefix is how many letters a word needs to stand for a longer name that
// it begins.
const minPrefix = 3

// Of returns the candidate that word most probably means, in any case of
// letters: the only one that begins with it, else the nearest one, of which at
// most a third is wrong. It returns "" when none is near, because a wrong guess
// is worse than none. Of two that are equally near the first in the alphabet
// wins.
func Of(word string, candidates []string) string {
	if len(word) > maxLen {
		return ""
	}
	word = strings.ToLower(word)
	best, least := "", 0
	var longer []string
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		name := strings.ToLower(c)
		if len(word) >= minPrefix && strings.HasPrefix(name, word) {
			longer = append(longer, c)
		}
		d := Distance(word, name)
		if d <= max(1, min(len(name), len(word))/3) && (best == "" || d < least) {
			best, least = c, d
		}
	}
	if len(longer) == 1 {
		return longer[0]
	}
	return best
}

// Distance counts the letters to insert, delete or replace to get from a to b.
// One swap of two neighbours counts as one: it is the commonest slip, and two
// of them in a word are too many to guess at. Words longer than 80 bytes are as
// far apart as they are long.
func Distance(a, b string) int {
	if len(a) > maxLen || len(b) > maxLen {
		return max(len(a), len(b))
	}
	least := levenshtein.ComputeDistance(a, b)
	letters := []rune(a)
	for i := 1; i < len(letters) && least > 1; i++ {
		letters[i-1], letters[i] = letters[i], letters[i-1]
		least = min(least, 1+levenshtein.ComputeDistance(string(letters), b))
		letters[i-1], letters[i] = letters[i], letters[i-1]
	}
	return least
}
