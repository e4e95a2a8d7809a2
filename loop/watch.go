package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// Open requests are looked at until somebody merges or closes them (docs/spec 9.4).
// The engine looks; only what is new becomes an input, and an entry.

// WatchedRequests returns the branches whose requests are looked at now, oldest
// first.
func WatchedRequests(p Project) []request.Branch {
	r := p.Run
	if r == nil {
		return nil
	}
	switch r.Settings.Requests.Watch {
	case ledger.WatchOff:
		return nil
	case ledger.WatchNight:
		if r.Over() {
			return nil
		}
	}
	return p.Requests.Open()
}

// watches reports whether a run's request is looked at now.
func (p Project) watches(run string) bool {
	return slices.ContainsFunc(WatchedRequests(p), func(b request.Branch) bool { return b.Run == run })
}

// KeepsGreen reports whether a base that moved is merged into a run's request by
// itself, once no run works.
func (p Project) KeepsGreen(run string) bool {
	b := p.Requests.Branch(run)
	return p.looksAfter(b) && (b.Seen == nil || b.Seen.Strangers == 0 && !b.BaseTried())
}

// looksAfter reports whether anything is done by itself for a branch's request, once no
// run works: nightporter stays for that, looks at the request then, may add to its
// branch, and nobody stopped the last run.
func (p Project) looksAfter(b request.Branch) bool {
	if !p.watches(b.Run) || !b.IsKept() {
		return false
	}
	s := p.Run.Settings
	return s.Stays && s.Pushes() && s.Requests.Watch != ledger.WatchNight && !p.Run.isLast()
}

// isLast reports whether nothing begins by itself after a run: a person stopped it or
// is stopping it, or it only tried what a start needs.
func (r *Run) isLast() bool {
	stopping := r.State == ledger.RunStopping && r.Signal == "" && !r.Aside()
	return r.Check || stopping || r.Ended != nil && r.Ended.Reason == ledger.ReasonStopped && r.Ended.Signal == ""
}

// NotKept returns the branches whose open requests would be kept green, but have
// commits of people who may not write to the repository. Oldest first.
func (p Project) NotKept() []request.Branch {
	return slices.DeleteFunc(WatchedRequests(p), func(b request.Branch) bool {
		return b.Seen == nil || b.Seen.Strangers == 0 || b.Seen.Failure != "" || !p.looksAfter(b)
	})
}

// requestLooked records what a look showed, if it is news, and takes the comments
// that are new.
func (d *decision) requestLooked(b RequestLooked) {
	b.Now = d.Project.Requests.Branch(b.Run).AwaitChecks(b.Now, d.in.Time)
	if d.Project.Requests.Branch(b.Run).IsNews(b.Now) {
		d.requestSeen(b)
	}
	if b.Comments != nil {
		d.takeComments(b.Run, *b.Comments)
	}
	d.endComments(b.Run)
}

// requestSeen records how a request stands now. What is merged or closed is not asked
// about any more.
func (d *decision) requestSeen(b RequestLooked) {
	d.add(scope{}, ledger.RequestSeen{Run: b.Run, Now: b.Now, Tag: b.Tag})
	if b.Now.State == ledger.RequestMerged {
		d.restack(d.Project.Requests.Branch(b.Run))
	}
	for _, q := range d.Project.Questions {
		if q.Kind != ledger.AskMerge || q.Merge == nil || q.Merge.Number != b.Now.Number {
			continue
		}
		switch {
		case b.Now.State != ledger.RequestOpen:
			d.withdraw(q, "it is "+string(b.Now.State))
		case b.Now.HeadCommit != q.Merge.HeadCommit:
			d.withdraw(q, "it has other commits now")
		}
	}
}
