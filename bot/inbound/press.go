package inbound

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// onceKey begins the key of a message with buttons that send a person's text.
// They are removed after one press, because a second would send the text again.
const onceKey = "once/"

// answered ends a message with onceKey after its press.
const answered = "Answered."

// liveKey begins the keys of live messages (bot.LiveKey), which are edited
// without being stored.
const liveKey = "status/"

// press handles a button press as the command that the button stands for
// (docs/spec 22).
func (v *request) press(ctx context.Context) error {
	sent, found, err := v.o.Outbox.SentAt(ctx, v.in.Chat, v.in.Message)
	if err != nil {
		return fmt.Errorf("look up the message that was pressed: %w", err)
	}
	if found {
		v.readSubject(sent)
		if v.current, err = v.isCurrent(ctx, sent); err != nil {
			return err
		}
	}
	twin, ok := bot.Pressed(v.pressed, v.in.Press)
	if !ok || twin == "" {
		return v.deadButton(ctx, "This button is from an older message. Now: /status")
	}
	if strings.HasPrefix(v.key, onceKey) && len(v.pressed.Buttons) == 0 {
		return v.deadButton(ctx, "This was answered already. Nothing changed.")
	}
	c, _ := bot.Parse(twin)
	if now, old := v.isOfPastRun(c); old {
		return v.deadButton(ctx, now)
	}
	if why, is := v.spent(twin); is && (c.Verb != bot.VerbAnswer || c.Undoes()) { // an answer that came first is named below
		return v.deadButton(ctx, why+". Nothing changed.")
	}
	if command, is := v.needsWords(twin); is {
		if !v.who.Role.May(bot.RequiredRoleHere(v.o.Service, v.project, v.in.Private, c)) {
			return v.forbidden(ctx, c)
		}
		if why, is := v.alreadyAnswered(c); is {
			return v.deadButton(ctx, why)
		}
		return v.askWords(ctx, command)
	}
	return v.run(ctx, twin)
}

// spent reports whether the command of a button can do nothing any more, and why. What
// overrules an answer is offered to do something again.
func (v *request) spent(twin string) (why string, is bool) {
	if v.pressed.Key == "press.second" {
		return "", false
	}
	return bot.ButtonSpent(v.o.Service, bot.Request{Time: v.now, Actor: v.in.Actor, Project: v.project, Text: twin})
}

// deadButton tells the sender why a pressed button has no effect any more, and
// removes the buttons.
func (v *request) deadButton(ctx context.Context, why string) error {
	if err := v.commit(ctx, v.removeButtons("Nothing was done.")...); err != nil {
		return err
	}
	v.notice(ctx, why)
	return nil
}

// isCurrent reports whether the message is the last one sent under its key and
// still shows its stored content. Both fail for an older copy of a question,
// which has lost its key, and for a live message, whose edits are not stored.
func (v *request) isCurrent(ctx context.Context, sent ledger.SentMessage) (bool, error) {
	if sent.Key == "" || strings.HasPrefix(sent.Key, liveKey) {
		return false, nil
	}
	newest, found, err := v.o.Outbox.SentFor(ctx, v.in.Chat, sent.Key)
	if err != nil {
		return false, fmt.Errorf("look up the newest message of %s: %w", sent.Key, err)
	}
	return found && newest.ID == sent.ID, nil
}

