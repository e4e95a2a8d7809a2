package adapter

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// eventFence begins the block in which an agent without a shell and without tools
// writes its event: the type and a line end follow, then the data.
const eventFence = "```nightporter-event "

// WrittenEvent returns the event that an agent's last message ends with, nil if it ends
// with none. The block has to be the only one, and nothing may follow it: text that an
// agent quotes is no event.
func WrittenEvent(message string) *ledger.WrittenEvent {
	message = strings.ReplaceAll(strings.TrimSpace(message), "\r\n", "\n")
	at := strings.Index(message, eventFence)
	if at < 0 || at > 0 && message[at-1] != '\n' || strings.Count(message, eventFence) > 1 {
		return nil
	}
	typ, data, ok := strings.Cut(message[at+len(eventFence):], "\n")
	data, closed := strings.CutSuffix(data, "```")
	if data = strings.TrimSpace(data); data == "" {
		data = "{}"
	}
	if typ = strings.TrimSpace(typ); !ok || !closed || typ == "" || data[0] != '{' || !json.Valid([]byte(data)) {
		return nil
	}
	return &ledger.WrittenEvent{Type: typ, Data: json.RawMessage(data)}
}

// lastLines returns the end of a plain output, which is all that is known of an agent's
// last message there.
func lastLines(output io.Reader) string {
	var kept []byte
	part := make([]byte, 64<<10)
	for {
		n, err := output.Read(part)
		if kept = append(kept, part[:n]...); len(kept) > 2*longestWritten {
			kept = append(kept[:0], kept[len(kept)-longestWritten:]...)
		}
		if err != nil {
			return string(bytes.ToValidUTF8(kept, nil))
		}
	}
}

// longestWritten is how much of a plain output can be a message, in bytes: an event's
// data have at most 256 kB.
const longestWritten = 512 << 10
