package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// AnchorFooter is the key of the footer by which a task's commit names the head
// of its stream: "Nightporter-Head: project/shop@41:9f86…".
const AnchorFooter = "Nightporter-Head"

// Anchor is the hash of an entry as recorded outside the table of entries. Only
// an anchor reveals that the end of a stream was cut off, or that a stream was
// rewritten with matching hashes.
type Anchor struct {
	Stream string
	Seq    int64
	Hash   []byte // 32 bytes
	Source string // place of the record, for messages: "commit 3f2c1d0"; may be ""
}

// String returns the footer's value: STREAM@SEQ:HASH, with the whole hash in
// hex.
func (a Anchor) String() string {
	return a.Stream + "@" + strconv.FormatInt(a.Seq, 10) + ":" + hex.EncodeToString(a.Hash)
}

// ParseAnchor parses the result of Anchor.String, with or without the footer's
// key before it. The Source of the result is empty.
func ParseAnchor(s string) (Anchor, error) {
	value := strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(value, AnchorFooter+":"); ok {
		value = strings.TrimSpace(rest)
	}
	bad := func(what string) (Anchor, error) {
		return Anchor{}, fmt.Errorf("parse %s %q: %s: expected STREAM@SEQ:HASH", AnchorFooter, s, what)
	}
	at := strings.LastIndexByte(value, '@')
	if at <= 0 {
		return bad("no stream")
	}
	num, sum, ok := strings.Cut(value[at+1:], ":")
	if !ok {
		return bad("no hash")
	}
	seq, err := strconv.ParseInt(num, 10, 64)
	if err != nil || seq < 1 {
		return bad("no entry has the number " + strconv.Quote(num))
	}
	hash, err := hex.DecodeString(sum)
	if err != nil || len(hash) != sha256.Size {
		return bad("the hash is not 64 hex digits")
	}
	return Anchor{Stream: value[:at], Seq: seq, Hash: hash}, nil
}

// minHeadDigits is the least number of hex digits of a hash that a Head needs,
// so that no other entry has them by chance. A digest prints 12.
const minHeadDigits = 8

// Head is an entry's number and the beginning of its hash, as a digest prints
// them ("41:9f86d081884c") and a person gives them back.
type Head struct {
	Stream string // "" if the text names none
	Seq    int64
	Digits string // the first hex digits of the hash, lower case
}

// ParseHead parses N:HASH, STREAM@N:HASH or a commit's whole footer. The name of
// a project stands for its stream.
func ParseHead(s string) (Head, error) {
	value := strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(value, AnchorFooter+":"); ok {
		value = strings.TrimSpace(rest)
	}
	bad := func(what string) (Head, error) {
		return Head{}, fmt.Errorf("%q is not a head of the ledger: %s. Type it as the digest or the commit's footer shows it: 41:9f86d081884c, or project/shop@41:9f86d081884c", s, what)
	}
	var h Head
	if at := strings.LastIndexByte(value, '@'); at >= 0 {
		h.Stream, value = value[:at], value[at+1:]
		if h.Stream == "" {
			return bad("there is nothing before the @")
		}
		if h.Stream != ledger.SharedStream && !strings.HasPrefix(h.Stream, ledger.ProjectStream("")) {
			h.Stream = ledger.ProjectStream(h.Stream)
		}
	}
	num, digits, ok := strings.Cut(value, ":")
	if !ok {
		return bad("it has no hash after a colon")
	}
	var err error
	if h.Seq, err = strconv.ParseInt(num, 10, 64); err != nil || h.Seq < 1 {
		return bad(strconv.Quote(num) + " is not the number of an entry")
	}
	h.Digits = strings.TrimSuffix(strings.ToLower(digits), "…")
	if n := len(h.Digits); n < minHeadDigits || n > 2*sha256.Size || strings.Trim(h.Digits, "0123456789abcdef") != "" {
		return bad(fmt.Sprintf("its hash needs %d to %d hex digits", minHeadDigits, 2*sha256.Size))
	}
	return h, nil
}

// Fits reports whether an entry's hash begins with the head's digits.
func (h Head) Fits(hash []byte) bool { return strings.HasPrefix(hex.EncodeToString(hash), h.Digits) }

// String returns the head in the form that ParseHead reads.
func (h Head) String() string {
	value := strconv.FormatInt(h.Seq, 10) + ":" + h.Digits
	if h.Stream != "" {
		value = h.Stream + "@" + value
	}
	return value
}
