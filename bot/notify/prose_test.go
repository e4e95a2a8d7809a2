package notify_test

import (
	"encoding/json"
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/ledger/ledgertest"
)

// compose delivers the messages of a decision. With a ~ around every sentence
// of the state, the entries and the answer, the messages are the same: to the same
// chats, with the same keys, classes, sounds and buttons.
func (p *fixture) compose(before loop.State, d loop.Decision, in loop.Input) {
	p.t.Helper()
	out := p.n.Compose(before, d, in)
	other := p.tilde(before)
	again := loop.Decision{State: other, Effects: d.Effects, Answer: d.Answer}
	again.Answer.Text = p.mark(d.Answer.Text)
	for _, e := range d.Entries {
		again.Add(ledgertest.Reword(p.t, e, p.mark))
	}
	if diff := cmp.Diff(p.structure(out), p.structure(p.n.Compose(other, again, in))); diff != "" {
		p.t.Errorf("%s: other sentences, other messages: (-as composed +with ~)\n%s", in.Body.InputKind(), diff)
	}
	p.deliver(out)
}

func (p *fixture) mark(text string) string {
	p.prose++
	return "~" + text + "~"
}

// tilde returns a copy of a state with a ~ around every sentence.
func (p *fixture) tilde(s loop.State) loop.State {
	p.t.Helper()
	body, err := json.Marshal(s)
	if err != nil {
		p.t.Fatal(err)
	}
	var out loop.State
	if err := json.Unmarshal(body, &out); err != nil {
		p.t.Fatal(err)
	}
	ledgertest.RewordIn(&out, p.mark)
	tasks := out.Project.Tasks.Slice()
	ledgertest.RewordIn(&tasks, p.mark)
	out.Project.Tasks = loop.NewTaskList(tasks...)
	return out
}

func (p *fixture) structure(msgs []ledger.Outgoing) []string {
	p.t.Helper()
	var out []string
	for _, o := range msgs {
		var m bot.Message
		if err := json.Unmarshal(o.Body, &m); err != nil {
			p.t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %s edit=%v %s to=%s silent=%v: %s", o.Chat, o.Key, o.Edit, o.Class, o.ReplyTo, o.Silent, messagelint.Structure(m)))
	}
	return out
}
