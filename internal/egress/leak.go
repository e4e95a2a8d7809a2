package egress

import "strings"

const maxPlainLabel = 40

// looksLikeData reports whether a host name is likely to carry data rather than
// to name a host: whoever has a zone reads all names that are looked up below
// it.
func looksLikeData(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		if len(label) > maxPlainLabel {
			return true
		}
	}
	return false
}
