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
// itself, once no run works: nightporter stays for that, looks at the request then, and
// may add to its branch.
func (p Project) KeepsGreen(run string) bool {
	if !p.watches(run) {
		return false
	}
	s, b := p.Run.Settings, p.Requests.Branch(run)
	return s.Stays && s.Pushes() && s.Requests.Watch != ledger.WatchNight && b.IsKept()
}

// requestLooked records what a look showed, if it is news, and takes the comments
// that are new.
func (d *decision) requestLooked(b RequestLooked) {
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
