package loop

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// comment lets somebody comment on a request, and returns what it shows.
func (w *world) comment(r ledger.Request) []ledger.RequestComment {
	if w.remote.said == nil {
		w.remote.said, w.remote.wrote = map[int][]ledger.RequestComment{}, map[string]int{}
	}
	for range pick(w, 0, 0, 1, 1, 2, 30) {
		w.remote.comments++
		w.remote.said[r.Number] = append(w.remote.said[r.Number], ledger.RequestComment{
			ID:   fmt.Sprint("comment:", w.remote.comments),
			Kind: pick(w, ledger.CommentPlain, ledger.CommentLine, ledger.CommentChanges, ledger.CommentApprove), Author: pick(w, "ann", "ben", "x[bot]", ""),
			Writer: w.draw(3, "writer") > 0, Ours: w.draw(9, "ours") == 0, Body: pick(w, "Use cents", "/stop", "@planner hurry", " ", "!sticky #1 later"), Time: w.now,
		})
	}
	if all := w.remote.said[r.Number]; len(all) > 0 && w.draw(9, "deleted") == 0 {
		w.remote.said[r.Number] = all[1:]
	}
	return w.remote.said[r.Number]
}

// reply carries out a reply. It fails for a second one with the same key that is not
// the same reply, and for a comment that was never guidance.
func (w *world) reply(e ledger.Effect, b ledger.EffectReply) {
	if e.Key != b.Reply.Key {
		w.t.Fatalf("reply %s has the key %s", b.Reply.Key, e.Key)
	}
	if w.remote.wrote[e.Key] == 0 {
		w.remote.wrote[e.Key]++
	}
	if !w.kind && w.draw(4, "crash in reply") == 0 {
		w.s = w.folded // it is written, and the result is lost
		return
	}
	in := ReplyFinished{Run: b.Run, Key: b.Reply.Key}
	if w.draw(5, "refused") == 0 {
		in.Failure = &ledger.ForgeError{Failure: ledger.ForgeRights, Text: "locked"}
	}
	w.remove(e)
	w.deliver(in, "reply")
}

// commented checks what became of comments: each was taken once and only if its author
// may write, no session of another branch has it, and its author got one last answer
// and at most one before it.
func (w *world) commented() {
	items, bound, last, waits := map[string]guidance.Item{}, map[string]bool{}, map[string]int{}, map[string]int{}
	on := map[string]string{} // runs that work on the branch of another
	for _, l := range w.entries {
		switch x := l.Body.(type) {
		case ledger.RunPlanned:
			if x.Upkeep != nil {
				on[x.Run] = x.Upkeep.Run
			}
		case ledger.GuidanceKept:
			delete(bound, x.ID)
		case ledger.GuidanceQueued:
			if o := x.Item.Origin; o != nil {
				if _, twice := items[o.Comment]; twice {
					w.t.Fatalf("%s is guidance twice", o.Comment)
				}
				items[o.Comment] = x.Item
			}
		case ledger.GuidanceBound:
			for _, i := range items {
				if has := slices.Contains(x.Binding.Bound, i.ID); has && !bound[i.ID] && cmp.Or(on[l.Run], l.Run) != cmp.Or(i.Origin.Of, i.Origin.Run) {
					w.t.Fatalf("%s is for the branch of %s, and %s has it\n%s", i.ID, i.Origin.Run, l.Run, w.dump())
				} else if has {
					bound[i.ID] = true // it goes along with its task now
				}
			}
		case ledger.ReplyBegun:
			if _, ok := items[x.Comment]; !ok {
				w.t.Fatalf("%s is answered, and was never guidance", x.Comment)
			}
			if x.Final {
				last[x.Comment]++
			} else {
				waits[x.Comment]++
			}
			if last[x.Comment] > 1 || waits[x.Comment] > 1 || !x.Final && last[x.Comment] > 0 {
				w.t.Fatalf("%s has %d last answers and %d before\n%s", x.Comment, last[x.Comment], waits[x.Comment], w.dump())
			}
		}
	}
	for id, i := range items {
		if i.By != "ann" && i.By != "ben" || i.Task != "" || i.Hat != "" || i.Sticky {
			w.t.Fatalf("%s became %s", id, mustJSON(w.t, i))
		}
	}
	for _, b := range w.s.Project.Requests.Branches {
		if b.Replying != "" && !slices.ContainsFunc(w.todo, func(e ledger.Effect) bool { return e.Key == b.Replying }) {
			w.t.Fatalf("reply %s is under way, and nobody writes it\n%s", b.Replying, w.dump())
		}
		if n := request.MaxNew - w.s.Project.CommentRoom(b.Run); n > request.MaxNew {
			w.t.Fatalf("%d comments on the request of %s are guidance at once", n, b.Run)
		}
	}
}
