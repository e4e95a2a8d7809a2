package main

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"runtime/debug"
	"time"
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

func stack() string { return string(debug.Stack()) }
