package termlog

import (
	"io"
	"sync"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// JSON prints one object a line for each committed entry, for programs. It
// is safe for concurrent use.
type JSON struct {
	mu sync.Mutex
	w  io.Writer
}

// NewJSON returns a JSON that writes to w.
func NewJSON(w io.Writer) *JSON { return &JSON{w: w} }

// Entry prints an entry: {"stream","seq","time","type","v","run","task",
// "attempt","session","actor","cause","body"}. The states are not needed.
func (j *JSON) Entry(_, _ loop.State, e ledger.Entry) {
	r, err := e.Record()
	if err != nil {
		return // it was committed, so it can be encoded
	}
	line, err := bot.RecordJSON(r)
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = j.w.Write(append(line, '\n'))
}
