package loop

import (
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

// requestLooked records what a look showed, if it is news. What is merged or closed
// is not asked about any more.
func (d *decision) requestLooked(b RequestLooked) {
	of := d.Project.Requests.Branch(b.Run)
	if !of.IsNews(b.Now) {
		return
	}
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
