package bot

import (
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Unclear asks what a reply to a project's live status means while the project
// waits for answers: it may be one of them, and as guidance it would go to another
// task. It returns nil if nothing waits.
func Unclear(s loop.State, text string) *Message {
	r := s.Project.Run
	if !r.Over() && (r.State != ledger.RunWaiting || r.Wait != ledger.WaitQuestion) {
		return nil
	}
	var ids []string
	for _, q := range s.Project.Questions {
		if q.HoldsUp() {
			ids = append(ids, q.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	m := refusal("cmd.unclear", firstLine(SignAsk, s.Project.Name, "waits for "+strings.Join(ids, " "), ""))
	m.Project = s.Project.Name
	m.quote(text)
	m.Lines = append(m.Lines, Line{Text: "An answer, or guidance? Not done yet.", Pending: true})
	for _, id := range ids[:min(len(ids), 3)] {
		m.exact("Answer "+id, id+" "+text)
	}
	m.exact("Guidance", s.Project.Name+": /"+string(VerbGuidance)+" "+text)
	return &m
}
