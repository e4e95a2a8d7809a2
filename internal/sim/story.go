package main

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"runtime/debug"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// lastLines is the number of lines of the story that a night keeps.
const lastLines = 60

// story is what happened, in lines for people. Its hash covers every line.
type story struct {
	keep  bool // all lines, else the last ones
	lines []line
	count int
	sum   hash.Hash
}

type line struct {
	at   time.Time
	who  string
	text string
}

func (l line) String() string {
	return fmt.Sprintf("%s  %-9s %s", l.at.Format("Mon 15:04:05"), l.who, l.text)
}

func (s *story) add(at time.Time, who, text string) {
	if s.sum == nil {
		s.sum = sha256.New()
	}
	l := line{at, who, text}
	s.count++
	fmt.Fprintln(s.sum, at.UnixNano(), who, text)
	if s.lines = append(s.lines, l); !s.keep && len(s.lines) > 2*lastLines {
		s.lines = append(s.lines[:0], s.lines[len(s.lines)-lastLines:]...)
	}
}

// hash returns the hash over all lines.
func (s *story) hash() string {
	if s.sum == nil {
		return ""
	}
	return fmt.Sprintf("%x", s.sum.Sum(nil))
}

// print prints the last n lines, all for 0.
func (s *story) print(out io.Writer, n int) {
	lines := s.lines
	if n > 0 {
		lines = lines[max(0, len(lines)-n):]
	}
	for _, l := range lines {
		fmt.Fprintln(out, l)
	}
}

// short is the beginning of a hash, as people read it.
func short(hash string) string { return hash[:min(9, len(hash))] }

// manner says how a process ended, "" for as it should.
func manner(x ledger.Exit) string {
	switch {
	case x.Failure != "":
		return fmt.Sprintf(" for a reason of its provider: %s", x.Failure)
	case x.Reason == ledger.ExitAsked:
		return ", as it was told"
	case x.Reason == ledger.ExitLost:
		return " without a trace"
	case x.Reason != ledger.ExitSelf:
		return fmt.Sprintf(": %s", x.Reason)
	case x.Code != 0:
		return fmt.Sprintf(" with exit code %d", x.Code)
	}
	return ""
}

// outcome says what a session's end was and what it counts as.
func outcome(end, counts string) string {
	if counts == "" {
		return end
	}
	return end + ", counted as " + counts
}

// judgement says what the commands showed.
func judgement(v ledger.Verified) string {
	passed := map[bool]string{true: "passed", false: "failed"}[v.OK]
	if v.Kind == ledger.KindProof && !v.OK {
		passed += ", as it must without the change"
	}
	return fmt.Sprintf("%s of %s has %s", v.Kind, short(v.Tree), passed)
}

// became says what a task is now.
func became(s ledger.Status) string {
	if s == ledger.Active {
		return "begins"
	}
	return "is " + string(s)
}

func stack() string { return string(debug.Stack()) }
