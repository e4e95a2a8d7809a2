package bench

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// usage is the processor time of a process and of the descendants that it waited
// for, over time. The kernel counts it in hundredths of a second.
type usage struct {
	samples []sample
	end     chan struct{}
	ended   chan struct{}
}

type sample struct {
	at   time.Time
	used time.Duration
}

// usageEvery is the time between two looks.
const usageEvery = 10 * time.Millisecond

// watchUsage looks at a process until stop.
func watchUsage(pid int) *usage {
	u := &usage{end: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(u.ended)
		for {
			if used, ok := usedBy(pid); ok {
				u.samples = append(u.samples, sample{time.Now(), used})
			}
			select {
			case <-time.After(usageEvery):
			case <-u.end:
				return
			}
		}
	}()
	return u
}

func (u *usage) stop() {
	close(u.end)
	<-u.ended
}

// of returns the processor time within a span, after stop.
func (u *usage) of(s span) time.Duration {
	var from, to time.Duration
	for _, x := range u.samples {
		if !x.at.After(s.began) {
			from = x.used
		}
		to = x.used
		if !x.at.Before(s.ended) {
			break
		}
	}
	return to - from
}

// usedBy returns the processor time of a process, and of those that it waited for.
func usedBy(pid int) (time.Duration, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name of the program, in brackets, can hold spaces. User and system time
	// of the process and of its children are the 14th to 17th field.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return 0, false
	}
	var ticks, n int64
	for _, f := range fields[11:15] {
		if _, err := fmt.Sscan(f, &n); err != nil {
			return 0, false
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, true
}
