package termlog

import (
	"io"
	"sync"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// JSON writes one JSON object a line for each committed entry, for programs. It
// is safe for concurrent use.
type JSON struct {
	mu sync.Mutex
	w  io.Writer
}

// NewJSON returns a JSON that writes to w.
func NewJSON(w io.Writer) *JSON { return &JSON{w: w} }

// Entry writes an entry:
// {"stream","seq","time","type","v","run","task","attempt",
// "session","actor","cause","body"}. It ignores the states.
func (j *JSON) Entry(_, _ loop.State, e ledger.Entry) {
	r, err := e.Record()
	if err != nil {
		return // cannot happen: the entry was encoded when committed
	}
	line, err := bot.RecordJSON(r)
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = j.w.Write(append(line, '\n'))
}
