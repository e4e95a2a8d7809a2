package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestLockstep runs random schedules on Store and Memory. Both must behave alike,
// and after each step the queue holds at most one edit of a key.
func TestLockstep(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++ // the round's own chats
		chats := []string{fmt.Sprintf("t:%d", n), fmt.Sprintf("t:%d/5", n), fmt.Sprintf("t:%d-2", n), fmt.Sprintf("t:%d-2/5", n)}
		w := lockstep{s: s, m: NewMemory(), chats: chats, storeIDs: map[int64]int64{}}
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			w.step(t, i)
			w.compareQueues(t)
		}
		w.compareShown(t)
	})
}

type lockstep struct {
	s        *Store
	m        *Memory
	chats    []string
	storeIDs map[int64]int64 // Store's id by Memory's
	ids      []int64         // every id of Memory that was ever read
	last     int             // last platform id
}

func (w *lockstep) step(t *rapid.T, i int) {
	ctx := t.Context()
	chat := rapid.SampledFrom(w.chats).Draw(t, "chat")
	key := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "key")
	class := rapid.SampledFrom([]ledger.MessageClass{ledger.ClassAsk, ledger.ClassChatter}).Draw(t, "class")
	at := entryTime.Add(time.Duration(i) * time.Minute)
	both := func(do func(l ledgerStore, id int64) (any, error), id int64) {
		mine, merr := do(w.m, id)
		theirs, serr := do(w.s, w.storeIDs[id])
		if errors.Is(merr, ledger.ErrReplaced) != errors.Is(serr, ledger.ErrReplaced) || (merr == nil) != (serr == nil) || mine != theirs {
			t.Fatalf("Memory: %v, %v; Store: %v, %v", mine, merr, theirs, serr)
		}
	}
	switch what := rapid.IntRange(0, 9).Draw(t, "what"); what {
	case 0, 1, 2, 3:
		m := ledger.Outgoing{
			Chat: chat, Key: key, Class: class, Edit: key != "" && what > 1, Body: fmt.Append(nil, i), ReplyTo: rapid.SampledFrom([]string{"", "7"}).Draw(t, "reply"),
		}
		both(func(l ledgerStore, _ int64) (any, error) {
			r, err := l.Commit(ctx, ledger.Batch{Time: at, Messages: []ledger.Outgoing{m}})
			return len(r.Chats), err
		}, 0)
	case 4:
		both(func(l ledgerStore, _ int64) (any, error) { return l.Forget(ctx, chat, class) }, 0)
	case 5:
		to := rapid.SampledFrom(w.chats).Draw(t, "to")
		both(func(l ledgerStore, _ int64) (any, error) { return nil, l.MoveChat(ctx, chat, to) }, 0)
	default:
		if len(w.ids) == 0 {
			return
		}
		id := rapid.SampledFrom(w.ids).Draw(t, "id")
		w.last++
		platform := fmt.Sprint(w.last)
		if old := rapid.Bool().Draw(t, "the target"); old {
			for _, q := range w.queued(ctx, chat) {
				if q.Edit && q.Target != "" {
					id, platform = q.ID, q.Target
				}
			}
		}
		both(func(l ledgerStore, id int64) (any, error) {
			switch what {
			case 6:
				return nil, l.AbortDelivery(ctx, id)
			case 7:
				return nil, l.Drop(ctx, id, "why")
			case 8:
				return nil, l.BeginDelivery(ctx, id)
			}
			return l.Sent(ctx, id, platform, at)
		}, id)
	}
}

func (w *lockstep) queued(ctx context.Context, chat string) []ledger.QueuedMessage {
	all, _ := w.m.Queued(ctx, chat)
	return all
}

func (w *lockstep) compareQueues(t *rapid.T) {
	ctx := t.Context()
	for _, chat := range w.chats {
		mine, merr := w.m.Queued(ctx, chat)
		theirs, serr := w.s.Queued(ctx, chat)
		if merr != nil || serr != nil || len(mine) != len(theirs) {
			t.Fatalf("%s: Memory has %+v, %v; Store %+v, %v", chat, mine, merr, theirs, serr)
		}
		edits := map[string]bool{}
		for i := range mine {
			id := mine[i].ID
			if known, ok := w.storeIDs[id]; ok && known != theirs[i].ID {
				t.Fatalf("%s: message %d of Memory was %d of Store and is %d", chat, id, known, theirs[i].ID)
			} else if !ok {
				w.storeIDs[id], w.ids = theirs[i].ID, append(w.ids, id)
			}
			if m := mine[i]; m.Edit {
				if edits[m.Key] {
					t.Fatalf("%s: two edits of %s are queued", chat, m.Key)
				}
				edits[m.Key] = true
				if i == 0 && m.Target == "" {
					t.Fatalf("%s: an edit of nothing is next: %+v", chat, m)
				}
			}
			theirs[i].ID = id
		}
		if d := cmp.Diff(mine, theirs); d != "" {
			t.Fatalf("%s (-Memory +Store):\n%s", chat, d)
		}
	}
}

func (w *lockstep) compareShown(t *rapid.T) {
	ctx := t.Context()
	for _, chat := range w.chats {
		for _, key := range []string{"a", "b"} {
			same := func(what string, of func(l ledgerStore) (ledger.SentMessage, bool, error)) {
				mine, mok, merr := of(w.m)
				theirs, sok, serr := of(w.s)
				if d := cmp.Diff(mine, theirs); d != "" || mok != sok || merr != nil || serr != nil {
					t.Fatalf("%s of %s (-Memory +Store): %v %v %v %v\n%s", what, chat, mok, sok, merr, serr, d)
				}
			}
			same(key, func(l ledgerStore) (ledger.SentMessage, bool, error) { return l.SentFor(ctx, chat, key) })
			same("answer", func(l ledgerStore) (ledger.SentMessage, bool, error) { return l.AnswerTo(ctx, chat, "7") })
		}
	}
}
