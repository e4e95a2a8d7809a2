package inbound

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// corrects reports whether an edit corrects a message that nothing was done for: one that
// was not understood, or whose addressee is not there. It is then handled as if it were
// sent now.
func (v *request) corrects(ctx context.Context) (bool, error) {
	sent, found, err := v.o.Outbox.AnswerTo(ctx, v.in.Chat, v.in.Message)
	if err != nil {
		return false, fmt.Errorf("look up the answer to an edited message: %w", err)
	}
	var m bot.Message
	if !found || json.Unmarshal(sent.Body, &m) != nil {
		return false, nil
	}
	return slices.Contains(notUnderstood, m.Key), nil
}

// notUnderstood lists the keys of answers to messages that nothing was done for.
var notUnderstood = []string{"cmd.unknown", "cmd.usage", "cmd.notask", "cmd.noproject", "guidance.nohat"}

// edited changes guidance that is still queued when its author edits the
// message (docs/spec 5.3). It ignores any other edit: an edited command is not
// carried out again.
func (v *request) edited(ctx context.Context) error {
	sent, found, err := v.o.Outbox.AnswerTo(ctx, v.in.Chat, v.in.Message)
	if err != nil {
		return fmt.Errorf("look up the receipt of an edited message: %w", err)
	}
	if !found || !itemKey.MatchString(sent.Key) {
		return v.editedAnswer(ctx)
	}
	v.readSubject(sent)
	v.receiptID = sent.ID
	s, _ := v.o.Service.State(v.project)
	i, ok := s.Project.Guidance.Get(sent.Key)
	text, guides := guidanceIn(v.in.Text)
	if !ok || !guides {
		return v.commit(ctx)
	}
	if !v.who.Role.May(ledger.RoleSteer) {
		return v.forbidden(ctx, bot.Command{Verb: bot.VerbGuidance})
	}
	address, words := guidance.Parse(text)
	switch {
	case strings.TrimSpace(words) == i.Text:
		return v.commit(ctx)
	case address != (guidance.Address{}) && !sameAddress(s, i, address):
		return v.commit(ctx, v.answer(otherAddressee(i, v.project)))
	}
	in := v.input(v.project, loop.EditGuidance{ID: i.ID, Text: words})
	in.Role = v.who.Role
	_, err = v.o.Service.DoWith(ctx, in, func(a ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor) {
		return v.replies(s, in, a), v.in.Cursor
	})
	return err
}

// editedAnswer tells who edits their answer in words to a question that it stands as it was
// first sent, with a button that hands the new words on. Other edits change nothing.
func (v *request) editedAnswer(ctx context.Context) error {
	key, found, err := v.repliedTo(ctx)
	if err != nil {
		return err
	}
	s, _ := v.o.Service.State(v.project)
	first, settled := s.Project.SettledQuestion(bot.QuestionOf(key))
	words := strings.TrimSpace(v.in.Text)
	if !found || !settled || first.Actor != v.in.Actor || first.Words == "" || words == "" || words == strings.TrimSpace(first.Words) {
		return v.commit(ctx)
	}
	v.in.Edited = false // it has no receipt: the reply is to the message itself
	m := bot.Conflict(first, v.in.Actor, "", words, v.now)
	m.Project = v.project
	return v.commit(ctx, v.answer(m))
}

// guidanceIn returns the guidance in a text, and whether there is any.
func guidanceIn(text string) (words string, guides bool) {
	c, err := bot.Parse(text)
	switch {
	case err != nil:
		// A first word that equals a command is still guidance in an edit.
		return strings.TrimSpace(text), !strings.HasPrefix(strings.TrimSpace(text), "/") && strings.TrimSpace(text) != ""
	case c.Verb == bot.VerbGuidance, c.Verb == bot.VerbWords:
		return c.Words, strings.TrimSpace(c.Words) != ""
	}
	return "", false
}

// sameAddress reports whether an item has the address a.
func sameAddress(s loop.State, i guidance.Item, a guidance.Address) bool {
	task := ""
	if a.Task != "" {
		task = taskID(s, a.Task)
	}
	return a.Hat == i.Hat && a.Sticky == i.Sticky && task == i.Task
}
