package adapter

import (
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// streamTypes are the types of events that a program's stream was seen to have, whether a
// reader uses them or not. One that ends with a dot stands for all that begin so.
type streamTypes []string

func (t streamTypes) has(name string) bool {
	for _, known := range t {
		if name == known || strings.HasSuffix(known, ".") && strings.HasPrefix(name, known) {
			return true
		}
	}
	return false
}

// typeCount tells a program that has changed its stream from a session that was short. A
// release that names its events otherwise looks like one that said nothing: no answers, no
// failures, no figures.
type typeCount struct {
	known, strange int
}

// saw counts an event.
func (c *typeCount) saw(name string, types streamTypes) {
	if types.has(name) {
		c.known++
	} else {
		c.strange++
	}
}

// fewStrange is the number of strange events from which a stream without a known one has
// changed. One can be what a program logs on standard error before it gives up.
const fewStrange = 2

// changed reports whether the events show that the program has changed. ended is whether
// the stream has the event that ends it, failed whether it has one that reports a failure.
// A session that was ended early or failed has neither figures nor an end, and proves
// nothing; new types beside the known ones are no change by themselves.
func (c typeCount) changed(x ledger.Exit, ended, failed bool) bool {
	if c.known == 0 {
		return c.strange >= fewStrange
	}
	return c.strange > 0 && !ended && !failed && x.Reason == ledger.ExitSelf && x.Code == 0
}
