package loop

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// Comments of people who may write to the repository become guidance for the
// sessions that work on the request's branch (docs/spec 9.4). Their authors are told
// what became of them once that is settled and on the remote.

// Commented returns the guidance from comments on the request of a run's branch that
// no session has yet, oldest first. It waits for a run on that branch.
func (p Project) Commented(run string) []guidance.Item {
	var items []guidance.Item
	for _, i := range p.Guidance.Waiting() {
		if i.Origin != nil && i.Origin.Run == run && i.Bound == "" {
			items = append(items, i)
		}
	}
	return items
}

// CommentRoom returns how many more comments on the request of a run's branch become
// guidance now. The others wait on the forge until earlier ones are settled.
func (p Project) CommentRoom(run string) int {
	room := request.MaxNew
	for _, i := range p.Guidance.Items {
		if i.Origin != nil && i.Origin.Run == run && i.Open() {
			room--
		}
	}
	return max(room, 0)
}

// takeComments makes guidance of what is new of the comments on a request.
func (d *decision) takeComments(run string, n request.CommentNews) {
	count, room := n.Count, d.Project.CommentRoom(run)
	for _, c := range n.New {
		of := d.Project.Requests.Branch(run)
		switch {
		case !of.IsNew(c):
		case room == 0:
			count.Waiting++
		default:
			room--
			i := of.ItemOf(c)
			i.ID, i.At, i.Source = d.nextID("g"), d.in.Time, of.Source
			d.add(scope{}, ledger.GuidanceQueued{Item: i})
		}
	}
	if of := d.Project.Requests.Branch(run); of.IsOpen() && of.Count != count {
		d.add(scope{}, ledger.CommentsSeen{Run: run, Number: of.Request.Number, Count: count})
	}
}

// endComments expires what waits of the comments on a request that is not open any
// more. A task that has one in force keeps it.
func (d *decision) endComments(run string) {
	of := d.Project.Requests.Branch(run)
	if of.Request == nil || of.IsOpen() {
		return
	}
	for _, i := range d.Project.Commented(run) {
		d.add(scope{}, ledger.GuidanceExpired{ID: i.ID, Why: fmt.Sprintf("PR %d is %s", of.Request.Number, of.Request.State)})
	}
}

// answerComments begins the next reply of each open request that is due.
func (d *decision) answerComments() {
	if d.run() == nil {
		return
	}
	for _, b := range d.Project.Requests.Branches {
		for _, c := range b.Comments {
			a, due := d.answerTo(b, c)
			if !due {
				continue
			}
			if begun, effect, ok := b.Reply(c, a); ok {
				d.add(scope{}, begun)
				d.effect(begun.Key, effect)
			}
			break
		}
	}
}

// answerTo returns what the author of a comment is to be told now, if anything.
func (d *decision) answerTo(b request.Branch, c request.Comment) (a request.Answer, due bool) {
	i, ok := d.Project.Guidance.Get(c.Item)
	if !ok || i.Origin == nil {
		return a, false
	}
	a = request.Answer{Author: i.By, Words: i.Text, InLine: i.Origin.Path != "", Cut: i.Origin.Cut, Why: i.Note}
	waits := func(why string) (request.Answer, bool) {
		a.Verdict, a.Why = request.VerdictWaits, why
		return a, why != "" && !b.WasTold(i.By)
	}
	switch {
	case i.State == guidance.Queued:
		return waits(d.heldComment(b))
	case i.State == guidance.Expired:
		a.Verdict = request.VerdictNot
		return a, true
	case i.State == guidance.Dropped:
		a.Verdict, a.Why = request.VerdictNot, "it was taken back"
		return a, true
	case i.Bound != "-": // a session of its task can still say something else of it
		return waits(d.heldTask(i))
	case i.State == guidance.SetAside:
		a.Verdict = request.VerdictNot
		return a, true
	}
	if t, known := d.task(c.Task); known && t.Status != ledger.Done {
		a.Verdict, a.Why = request.VerdictNot, ledger.ShortID(t.Task.ID)+", whose session had it, was "+string(t.Status)
		return a, true
	}
	a.Commit = c.Commit
	switch j := i.Judged; {
	case i.State == guidance.NotReported:
		a.Verdict, a.Why = request.VerdictUnspoken, ""
	case j != nil && !j.Followed:
		a.Verdict, a.Why = request.VerdictDoubted, j.Note
	default:
		a.Verdict = request.VerdictDone
	}
	return a, a.Commit == "" || d.tipPushed()
}

// heldComment returns why nothing works on what waits of a request's comments, and
// does not begin to by itself; "" if a session will come.
func (d *decision) heldComment(b request.Branch) string {
	r := d.run()
	switch works := !r.Over() && r.requestOf() == cmp.Or(b.Of, b.Run); {
	case works && r.State == ledger.RunPaused:
		return "the run is paused"
	case works, !r.Over():
		return ""
	case b.Upkeep.Rounds >= request.MaxRounds:
		return fmt.Sprintf("what is done by itself is used up (%d rounds); a person has to start the next run", b.Upkeep.Rounds)
	case b.Upkeep.Stopped, r.Ended != nil && r.Ended.Reason == ledger.ReasonStopped && r.Ended.Signal == "":
		return "a person stopped the work"
	case b.Of != "", r.Settings.Requests.Watch == ledger.WatchNight, r.Settings.Requests.Watch == ledger.WatchOff:
		return "no run works on this branch any more"
	}
	return ""
}

// heldTask returns why nothing works on the task that has an item in force; "" if
// something does.
func (d *decision) heldTask(i guidance.Item) string {
	if t, ok := d.task(i.Bound); ok && t.Status == ledger.Blocked && d.run().Over() {
		return ledger.ShortID(t.Task.ID) + ", whose session had it, is blocked"
	}
	return ""
}

// tipPushed reports whether the remote has all commits of the run.
func (d *decision) tipPushed() bool {
	r := d.run()
	b := d.Project.Requests.Last(r.requestOf())
	if b.Lift != nil {
		return b.Pushed != "" && b.Pushed == b.Lift.Tip
	}
	return r.Tip != "" && b.Pushed == r.Tip
}

// answers reports whether a reply is under way, and does not fail.
func (p Project) answers() bool {
	return slices.ContainsFunc(p.Requests.Branches, func(b request.Branch) bool {
		_, fails := p.FailingEffect(ledger.EffectReply{}.EffectKind(), b.Replying)
		return b.Replying != "" && !fails
	})
}

// replyFinished records what became of a reply.
func (d *decision) replyFinished(b ReplyFinished) {
	of := d.Project.Requests.Branch(b.Run)
	if of.Replying == "" || of.Replying != b.Key || of.Request == nil {
		return
	}
	e := ledger.ReplyEnded{Run: b.Run, Number: of.Request.Number, Key: b.Key}
	if b.Failure != nil {
		e.Failure, e.Text, e.Remedy = b.Failure.Failure, b.Failure.Text, b.Failure.Remedy
	}
	d.add(scope{}, e)
}

// worksOn is requestOf for a run that is not over, else "".
func (r *Run) worksOn() string {
	if r.Over() {
		return ""
	}
	return r.requestOf()
}