// removeButtons returns the edit that removes the pressed message's spent buttons, and all
// of a message that one press has answered, or whose subject is over. outcome ends a message
// that is spent by one press.
func (v *request) removeButtons(outcome string) []ledger.Outgoing {
	if !v.current || len(v.pressed.Buttons) == 0 {
		return nil
	}
	m := v.pressed
	m.Buttons = slices.DeleteFunc(slices.Clone(m.Buttons), func(b bot.Button) bool {
		_, is := v.spent(b.Command)
		return is
	})
	if outcome == answered || len(m.Buttons) == len(v.pressed.Buttons) {
		m.Buttons = nil
	}
	if strings.HasPrefix(v.key, onceKey) && len(m.Buttons) == 0 {
		m.Lines = append(slices.Clone(m.Lines), bot.Line{Text: outcome})
		m.Lines = slices.DeleteFunc(m.Lines, func(l bot.Line) bool { return l.Pending })
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return []ledger.Outgoing{{Chat: v.in.Chat, Key: v.key, Edit: true, Class: ledger.ClassChatter, Silent: true, Body: body}}
}

// removeSpent returns the edit that removes the pressed message's spent buttons, none if
// it has none.
func (v *request) removeSpent() []ledger.Outgoing {
	if !slices.ContainsFunc(v.pressed.Buttons, func(b bot.Button) bool { _, is := v.spent(b.Command); return is }) {
		return nil
	}
	return v.removeButtons("")
}

// isOfPastRun reports whether the button belongs to a run that is over, so that
// its command would pause or stop a later run.
func (v *request) isOfPastRun(c bot.Command) (now string, old bool) {
	m := runKey.FindStringSubmatch(cmp.Or(v.pressed.Run, v.key))
	if m == nil || (c.Verb != bot.VerbPause && c.Verb != bot.VerbResume && c.Verb != bot.VerbStop) {
		return "", false
	}
	s, _ := v.o.Service.State(v.project)
	r := s.Project.Run
	switch {
	case r != nil && r.ID == m[1] && !r.Over():
		return "", false
	case r.Over():
		return m[1] + " is over. Nothing runs now; /status", true
	}
	return m[1] + " is over. Now: " + r.ID + ", /status", true
}

// needsWords reports whether a button's command needs text, and returns the
// command that the text completes. A command that only quotes a person's text
// in capitals needs no text: its button has no "…".
func (v *request) needsWords(twin string) (command string, is bool) {
	for _, b := range v.pressed.Buttons {
		if b.Command == twin {
			return b.Prefix(), b.Placeholder != ""
		}
	}
	// The message is unknown, or has other buttons now.
	b := bot.Button{Command: twin, Placeholder: placeholderOf(twin)}
	_, err := bot.Parse(twin)
	return b.Prefix(), b.Placeholder != "" && err == nil
}

// askWords asks for the text that a button needs, with a form or a message. The
// form's content, or the reply to the message, completes the command.
func (v *request) askWords(ctx context.Context, command string) error {
	key := wordsFor(command)
	ask := wordsMessage(key, command, v.project, v.pressed.About)
	if v.o.Ask(ctx, v.in, command, ask) {
		return v.commit(ctx)
	}
	o := v.answer(ask)
	o.Key = key
	if err := v.commit(ctx, o); err != nil {
		return err
	}
	v.notice(ctx, "")
	return nil
}

// pressedAnswer returns the messages about a pressed answer. The question's own
// message is edited by package notify, and the acknowledgement tells a refusal.
// An answer pressed below another message is confirmed in a reply, m.
func (v *request) pressedAnswer(a ledger.Answer, m bot.Message) []ledger.Outgoing {
	switch {
	case !a.OK && a.Code == ledger.CodeSettled && bot.QuestionOf(v.key) != "":
		return nil // the question's message shows the answer
	case !a.OK && a.Code == ledger.CodeSettled:
		return v.removeSpent()
	case !a.OK && a.Code == ledger.CodeNoQuestion:
		if bot.QuestionOf(v.key) != "" {
			return v.removeButtons("")
		}
		return nil
	case a.OK && bot.QuestionOf(v.key) != "":
		return nil
	}
	m.Project = v.project
	return []ledger.Outgoing{v.answer(m)}
}

// alreadyAnswered reports whether a button asks for text for a question that is
// already answered, and why, so that nobody types the text for nothing.
func (v *request) alreadyAnswered(c bot.Command) (why string, is bool) {
	s, _ := v.o.Service.State(v.project)
	settled, found := s.Project.SettledQuestion(c.Target)
	if _, open := s.Project.Question(c.Target); c.Verb != bot.VerbAnswer || open || !found {
		return "", false
	}
	choice, _, _ := strings.Cut(c.Words, " ")
	return bot.ConflictText(settled, v.in.Actor, choice, v.now), true
}

// conflict returns the answer that came first, if a came too late. It reports
// false if a's own text says more, for example that it cannot be taken back.
func (v *request) conflict(in loop.Input, a ledger.Answer) (loop.Answered, bool) {
	b, answers := in.Body.(loop.AnswerQuestion)
	if !answers || a.Code != ledger.CodeSettled || strings.EqualFold(strings.TrimSpace(b.Choice), "undo") {
		return loop.Answered{}, false
	}
	s, _ := v.o.Service.State(in.Project)
	return s.Project.SettledQuestion(b.Question)
}

// toastFor returns the acknowledgement of a press: "" if a message tells the
// result, else the answer.
func (v *request) toastFor(in loop.Input, a ledger.Answer) string {
	if v.in.Press == "" || v.takes || strings.HasPrefix(v.key, onceKey) && a.OK { // a message tells it
		return ""
	}
	b, answers := in.Body.(loop.AnswerQuestion)
	switch {
	case a.OK && v.o.NoticeStays:
		return ""
	case answers && a.Code == ledger.CodeSettled:
		if s, ok := v.conflict(in, a); ok {
			return bot.ConflictText(s, v.in.Actor, b.Choice, v.now)
		}
		return bot.Foreign(a.Text)
	case answers, v.onReceipt():
		return bot.FromAnswer(in.Body.InputKind(), a, "").Text(0)
	}
	return ""
}
