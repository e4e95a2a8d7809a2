package inbound_test

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// sentence is a line of the table of sentences.
type sentence struct {
	line                     int
	situation, meaning, text string
}

func sentences(t *testing.T) []sentence {
	t.Helper()
	f, err := os.Open("../words/testdata/sentences.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []sentence
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		if in.Text() == "" || strings.HasPrefix(in.Text(), "#") {
			continue
		}
		part := strings.Split(in.Text(), "\t")
		if len(part) != 3 {
			t.Fatalf("line %d has %d columns", n, len(part))
		}
		out = append(out, sentence{n, part[0], part[1], part[2]})
	}
	if in.Err() != nil || len(out) < 300 {
		t.Fatalf("%d sentences, %v", len(out), in.Err())
	}
	return out
}

// situation returns the records of a situation.
func situation(t *testing.T, name string) (now time.Time, records []ledger.Record) {
	t.Helper()
	n := newNight()
	set := n.Settings()
	set.Stays = true
	n.Cost = 0.25
	blocked := scenario.Act{Type: "task.blocked", Data: `{"reason":"the plan says two things","tried":"by line","needs":"which of them"}`, Took: time.Minute, Cost: 0.1}
	asks := scenario.Act{Type: "question.asked", Data: `{"text":"May an address be a PO box?","options":["Yes, letters only","No"],"choice":"No"}`, Took: time.Minute, Cost: 0.1}
	tasks := []ledger.Task{scenario.Task(1, "Refund flow"), scenario.Task(2, "Address form"), scenario.Task(3, "Order mails"), scenario.Task(4, "Move orders")}
	busy := func(what string) func() bool { return func() bool { return bot.Doing(n.State) == what } }
	asked := func(q ledger.Question) {
		n.Start(set, n.Base("r1"), tasks...)
		n.Until(busy("#1 builder"))
		q.ID, q.Asked, q.Task, q.Run = "q1", n.Now, "Task 3", "r1"
		n.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: n.Now, Task: "Task 3", Body: ledger.QuestionAsked{Question: q}})
	}
	switch strings.TrimPrefix(name, ">") {
	case "work", "receipt", "live":
		n.Start(set, n.Base("r1"), tasks...)
		n.Until(busy("#1 builder"))
	case "paused":
		n.Start(set, n.Base("r1"), tasks...)
		n.Until(busy("#1 builder"))
		n.Do(loop.Input{Time: n.Now, Actor: mira, Name: "Mira", Project: "shop", Body: loop.Pause{}})
		n.Until(func() bool { return n.State.Project.Run.State == ledger.RunPaused })
	case "idle", "start":
	case "agent":
		n.Acts["Task 1 planner"] = []scenario.Act{asks}
		n.Start(set, n.Base("r1"), tasks...)
		n.Until(busy("#2 builder"))
	case "blocked":
		n.Acts["Task 1 planner"] = []scenario.Act{blocked}
		n.Start(set, n.Base("r1"), tasks...)
		n.Until(busy("#2 builder"))
	case "two":
		n.Acts["Task 1 planner"], n.Acts["Task 2 planner"] = []scenario.Act{blocked}, []scenario.Act{asks}
		n.Start(set, n.Base("r1"), tasks...)
		n.Until(busy("#3 builder"))
	case "manual":
		asked(ledger.Question{Kind: ledger.AskManual, Text: "Open /pay"})
	case "allow":
		asked(ledger.Question{Kind: ledger.AskAllow, Text: "docs/README.md"})
	case "merge":
		asked(ledger.Question{Kind: ledger.AskMerge, Expires: n.Now.Add(10 * time.Minute)})
	default:
		t.Fatalf("no situation %q", name)
	}
	return n.Now, n.All()
}

// permitted reports whether a sentence may lead to an entry without a press. An answer
// reaches its task: the words of an agent's question, or that a path stays out.
func permitted(kind, meaning string) bool {
	switch kind {
	case "guidance.queued", "guidance.dropped", "question.answered", "question.asked":
		return true
	case "task.words", "task.set":
		return meaning == "answer a" || meaning == "answer b" || meaning == "answer words" || meaning == "answer deny"
	case "paths.allowed": // with what became of it
		return meaning == "answer deny"
	}
	return false
}

