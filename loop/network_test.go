package loop

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestHostAnsweredAlike: a word for the run or the project settles what other sessions
// ask about the same host, so that no later one contradicts it; once is for one session.
func TestHostAnsweredAlike(t *testing.T) {
	for choice, want := range map[string]string{"once": "", "run": "run", "always": "always", "no": "no"} {
		d := playing(t, "tasks 1", "set network=none", "go quiet", "wants registry.example.org 443")
		s := d.s
		if len(s.Project.Questions) != 1 {
			t.Fatalf("questions: %+v\n%s", s.Project.Questions, d.out.String())
		}
		other := s.Project.Questions[0]
		host := *other.Host
		host.Session, other.ID, other.Host = "r1-9", "q9", &host
		s = Apply(s, ledger.Entry{Stream: "project/shop", Run: "r1", Session: "r1-9", Body: ledger.QuestionAsked{Question: other}})
		dec := Decide(s, Input{Key: "k", Project: "shop", Time: d.now, Actor: "console", Body: AnswerQuestion{Question: s.Project.Questions[0].ID, Choice: choice}})
		got, answers := "", []string{}
		for _, e := range dec.Entries {
			if b, is := e.Body.(ledger.QuestionAnswered); is && b.ID == "q9" {
				got = b.Choice
			}
		}
		for _, e := range dec.Effects {
			if b, is := e.Body.(ledger.EffectAnswerHost); is && b.Answer.Allow == (choice != "no") {
				answers = append(answers, b.Session)
			}
		}
		if both := strings.Contains(strings.Join(answers, " "), "r1-9"); got != want || both != (want != "") {
			t.Errorf("%s: q9 is answered %q, want %q; answers go to %v", choice, got, want, answers)
		}
	}
}
