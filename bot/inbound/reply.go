package inbound

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// readReply is the reply to a line that only reads, or that leads to several inputs.
func (v *request) readReply(m bot.Message, line string) ledger.Outgoing {
	live := strings.HasPrefix(m.Key, "status.")
	class := ledger.ClassLook
	switch {
	case live:
	case m.Cause != "" || m.Refused:
		class = ledger.ClassReply // the sender must learn whether something was done
	case v.in.ReplyTo == "": // what a line means in a reply, that message says too
		m.Look = line
	}
	o := v.outgoing(m, class)
	if live {
		o.Key = bot.LiveKey(m.Project)
		if !v.in.Unseen {
			o.ReplyTo = ""
		}
	}
	return o
}

// keyOfReply returns the key of a reply: one with buttons can be edited once these are
// spent.
func (v *request) keyOfReply(m bot.Message) string {
	switch {
	case repeatsText(m):
		return v.onceKey(m.Project)
	case len(m.Buttons) > 0:
		return bot.ReplyKey + m.Project + "/" + strings.TrimPrefix(v.onceKey(m.Project), onceKey)
	}
	return ""
}

// onceKey returns the key of a reply whose buttons are spent by one press. It ends with
// the run under way, so that a [Stop] stops no later one.
func (v *request) onceKey(project string) string {
	key := onceKey + v.in.Key
	if s, _ := v.o.Service.State(project); !s.Project.Run.Over() {
		key += "/" + s.Project.Run.ID
	}
	return key
}

// repeatsText reports whether the buttons of a message send a text of the person, or
// confirm it, so that a second press would do it twice.
func repeatsText(m bot.Message) bool {
	if strings.HasPrefix(m.Key, "plain.") {
		return len(m.Buttons) > 0
	}
	switch m.Key {
	case "cmd.whichproject", "cmd.unclear", "cmd.unknown", "guidance.dropall", "guidance.nohat", "guidance.toolate":
		return len(m.Buttons) > 0
	}
	return false
}

// replies returns the messages that answer an input, nil if another message
// already tells the result. before is the state that the answer was decided on,
// or slightly older.
func (v *request) replies(before loop.State, in loop.Input, a ledger.Answer) []ledger.Outgoing {
	if a.Code == ledger.CodeTakenOut {
		return nil
	}
	m := bot.FromAnswer(in.Body.InputKind(), a, "")
	m.Project = in.Project
	switch b := in.Body.(type) {
	case loop.Guide:
		if a.OK {
			address, words := guidance.Parse(b.Text)
			return v.receipt(before, a, guidance.Item{Text: words, Hat: address.Hat, Task: taskID(before, address.Task), Sticky: address.Sticky})
		}
	case loop.HearVoice:
		if a.OK {
			o := v.answer(bot.Hearing(in.Project, a.ID))
			o.Key = a.ID
			return []ledger.Outgoing{o}
		}
	case loop.Now:
		if a.OK && a.Code == ledger.CodeQueued { // its session had ended
			address, words := guidance.Parse(b.Text)
			return v.receipt(before, a, guidance.Item{Text: words, Hat: address.Hat, Task: taskID(before, address.Task), Sticky: address.Sticky})
		}
	case loop.AddTasks, loop.EditAdd:
		m = bot.AddAnswer(in.Project, b, a)
		if a.OK && a.Code == ledger.CodeAdding {
			o := v.answer(m)
			o.Key, o.Ahead = a.ID, false
			return []ledger.Outgoing{o}
		}
	case loop.TakeIdea:
		m = bot.IdeaAnswer(in.Project, a)
	case loop.UndoAdd:
		m = bot.AddAnswer(in.Project, b, a)
		if a.OK && v.in.Press != "" && v.key == a.ID {
			return nil // its message shows the outcome
		}
	case loop.EditGuidance:
		if a.OK {
			return nil // the receipt shows it
		}
		if i, ok := before.Project.Guidance.Get(b.ID); ok && a.Code == ledger.CodeInUse {
			m = bot.TooLate(before, i, b.Text, v.now)
		}
	case loop.DropGuidance, loop.KeepGuidance:
		if d, is := b.(loop.DropGuidance); is && a.OK && v.takes {
			return []ledger.Outgoing{v.answer(bot.Meant(before, d.ID))}
		}
		if a.OK && v.onReceipt() {
			return nil
		}
		if d, is := b.(loop.DropGuidance); is && a.Code == ledger.CodeInUse {
			if i, ok := before.Project.Guidance.Get(d.ID); ok {
				m = bot.TooLate(before, i, "", v.now)
			}
		}
	case loop.AnswerQuestion:
		if q, open := before.Project.Question(b.Question); open && a.OK {
			if taken, ok := bot.Taken(q, b.Choice, b.Words); ok {
				m = taken
				m.Project = in.Project
			}
		}
		if v.in.Press != "" {
			return v.pressedAnswer(a, m)
		}
		if s, ok := v.conflict(in, a); ok {
			m = bot.Conflict(s, v.in.Actor, b.Choice, b.Words, v.now)
			m.Project = in.Project
		}
		if words, task := answerWords(before, b); a.OK && itemKey.MatchString(a.ID) && words != "" {
			return v.receipt(before, a, guidance.Item{Text: words, Task: task})
		}
	}
	if a.Code == ledger.CodeAsked {
		if v.in.Private {
			return nil // the question appears in this chat
		}
		o := v.answer(questionElsewhere(a.ID, in.Project))
		o.Key = bot.ElsewhereKey(a.ID)
		return []ledger.Outgoing{o}
	}
	return []ledger.Outgoing{v.answer(m)}
}

