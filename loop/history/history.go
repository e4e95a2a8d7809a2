package history

import (
	"slices"
	"time"
)

// Limits of a History.
const (
	SamplesKept = 32  // of one key
	KeysKept    = 128 // of sessions, and of tasks
)

// Unknown is a cost or a number of tokens that nobody reported.
const Unknown = -1

// History is what sessions and tasks of one project took. The zero value knows nothing. It
// is immutable: its methods return a new one that shares what did not change.
type History struct {
	Sessions []SessionRing `json:"sessions,omitempty"` // the key used last is the last one
	Tasks    []TaskRing    `json:"tasks,omitempty"`    // as above
}

// Key names sessions that are alike.
type Key struct {
	Hat   string `json:"hat"`
	Agent string `json:"agent"`
	Model string `json:"model,omitempty"` // "" = the agent's own choice
	Size  Size   `json:"size,omitempty"`  // "" = of no task
}

// Session is what one agent session took.
type Session struct {
	Ms     int64   `json:"ms"`
	USD    float64 `json:"usd"`    // Unknown = not reported
	Tokens int64   `json:"tokens"` // Unknown = not reported
}

// Took returns the length of the session.
func (s Session) Took() time.Duration { return time.Duration(s.Ms) * time.Millisecond }

// SessionRing has the last sessions of one key, the newest last.
type SessionRing struct {
	Key
	Last []Session `json:"last"`
}

// Kind names tasks that are alike.
type Kind struct {
	Pattern string `json:"pattern"`
	Size    Size   `json:"size"`
}

// TaskRing has the last tasks of one kind, the newest last.
type TaskRing struct {
	Kind
	Last []Task `json:"last"`
}

// IsZero reports whether h knows nothing.
func (h History) IsZero() bool { return len(h.Sessions)+len(h.Tasks) == 0 }

// WithSession returns h with one more session.
func (h History) WithSession(k Key, s Session) History {
	n := slices.IndexFunc(h.Sessions, func(r SessionRing) bool { return r.Key == k })
	ring := SessionRing{Key: k}
	if n >= 0 {
		ring = h.Sessions[n]
	}
	ring.Last = pushed(ring.Last, s)
	h.Sessions = toEnd(h.Sessions, n, ring)
	return h
}

// WithTask returns h with one more finished task.
func (h History) WithTask(k Kind, t Task) History {
	n := slices.IndexFunc(h.Tasks, func(r TaskRing) bool { return r.Kind == k })
	ring := TaskRing{Kind: k}
	if n >= 0 {
		ring = h.Tasks[n]
	}
	ring.Last = pushed(ring.Last, t)
	h.Tasks = toEnd(h.Tasks, n, ring)
	return h
}

// pushed returns a new list of the last samples and v.
func pushed[T any](last []T, v T) []T {
	return append(slices.Clip(last[max(len(last)+1-SamplesKept, 0):]), v)
}

// toEnd returns a new list with ring at its end, in place of element n (-1 = it has none).
// The list loses its first element when it has too many.
func toEnd[T any](list []T, n int, ring T) []T {
	moved := make([]T, 0, len(list)+1)
	for at, v := range list {
		if at != n {
			moved = append(moved, v)
		}
	}
	moved = append(moved, ring)
	return moved[max(len(moved)-KeysKept, 0):]
}
