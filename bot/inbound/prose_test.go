package inbound_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/ledger/ledgertest"
)

// tildeHost is a host whose answers and states have a ~ around every sentence.
type tildeHost struct{ host }

func (h tildeHost) Do(ctx context.Context, in loop.Input) (ledger.Answer, error) {
	return h.DoWith(ctx, in, nil)
}

func (h tildeHost) DoWith(ctx context.Context, in loop.Input, with func(ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor)) (ledger.Answer, error) {
	var reply func(ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor)
	if with != nil {
		reply = func(a ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor) { return with(tildeAnswer(a)) }
	}
	a, err := h.host.DoWith(ctx, in, reply)
	return tildeAnswer(a), err
}

func tildeAnswer(a ledger.Answer) ledger.Answer {
	a.Text = tilde(a.Text)
	return a
}

func tilde(text string) string { return "~" + text + "~" }

// tildeOutbox is an outbox whose sent messages have a ~ around every line and label.
type tildeOutbox struct{ inbound.Outbox }

func (o tildeOutbox) SentAt(ctx context.Context, chat, id string) (ledger.SentMessage, bool, error) {
	return tildeSent(o.Outbox.SentAt(ctx, chat, id))
}

func (o tildeOutbox) SentFor(ctx context.Context, chat, key string) (ledger.SentMessage, bool, error) {
	return tildeSent(o.Outbox.SentFor(ctx, chat, key))
}

func (o tildeOutbox) AnswerTo(ctx context.Context, chat, replyTo string) (ledger.SentMessage, bool, error) {
	return tildeSent(o.Outbox.AnswerTo(ctx, chat, replyTo))
}

func tildeSent(s ledger.SentMessage, found bool, err error) (ledger.SentMessage, bool, error) {
	var m bot.Message
	if json.Unmarshal(s.Body, &m) == nil {
		for n := range m.Lines {
			m.Lines[n].Text = tilde(m.Lines[n].Text)
		}
		for n := range m.Buttons {
			m.Buttons[n].Label = tilde(m.Buttons[n].Label)
		}
		s.Body, _ = json.Marshal(m)
	}
	return s, found, err
}

// TestInputsIgnoreSentences: what a command, a press or a reply does, and the
// structure of what is said about it, does not depend on a sentence of the ledger,
// of an answer or of a message that a chat shows.
func TestInputsIgnoreSentences(t *testing.T) {
	press := func(chat, key, command string) func(*world) {
		return func(w *world) {
			w.t.Helper()
			s := w.newestWithKey(chat, key)
			for n, b := range s.m.Buttons {
				if b.Command == command {
					w.pressData(mira, chat, s.id, telegram.Data(s.m, n))
					return
				}
			}
			w.t.Fatalf("%s has no button %q:\n%s", key, command, screen(s.m))
		}
	}
	newest := func(command string) func(*world) { return func(w *world) { press(mira, w.newest(mira).key, command)(w) } }
	say := func(text string) func(*world) { return func(w *world) { w.private(mira, text) } }
	reply := func(key, text string) func(*world) {
		return func(w *world) {
			w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: text, Message: w.message(), ReplyTo: w.newestWithKey(mira, key).id})
		}
	}
	cases := map[string][]func(*world){
		"answer":          {say("q1 retry"), say("q1 skip"), say("q1 undo")},
		"answer words":    {say("q1 guide By line")},
		"press":           {press(mira, "q1", "q1 retry"), say("q1 skip"), press(mira, "q1", "q1 undo")},
		"press for words": {press(mira, "q1", "q1 guide WORDS"), func(w *world) { reply(w.newest(mira).key, "By line")(w) }},
		"option":          {press(mira, "q2", "q2 a"), press(mira, "q2", "q2 undo")},
		"reply":           {reply("q1", "retry"), reply("q2", "Only letters")},
		"guidance":        {say("Wrap it"), reply("g1", "drop"), reply("g1", "keep")},
		"no hat":          {say("/guidance @bulder Keep it"), newest("/guidance @builder Keep it")},
		"no command":      {say("/guidence Keep it"), newest("/guidance Keep it")},
		"tasks":           {say("/skip 3 4 6"), say("/retry 2 3"), say("/next 1"), say("/skip 99")},
		"run":             {say("/pause"), say("/resume"), say("/pause now"), say("/stop now"), say("/run"), say("/stop")},
		"now":             {say("/now Keep names"), say("/now")},
		"reads":           {say("/status"), say("/queue"), say("/log"), say("/task 2"), say("/q"), say("q1"), say("q9 a"), say("/frob")},
	}
	for name, steps := range cases {
		t.Run(name, func(t *testing.T) {
			play := func(other bool) (out []string) {
				w := newWorld(t)
				if other {
					var records []ledger.Record
					for _, stream := range []string{ledger.SharedStream, ledger.ProjectStream("shop")} {
						if err := w.store.Records(t.Context(), stream, 0, func(r ledger.Record) error {
							e, err := r.Entry()
							if err != nil {
								return err
							}
							n, err := ledgertest.Reword(t, e, tilde).Record()
							n.Seq = r.Seq
							records = append(records, n)
							return err
						}); err != nil {
							t.Fatal(err)
						}
					}
					w = open(t, w.now, records)
					w.foul = true
					o := w.options()
					o.Service, o.Outbox = tildeHost{host{w}}, tildeOutbox{w.store}
					w.r = inbound.New(o)
				}
				w.showQuestion("q1")
				w.showQuestion("q2")
				for _, step := range steps {
					step(w)
					for _, who := range []string{mira, ana, ben} {
						for _, s := range w.shown[who] {
							out = append(out, fmt.Sprintf("%s %s %s %s to=%s silent=%v: %s", who, s.id, s.key, s.class, s.replyTo, s.silent, messagelint.Structure(s.m)))
						}
					}
					for _, kind := range []string{"guidance.queued", "guidance.dropped", "question.asked", "question.answered", "answer.undone", "task.set", "task.next", "run.state", "run.ended", "session.cut"} {
						out = append(out, fmt.Sprintf("%s %d", kind, w.entries(kind)))
					}
					out = append(out, fmt.Sprintf("%d toasts", len(w.toasts)))
				}
				return out
			}
			if diff := cmp.Diff(play(false), play(true)); diff != "" {
				t.Errorf("other sentences, another result: (-as told +with ~)\n%s", diff)
			}
		})
	}
}
