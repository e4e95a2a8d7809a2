package store

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// chainVersion is the version of the encoding in row.sum. The table meta keeps
// it.
const chainVersion = "1"

// chainTag begins every encoding, so that no other program's hash equals ours.
const chainTag = "nightporter entry 1\n"

// timeLayout is the format of stored times: UTC with nine digits, so that the
// order of the texts is the order of the times and no precision is lost.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// row is one entry as stored. Its time stays text: the hash covers the stored
// text, and an entry whose time does not parse must still be verified.
type row struct {
	stream, time, typ, run, task, attempt, session, actor, cause string
	seq, v                                                       int64
	body, prev, hash                                             []byte
}

// sum returns the hash of an entry. The encoding is a contract: every chain
// ever written depends on it.
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
// The lengths separate neighbouring fields: without them ("ab", "c") and ("a",
// "bc") would have the same hash.
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
