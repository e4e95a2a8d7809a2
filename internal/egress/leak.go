package egress

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Bounds of looksLikeData. The names in testdata were the measure: real ones of
// APIs and content networks pass, encoded data does not.
const (
	maxPlainLabel = 40  // bytes of a label
	maxPlainName  = 120 // bytes in front of the registered domain
	maxHex        = 23  // hexadecimal digits in a row, also with hyphens as in a UUID
	maxRandom     = 23  // bytes of tokens that look random
	minChanges    = 6   // between letters and digits in such tokens; half of it in one alone
)

// looksLikeData reports whether a host name is likely to carry data rather than
// to name a host: whoever has a zone reads all names that are looked up below
// it. The registered domain itself is not looked at. It had to be registered,
// so that a client cannot put anything into it.
//
// It is a net for what is encoded in the usual ways. A program that spells
// secrets in dictionary words gets a name past it, but not a second one without
// another question.
func looksLikeData(host string) bool {
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		domain = "" // a public suffix or a name without dots
	}
	front := strings.TrimSuffix(strings.TrimSuffix(host, domain), ".")
	if len(front) > maxPlainName {
		return true
	}
	random, changes := 0, 0
	for label := range strings.SplitSeq(front, ".") {
		if len(label) > maxPlainLabel || hexDigits(label) > maxHex {
			return true
		}
		for token := range strings.SplitSeq(label, "-") {
			n := disorder(token)
			if n >= minChanges/2 && len(token) > maxRandom {
				return true
			}
			if n > 0 {
				random, changes = random+len(token), changes+n
			}
		}
	}
	return random > maxRandom && changes >= minChanges
}

// hexDigits returns how many hexadecimal digits of a label are in a row, where
// some of them are decimal: without those it is a word.
func hexDigits(label string) (longest int) {
	run, decimal := 0, 0
	for token := range strings.SplitSeq(label, "-") {
		begin := 0
		for i := range len(token) {
			switch c := token[i]; {
			case isDigit(c):
				run, decimal = run+1, decimal+1
			case c >= 'a' && c <= 'f':
				run++
			default:
				run, decimal, begin = 0, 0, i+1
			}
			if decimal >= 3 {
				longest = max(longest, run)
			}
		}
		if begin > 0 { // only tokens that are all hexadecimal continue a run
			run, decimal = 0, 0
		}
	}
	return longest
}

// disorder returns how often a token changes between letters and digits, which
// words and their numbers do once. A token without vowels counts as if it did
// as often as random letters and digits would.
func disorder(token string) (changes int) {
	if len(token) < 6 {
		return 0
	}
	consonants, longest, vowels, letters := 0, 0, 0, 0
	for i := range len(token) {
		digit := isDigit(token[i])
		if i > 0 && digit != isDigit(token[i-1]) {
			changes++
		}
		switch {
		case digit:
			consonants = 0
		case strings.IndexByte("aeiouy", token[i]) >= 0:
			consonants, vowels, letters = 0, vowels+1, letters+1
		default:
			consonants, letters = consonants+1, letters+1
			longest = max(longest, consonants)
		}
	}
	if longest >= 6 || letters >= 8 && vowels*6 < letters {
		changes = max(changes, len(token)/4)
	}
	return changes
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
