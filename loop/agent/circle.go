package agent

import (
	"bytes"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// circleLine is how much of a line of the output a circleWatch keeps, in bytes. What
// shows a circle stands in short lines.
const circleLine = 16 << 10

// circleWatch reads the output of a running session for signs that it goes in a
// circle. A stall has no output, and the limit of the whole time may be hours away. nil
// watches nothing.
type circleWatch struct {
	read  func(line []byte) (why string)
	found chan string // receives the reason, once
	line  []byte      // what is kept of the incomplete line
}

// newCircleWatch returns the watch of a session, nil where its agent has none.
func newCircleWatch(s spec) *circleWatch {
	a := adapter.FindOutput(s.Output)
	if s.Kind != ledger.KindAgent || a == nil {
		return nil
	}
	read := a.Circle()
	if read == nil {
		return nil
	}
	return &circleWatch{read: read, found: make(chan string, 1)}
}

// reason returns the channel of the reason, which never receives one for nil.
func (w *circleWatch) reason() <-chan string {
	if w == nil {
		return nil
	}
	return w.found
}

// next takes the next part of the output.
func (w *circleWatch) next(p []byte) {
	if w == nil || w.read == nil {
		return
	}
	for len(p) > 0 {
		part, rest, whole := bytes.Cut(p, []byte("\n"))
		w.line = append(w.line, part[:min(len(part), circleLine-len(w.line))]...)
		if p = rest; !whole {
			return
		}
		why := w.read(w.line)
		w.line = w.line[:0]
		if why != "" {
			w.found <- why
			w.read = nil // one reason is enough, and nobody takes a second
			return
		}
	}
}
