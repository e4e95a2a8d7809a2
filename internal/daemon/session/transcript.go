package session

import (
	"hash/fnv"
	"strings"
	"sync"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/workspace/secret"
)

// Transcript returns what a session said and did last, about most lines, without
// what looks like a secret.
func (r *Runners) Transcript(session string, most int) ([]adapter.Passage, error) {
	all, err := r.now.Load().Transcript(session, most)
	for n, p := range all {
		all[n].Text = r.redacted.text(p.Text)
	}
	return all, err
}

// OutputStamp returns a value that differs once a session has printed more.
func (r *Runners) OutputStamp(session string) string { return r.now.Load().OutputStamp(session) }

// redacted remembers texts without their secrets. The rules cost a quarter of a
// millisecond a line where its words are like theirs, and a live screen has the same
// lines again every second.
type redacted struct {
	mu       sync.Mutex
	now, old map[string]string
}

// maxRedacted is how many texts are remembered twice over: those that were not used
// while so many others were go first.
const maxRedacted = 2048

// text returns a part of an output without its secrets.
func (r *redacted) text(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text = secret.RedactRows(text)
	var out []string
	for _, part := range parts(text) {
		is, known := r.now[part]
		if !known {
			if is, known = r.old[part]; !known {
				is = secret.RedactPart(part)
			}
			if len(r.now) >= maxRedacted {
				r.old, r.now = r.now, nil
			}
			if r.now == nil {
				r.now = map[string]string{}
			}
			r.now[part] = is
		}
		out = append(out, is)
	}
	return strings.Join(out, "\n")
}

// parts splits a text between lines into parts of about partLines. Where a part
// begins is decided by its first line, not by its place: the same lines are the same
// parts after the text has grown. A private key is within one part, as far as the
// text has it.
func parts(text string) []string {
	var out []string
	begin, at, inKey := 0, 0, beginsInKey(text)
	for line := range strings.Lines(text) {
		switch {
		case strings.Contains(line, "PRIVATE KEY"):
			inKey = !strings.Contains(line, "-----END")
		case begin > 0 && strings.Contains(line, ". "): // no line of a key
			inKey = false
		}
		if at > begin && !inKey && startsPart(line) {
			out = append(out, strings.TrimSuffix(text[begin:at], "\n"))
			begin = at
		}
		at += len(line)
	}
	return append(out, strings.TrimSuffix(text[begin:], "\n"))
}

// beginsInKey reports whether a private key ends in the text that begins before it.
func beginsInKey(text string) bool {
	head, _, found := strings.Cut(text, "PRIVATE KEY")
	return found && strings.Contains(head[strings.LastIndexByte(head, '\n')+1:], "-----END")
}

const partLines = 24

func startsPart(line string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.TrimSuffix(line, "\n"))) // never fails (hash)
	return h.Sum32()%partLines == 0
}