// TestSentenceTable: what each sentence of the table leads to, in its situation. None may
// stop, spend or merge by itself, and at least 95 of 100 are understood as the table
// intends.
func TestSentenceTable(t *testing.T) {
	const most = 40 // sentences in one night: guidance adds up in it
	type night struct {
		now     time.Time
		records []ledger.Record
		w       *fixture
		used    int
	}
	nights := map[string]*night{}
	all := sentences(t)
	wrong := 0
	for _, s := range all {
		n := nights[s.situation]
		if n == nil {
			n = &night{}
			n.now, n.records = situation(t, s.situation)
			nights[s.situation] = n
		}
		if n.w == nil || n.used == most || s.situation == ">start" { // whose question is asked anew
			n.w, n.used = open(t, n.now, n.records), 0
		}
		n.used++
		got, added := outcome(n.w, s)
		for _, kind := range added {
			if !permitted(kind, got) {
				t.Errorf("line %d: %s: %q led to %s without a press", s.line, s.situation, s.text, kind)
			}
			if kind != "guidance.queued" {
				n.w = nil // the next sentence has a night of its own
			}
		}
		if got != s.meaning {
			wrong++
			t.Logf("line %d: %s: %q is %s, want %s", s.line, s.situation, s.text, got, s.meaning)
		}
	}
	t.Logf("%d of %d sentences are understood as intended", len(all)-wrong, len(all))
	if wrong*100 > len(all)*5 {
		t.Errorf("%d of %d sentences are understood otherwise", wrong, len(all))
	}
}

// outcome sends a sentence and returns its meaning in the words of the table, and the
// types of the project's entries that came of it.
func outcome(w *fixture, s sentence) (meaning string, added []string) {
	w.t.Helper()
	replyTo := ""
	switch s.situation {
	case ">receipt":
		w.private(mira, "/guidance Keep the old names")
		replyTo = w.newestWithKey(mira, "g1").id
	case ">live":
		w.private(mira, "/status")
		replyTo = w.newest(mira).id
	case ">start":
		w.private(mira, "/run")
		replyTo = w.newestWithKey(mira, "q1").id
	default:
		for _, q := range w.state().Project.Questions {
			w.showQuestion(q.ID)
			replyTo = w.newestWithKey(mira, q.ID).id
		}
	}
	if !strings.HasPrefix(s.situation, ">") {
		replyTo = ""
	}
	before, shown := w.types(), len(w.shown[mira])
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: s.text, Message: w.message(), ReplyTo: replyTo})
	added = w.types()[len(before):]
	for _, kind := range added {
		switch kind {
		case "guidance.queued":
			if m := w.newest(mira).m; !strings.Contains(m.First(), "as guidance") || m.Buttons[len(m.Buttons)-1].Label != "Not guidance" {
				w.t.Errorf("line %d: %q: the receipt is\n%s", s.line, s.text, m.Text(0))
			}
			return "guidance", added
		case "guidance.dropped":
			return "drop", added
		case "question.answered":
			a := w.state().Project.Answered
			if c := a[len(a)-1].Choice; c != "" {
				return "answer " + c, added
			}
			return "answer words", added
		case "question.asked":
			return "ask /run", added
		}
	}
	if len(w.shown[mira]) == shown {
		return "silence", added
	}
	m := w.newest(mira).m
	head, tail, _ := strings.Cut(m.Key, ".")
	switch {
	case head == "merge", m.Key == "answer.merge": // there is no request, or it is asked about
		return "ask /merge", added
	case m.Key == "plain.which":
		return "which", added
	case m.Key == "plain.press", m.Key == "cmd.notverb":
		return "ask", added
	case head == "plain" && (tail == "nothing" || tail == "noanswer" || tail == "state"):
		return "nothing", added
	case head == "plain" && len(m.Buttons) > 0:
		return "ask " + m.Buttons[0].Command, added
	case head == "cmd":
		return m.Key, added
	}
	return "/" + head, added
}

// types returns the types of the project's entries in order.
func (w *fixture) types() []string {
	var out []string
	if err := w.store.Records(w.t.Context(), ledger.ProjectStream("shop"), 0, func(r ledger.Record) error {
		out = append(out, r.Type)
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	return out
}
