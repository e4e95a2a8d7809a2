package transport

import (
	"slices"
	"testing"
)

// TestLane: a lane does one thing at a time, in order, beside its caller.
func TestLane(t *testing.T) {
	var l Lane
	var did []int
	first := make(chan struct{})
	for n := range 3 {
		l.Go(func() {
			if n == 0 {
				<-first
			}
			did = append(did, n)
		})
	}
	if !l.Busy() {
		t.Error("the lane is empty")
	}
	close(first)
	l.Wait()
	if l.Busy() || !slices.Equal(did, []int{0, 1, 2}) {
		t.Errorf("did %v, busy %v", did, l.Busy())
	}
	l.Go(func() { did = append(did, 3) })
	l.Wait()
	if len(did) != 4 {
		t.Errorf("did %v", did)
	}
}
