package project

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestAwaitHanging checks that a source which hangs is waited for by one look, and by
// none after it, while a look whose caller gave up does not count.
func TestAwaitHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := &followed{first: make(chan struct{})}
		r := &Readings{of: map[string]*followed{"shop": hangs}}
		look := func() time.Duration {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begin := time.Now()
			r.Await(ctx, "shop")
			return time.Since(begin)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		r.Await(gone, "shop")
		if took := look(); took != time.Second {
			t.Errorf("the first look took %v", took)
		}
		for range 3 {
			if took := look(); took != 0 {
				t.Errorf("another look took %v", took)
			}
		}
		r.of["shop"] = &followed{first: make(chan struct{})} // another source is followed now
		if took := look(); took != time.Second {
			t.Errorf("the first look at another source took %v", took)
		}
	})
}
