package digest

import (
	"fmt"
	"runtime/debug"
)

// fault is a panic in what makes a digest.
type fault struct {
	cause any
	stack string
}

func (f *fault) Error() string { return fmt.Sprintf("a fault in nightporter: %v", f.cause) }

// guarded is what is made, or a *fault where that panics.
func guarded[T any](made func() (T, error)) (out T, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &fault{cause, string(debug.Stack())}
		}
	}()
	return made()
}
