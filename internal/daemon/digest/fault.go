package digest

import (
	"fmt"
	"runtime/debug"
)

// panicError is a panic while a digest was made. A digest is drawn from
// whatever the ledger holds, by a library for pictures. A panic must not end
// the daemon: the next start would make the same digest and panic again.
type panicError struct {
	cause any
	stack string
}

func (f *panicError) Error() string { return fmt.Sprintf("a fault in nightporter: %v", f.cause) }

// guarded calls made and converts a panic to a *fault.
func guarded[T any](made func() (T, error)) (out T, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &panicError{cause, string(debug.Stack())}
		}
	}()
	return made()
}
