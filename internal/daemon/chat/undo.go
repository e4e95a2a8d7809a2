package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// noteUndoable queues an answer that people may undo for a while. It never
// blocks the engine: if the queue is full, the button remains, and pressing it
// later says that it is too late.
func (h *Hub) noteUndoable(before loop.State, e ledger.Entry) {
	b, ok := e.Body.(ledger.QuestionAnswered)
	if h == nil || !ok {
		return
	}
	q, ok := before.Project.Question(b.ID)
	if !ok || !q.Undoable(b.Choice) {
		return
	}
	select {
	case h.undoable <- answered{before.Project.Name, b.ID, e.Time}:
	default:
	}
}

// expireUndos removes the [Undo] button from each answer whose time is over,
// until ctx ends. It begins with the answers that an earlier process left. All
// answers have the same time limit, so their order is that of the queue.
func (h *Hub) expireUndos(ctx context.Context) {
	var all []answered
	for _, name := range h.o.Engine.Projects() {
		s, _ := h.o.Engine.State(name)
		for _, x := range s.Project.Answered {
			if x.Before != nil {
				all = append(all, answered{name, x.ID, x.At})
			}
		}
	}
	slices.SortFunc(all, func(a, b answered) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.question, b.question)) })
	for {
		var a answered
		if len(all) > 0 {
			a, all = all[0], all[1:]
		} else {
			select {
			case a = <-h.undoable:
			case <-ctx.Done():
				return
			}
		}
		over := time.NewTimer(min(time.Until(a.at.Add(loop.UndoTime)), loop.UndoTime)) // the clock may have been set back
		select {
		case <-over.C:
		case <-ctx.Done():
			over.Stop()
			return
		}
		h.expireUndo(ctx, a, time.Now())
	}
}

// expireUndo removes the [Undo] button from an answer in every chat that shows
// it.
func (h *Hub) expireUndo(ctx context.Context, a answered, now time.Time) {
	s, _ := h.o.Engine.State(a.project)
	messages := h.notify.RemoveUndo(s, a.question, now, func(chat, key string) (m bot.Message, ok bool) {
		sent, found, err := h.o.Store.SentFor(ctx, chat, key)
		return m, err == nil && found && json.Unmarshal(sent.Body, &m) == nil
	})
	if len(messages) == 0 {
		return
	}
	if err := h.o.Engine.Say(ctx, "settled:"+a.question+":"+a.at.UTC().Format(time.RFC3339Nano), now, messages, nil); err != nil && ctx.Err() == nil {
		h.o.Log.Warn("an old Undo stays", "question", a.question, "error", err)
	}
}