// answerWords returns the words of an answer that became guidance, and the folded id of
// its task. A question that expired takes an option, or a word of a person's own in its
// place.
func answerWords(s loop.State, b loop.AnswerQuestion) (words, task string) {
	if q, open := s.Project.Question(b.Question); open {
		return strings.TrimSpace(b.Words), ledger.FoldID(q.Task)
	}
	settled, _ := s.Project.SettledQuestion(b.Question)
	task = ledger.FoldID(settled.Subject.Task)
	if q := settled.Late; q != nil {
		if n := bot.OptionOf(*q, b.Choice); n >= 0 {
			return strings.TrimSpace(q.Options[n] + " " + b.Words), task
		}
	}
	return strings.TrimSpace(b.Choice + " " + b.Words), task
}

// saySent is the age at which the receipt of a message names its time.
const saySent = 10 * time.Minute

// receipt returns the message that shows a guidance item's progress from now on.
func (v *request) receipt(s loop.State, a ledger.Answer, i guidance.Item) []ledger.Outgoing {
	i.ID, i.State = a.ID, guidance.Queued
	s = v.withFiles(s, i.ID)
	forecast := a.Forecast
	if a.Code != ledger.CodeQueued { // the answer to a question, whose words were queued
		forecast = loop.Forecast(s, i)
	}
	sent := v.in.Sent
	if v.in.Press != "" || sent.IsZero() || v.now.Sub(sent) < saySent {
		sent = time.Time{}
	}
	queued := bot.Queued
	if v.plain && a.Code == ledger.CodeQueued {
		queued = bot.QueuedWords
	}
	o := v.answer(queued(s, i, forecast, v.now, sent))
	o.Key, o.Ahead = i.ID, false // answers overtake receipts
	if v.in.Press == "" && a.Code == ledger.CodeQueued {
		o.Joins = v.burst()
	}
	return []ledger.Outgoing{o}
}

// burst names the receipts that one message may hold (docs/spec 23.4): where several
// people write, those of one person, to whose message it replies; and of one thread. A
// command without a message is answered outside of all threads.
func (v *request) burst() string {
	name := "receipts"
	if !v.in.Private {
		name += "/" + v.in.Actor
	}
	switch {
	case v.in.Unseen:
		name += "/unseen"
	case v.in.Thread != "":
		name += "/" + v.in.Thread
	}
	return name
}

// taskID returns the folded id of a task as typed.
func taskID(s loop.State, typed string) string {
	if t, ok := bot.FindTask(s, typed); ok {
		return ledger.FoldID(t.Task.ID)
	}
	return ledger.FoldID(typed)
}

// onReceipt reports whether the pressed button is on a guidance item's receipt.
func (v *request) onReceipt() bool { return v.in.Press != "" && itemKey.MatchString(v.key) }
