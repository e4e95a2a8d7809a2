package inbound

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// onceKey begins the key of a message that offers to send a person's text
// elsewhere. After one press, its buttons are removed.
const onceKey = "once/"

// liveKey begins the keys of messages that edit themselves (bot.LiveKey).
const liveKey = "status/"

// asksWords matches a button's command that needs text: "q5 guide WORDS", "q4
// fail WHAT YOU SAW".
var asksWords = regexp.MustCompile(`^(.*?)(?: [A-Z]{2,})+$`)

// press handles a button press as the command that the button stands for (docs/spec
// 22).
func (v *request) press(ctx context.Context) error {
	sent, found, err := v.o.Outbox.SentAt(ctx, v.in.Chat, v.in.Message)
	if err != nil {
		return fmt.Errorf("look up the message that was pressed: %w", err)
	}
	if found {
		v.readSubject(sent)
		if v.stands, err = v.standsOn(ctx, sent); err != nil {
			return err
		}
	}
	twin, ok := bot.Pressed(v.pressed, v.in.Press)
	if !ok || twin == "" {
		return v.dead(ctx, "This button is from an older message. Now: /status")
	}
	if strings.HasPrefix(v.key, onceKey) && len(v.pressed.Buttons) == 0 {
		return v.dead(ctx, "This was answered already. Nothing changed.")
	}
	c, _ := bot.Parse(twin)
	if now, old := v.oldRun(c); old {
		return v.dead(ctx, now)
	}
	if command, is := v.needsWords(twin); is {
		if !v.who.Role.May(bot.RequiredRoleHere(v.o.Service, v.project, c)) {
			return v.forbidden(ctx, c)
		}
		if why, is := v.inVain(c); is {
			return v.dead(ctx, why)
		}
		return v.askWords(ctx, command)
	}
	return v.run(ctx, twin)
}

// dead tells the sender why a pressed button has no effect any more, and removes
// the buttons.
func (v *request) dead(ctx context.Context, why string) error {
	if err := v.say(ctx, v.unbuttoned()...); err != nil {
		return err
	}
	v.notice(ctx, why)
	return nil
}

// standsOn reports whether the message is the one that an edit of its key
// changes and still shows its stored content. An older copy of a question has
// lost its key, and a live message edits itself.
func (v *request) standsOn(ctx context.Context, sent ledger.SentMessage) (bool, error) {
	if sent.Key == "" || strings.HasPrefix(sent.Key, liveKey) {
		return false, nil
	}
	newest, found, err := v.o.Outbox.SentFor(ctx, v.in.Chat, sent.Key)
	if err != nil {
		return false, fmt.Errorf("look up the newest message of %s: %w", sent.Key, err)
	}
	return found && newest.ID == sent.ID, nil
}

// unbuttoned returns the edit that removes the pressed message's buttons.
func (v *request) unbuttoned() []ledger.Outgoing {
	if !v.stands || len(v.pressed.Buttons) == 0 {
		return nil
	}
	m := v.pressed
	m.Buttons = nil
	if strings.HasPrefix(v.key, onceKey) {
		m.Lines = append(slices.Clone(m.Lines), bot.Line{Text: "Answered."})
		m.Lines = slices.DeleteFunc(m.Lines, func(l bot.Line) bool { return strings.HasPrefix(l.Text, "Not done yet") })
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return []ledger.Outgoing{{Chat: v.in.Chat, Key: v.key, Edit: true, Class: ledger.ClassChatter, Silent: true, Body: body}}
}

// oldRun reports whether the button belongs to a run that is over and would now
// pause or stop another one.
func (v *request) oldRun(c bot.Command) (now string, old bool) {
	m := runKey.FindStringSubmatch(v.key)
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
// command that the text completes. A command that quotes a person's text in
// capitals needs none: its button has no "…".
func (v *request) needsWords(twin string) (command string, is bool) {
	m := asksWords.FindStringSubmatch(twin)
	if m == nil {
		return "", false
	}
	known := false
	for _, b := range v.pressed.Buttons {
		if b.Command == twin {
			if known = true; strings.HasSuffix(b.Label, "…") {
				return m[1], true
			}
		}
	}
	_, err := bot.Parse(twin)
	return m[1], !known && err == nil // the message is unknown, or has other buttons now
}

// askWords asks for the text that a button needs, with a form or a message. The
// form's content, or the reply to the message, completes the command.
func (v *request) askWords(ctx context.Context, command string) error {
	key := wordsFor(command)
	ask := wordsMessage(key, command, v.project, v.pressed.About)
	if v.o.Ask(ctx, v.in, command, ask) {
		return v.say(ctx)
	}
	o := v.answer(ask)
	o.Key = key
	if err := v.say(ctx, o); err != nil {
		return err
	}
	v.notice(ctx, "")
	return nil
}

// pressedAnswer returns the messages about a pressed answer. The question's own
// message changes by itself, and the acknowledgement tells a refusal; an answer
// pressed below another message is confirmed there.
func (v *request) pressedAnswer(a ledger.Answer) []ledger.Outgoing {
	switch {
	case !a.OK && a.Code == ledger.CodeSettled:
		return nil // the question's message shows it
	case !a.OK && a.Code == ledger.CodeNoQuestion:
		if bot.QuestionOf(v.key) != "" {
			return v.unbuttoned()
		}
		return nil
	case a.OK && bot.QuestionOf(v.key) != "":
		return nil
	}
	m := bot.FromAnswer("answer", a, "")
	m.Project = v.project
	return []ledger.Outgoing{v.answer(m)}
}

// inVain reports whether a button asks for text for a question that is already
// answered, and why, so that nobody types it for nothing.
func (v *request) inVain(c bot.Command) (why string, is bool) {
	s, _ := v.o.Service.State(v.project)
	settled, found := s.Project.SettledQuestion(c.Target)
	if _, open := s.Project.Question(c.Target); c.Verb != bot.VerbAnswer || open || !found {
		return "", false
	}
	choice, _, _ := strings.Cut(c.Words, " ")
	return bot.ConflictText(settled, v.in.Actor, choice, v.now), true
}

// conflict returns the answer that came first, if a came too late. It reports
// false if the answer itself says more, such as that it cannot be taken back.
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
	if v.in.Press == "" {
		return ""
	}
	b, answers := in.Body.(loop.AnswerQuestion)
	switch {
	case answers && a.Code == ledger.CodeSettled:
		if s, ok := v.conflict(in, a); ok {
			return bot.ConflictText(s, v.in.Actor, b.Choice, v.now)
		}
		return a.Text
	case answers, v.onReceipt():
		return bot.FromAnswer(in.Body.InputKind(), a, "").Text(0)
	}
	return ""
}
