package store

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// chainVersion is the version of the encoding below, kept in meta.
const chainVersion = "1"

// chainTag begins every encoding, so that a hash of ours can be no other's.
const chainTag = "nightporter entry 1\n"

// timeLayout is how times are kept: UTC, always nine digits, so that text
// order is time order and no precision is lost.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// row is one entry as it lies in the table. Its time stays text here: the hash
// is over what is stored, and a text that is no time must still be checked.
type row struct {
	stream, time, typ, run, task, attempt, session, actor, cause string
	seq, v                                                       int64
	body, prev, hash                                             []byte
}

// sum is the hash of an entry. Its encoding is a contract: every chain that
// was ever written depends on it (SPEC 8.3).
//
//	SHA-256 over: the 20 bytes "nightporter entry 1\n", then these 13 fields in
//	this order, each as its length in bytes (unsigned, 64 bit, big-endian) and
//	its bytes:
//
//	prev     hash of the entry before in the stream; empty for the first
//	stream   text
//	seq      signed 64 bit, big-endian
//	time     text, UTC, "2006-01-02T15:04:05.000000000Z"
//	type     text
//	v        signed 64 bit, big-endian
//	run task attempt session actor cause    texts
//	body     bytes, exactly as committed
//
// The lengths keep apart what could flow together: ("ab", "c") and ("a", "bc").
func (r *row) sum() []byte {
	var seq, v [8]byte
	binary.BigEndian.PutUint64(seq[:], uint64(r.seq))
	binary.BigEndian.PutUint64(v[:], uint64(r.v))

	h := sha256.New()
	h.Write([]byte(chainTag))
	var size [8]byte
	for _, field := range [...][]byte{
		r.prev, []byte(r.stream), seq[:], []byte(r.time), []byte(r.typ), v[:],
		[]byte(r.run), []byte(r.task), []byte(r.attempt), []byte(r.session),
		[]byte(r.actor), []byte(r.cause), r.body,
	} {
		binary.BigEndian.PutUint64(size[:], uint64(len(field)))
		h.Write(size[:])
		h.Write(field)
	}
	return h.Sum(nil)
}

func formatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

func parseTime(s string) (time.Time, error) { return time.Parse(timeLayout, s) }
