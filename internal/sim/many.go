package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// tellEvery is the time between two lines about nights that are being played.
const tellEvery = 2 * time.Minute

// tally is what many nights had, added up.
type tally struct {
	began  time.Time
	opt    options
	mu     sync.Mutex
	total  result
	played int
	bad    []result
	failed error     // the first night that could not be played
	told   time.Time // of the last line about them
}

// many plays nights one after the other, several at a time, until their number or
// the time is up, or ctx ends. It tells of a night that breaks an invariant at
// once, of all together now and then, and prints a table at the end.
func many(ctx context.Context, from uint64, nights int, length time.Duration, workers int, opt options) error {
	t := tally{began: time.Now(), told: time.Now(), opt: opt}
	var next atomic.Uint64
	next.Store(from)
	var wg sync.WaitGroup
	for range max(workers, 1) {
		wg.Go(func() {
			for ctx.Err() == nil {
				seed := next.Add(1) - 1
				if nights > 0 && seed >= from+uint64(nights) || length > 0 && time.Since(t.began) > length {
					return
				}
				r, err := play(seed, opt)
				if !t.add(r, err) {
					return
				}
			}
		})
	}
	wg.Wait()
	if t.failed != nil {
		return t.failed
	}
	return t.print()
}

// add adds a night. It returns false if no further one is to be played.
func (t *tally) add(r result, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil && t.failed == nil {
		t.failed = err
	}
	if t.failed != nil {
		return false
	}
	t.played++
	t.total.length += r.length
	t.total.entries += r.entries
	t.total.cut += r.cut
	t.total.state, t.total.queue = max(t.total.state, r.state), max(t.total.queue, r.queue)
	for f, n := range r.counts {
		t.total.counts[f] += n
	}
	if r.broken != nil {
		t.bad = append(t.bad, r)
		fmt.Printf("seed %d broke %s\n", r.seed, firstLines(r.broken.String(), 1))
	}
	if time.Since(t.told) >= tellEvery {
		t.told = time.Now()
		fmt.Printf("%s: %d nights, %s; %d broke an invariant\n", time.Since(t.began).Round(time.Second), t.played, t.rate(), len(t.bad))
	}
	return true
}

// rate returns how fast nights are played. The processor's time is comparable on a
// machine that does other things too.
func (t *tally) rate() string {
	text := fmt.Sprintf("%.0f a minute", float64(t.played)/time.Since(t.began).Minutes())
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil {
		spent := time.Duration(used.Utime.Nano() + used.Stime.Nano())
		text += fmt.Sprintf(" (%.0f a minute of processor time)", float64(t.played)/spent.Minutes())
	}
	return text
}

// print prints the table of all nights, and returns an error if one broke an
// invariant.
func (t *tally) print() error {
	injected := 0
	fmt.Printf("%10s  %-15s %s\n", "times", "fault", "what it is")
	for f, n := range t.total.counts {
		if n > 0 {
			injected += n
			fmt.Printf("%10d  %-15s %s\n", n, faultTable[f].name, faultTable[f].text)
		}
	}
	fmt.Printf("\n%10d  faults injected\n%10d  nights, %s, in %s\n%10d  simulated hours\n%10d  entries of ledgers\n%10d  KB, the largest state; at most %d messages waited\n",
		injected, t.played, t.rate(), time.Since(t.began).Round(time.Second), int(t.total.length.Hours()), t.total.entries, t.total.state/1024, t.total.queue)
	if t.total.cut > 0 {
		fmt.Printf("%10d  nights ended by a disk that lost or damaged what it had confirmed: never unseen\n", t.total.cut)
	}
	if len(t.bad) == 0 {
		fmt.Println("no invariant broke")
		return nil
	}
	slices.SortFunc(t.bad, func(a, b result) int { return int(int64(a.seed) - int64(b.seed)) })
	fmt.Println()
	shown := map[string]int{}
	for _, r := range t.bad {
		if shown[r.broken.name]++; shown[r.broken.name] > 3 {
			continue
		}
		if shown[r.broken.name] == 1 {
			r.story.print(os.Stdout, 20)
		}
		fmt.Printf("seed %d broke %s\n  go run ./internal/sim -seed %d%s\n", r.seed, firstLines(r.broken.String(), 20), r.seed, flagsOf(t.opt))
	}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		fmt.Printf("%6d nights broke %s\n", shown[name], name)
	}
	return fmt.Errorf("%d of %d nights broke an invariant", len(t.bad), t.played)
}
