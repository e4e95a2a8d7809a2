package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// AnchorFooter is the key of the footer in which a task's commit names the
// head of its stream: "Nightporter-Head: project/shop@41:9f86…" (SPEC 8.3).
const AnchorFooter = "Nightporter-Head"

// Anchor is an entry's hash as it is known outside the ledger. A tail that was
// cut off, or a stream that was written anew with fitting hashes, shows only
// against one.
type Anchor struct {
	Stream string
	Seq    int64
	Hash   []byte // 32 bytes
	Source string // where it was found, for the message: "commit 3f2c1d0"; may be ""
}

// String is the footer's value: STREAM@SEQ:HASH, the hash in hex and whole.
func (a Anchor) String() string {
	return a.Stream + "@" + strconv.FormatInt(a.Seq, 10) + ":" + hex.EncodeToString(a.Hash)
}

// ParseAnchor reads what String wrote: the footer's value, or its whole line.
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
