package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
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
