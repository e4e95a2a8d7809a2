package loop

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Limits of what one session may write to notebooks. Notebooks go into prompts,
// where too much of them leaves no room for the task.
const (
	maxMemory   = 2000 // characters of one text
	maxMemories = 20   // texts of one session
)

// remember appends a text to one of the project's notebooks (docs/spec 11).
func (d *decision) remember(b Remember) {
	s, ok := d.Project.Session(b.Session)
	text := strings.TrimSpace(b.Text)
	n := utf8.RuneCountInString(text)
	switch {
	case !ok || s.Planned.Kind != ledger.KindAgent || s.Cut:
		d.refuse(ledger.CodeEnded, "session %s has ended; nothing was kept", b.Session)
		return
	case d.sortsReports(s.Task):
		d.refuse(ledger.CodeRefused, "a session that decides about reports keeps nothing; say it in the reason of a verdict")
		return
	case b.Kind != ledger.MemoryFact && b.Kind != ledger.MemoryDecision && b.Kind != ledger.MemoryNote:
		d.refuse(ledger.CodeKind, "there is no notebook %q; use memory, decision or note", b.Kind)
		return
	case text == "":
		d.refuse(ledger.CodeNoWords, "there are no words to keep")
		return
	case !utf8.ValidString(text):
		d.refuse(ledger.CodeNotText, "that is not valid UTF-8 text; nothing was kept")
		return
	case n > maxMemory:
		d.refuse(ledger.CodeTooLong, "that has %d characters; %d are the most. Keep what a later session cannot see from the code, in a line or two", n, maxMemory)
		return
	case s.Kept >= maxMemories:
		d.refuse(ledger.CodeTooMany, "this session has kept %d texts, which is the most", maxMemories)
		return
	}
	about := scope{task: s.Task, session: s.ID}
	key := fmt.Sprintf("%s/%d", s.ID, s.Kept+1)
	d.add(about, ledger.MemoryKept{Kind: b.Kind, Hat: s.Planned.Hat, Text: text})
	d.effect(key, ledger.EffectRemember{Memory: ledger.Memory{
		Key: key, Kind: b.Kind, Time: d.local(d.in.Time), Session: s.ID, Hat: s.Planned.Hat, Task: s.Task, Text: text,
	}})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeKept, ID: key, Text: "kept; sessions from the next one on are shown it"}
}
