package loop

import (
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// see plays a look at the request of the last push: "see pass=2 pending=1 fail=lint
// state=merged head=c9 mergeable=behind nobase draft failure=login base=b1 strangers". Without words all
// is well with it.
func (d *director) see(rest string) {
	of := d.s.Project.Requests.Branches[len(d.s.Project.Requests.Branches)-1]
	r := *of.Request
	r.State, r.HeadCommit, r.BaseCommit, r.Mergeable, r.Draft = ledger.RequestOpen, of.Pushed, "c0", ledger.MergeableClean, false
	v := ledger.RequestView{Writers: true, Tag: "t" + strconv.Itoa(d.seq)}
	var failure ledger.ForgeFailure
	add := func(name string, state ledger.CheckState) {
		v.Checks = append(v.Checks, ledger.ForgeCheck{Name: name, State: state})
	}
	for _, f := range strings.Fields(rest) {
		key, value, _ := strings.Cut(f, "=")
		n, _ := strconv.Atoi(value)
		switch key {
		case "pass", "pending":
			for k := range n {
				add(key+strconv.Itoa(k), map[string]ledger.CheckState{"pass": ledger.CheckPassed, "pending": ledger.CheckPending}[key])
			}
		case "fail":
			add(value, ledger.CheckFailed)
		case "state":
			r.State = ledger.RequestState(value)
		case "head":
			r.HeadCommit = value
		case "base":
			r.BaseCommit = value
		case "strangers":
			v.Writers = false
		case "mergeable":
			r.Mergeable = ledger.Mergeable(value)
		case "nobase":
			r.BaseCommit = ""
		case "draft":
			r.Draft = true
		case "failure":
			failure = ledger.ForgeFailure(value)
		default:
			d.t.Fatalf("see %s", f)
		}
	}
	v.Request = r
	now := request.StandingOf(v)
	if failure != "" {
		now = of.FailedLook(ledger.ForgeError{Failure: failure, Text: "the token is wrong", Remedy: "Give a new one"})
	}
	d.input(RequestLooked{Run: of.Run, Now: now, Tag: v.Tag})
}

// merged plays the result of a merge: "merged", "merged queued", "merged moved".
func (d *director) merged(rest string) {
	b, ok := take[ledger.EffectMergeRequest](d.night, nil)
	if !ok {
		d.t.Fatalf("nothing is merged")
	}
	r := *d.s.Project.Requests.Branch(b.Run).Request
	in := RequestMerged{Run: b.Run, Head: b.Merge.HeadCommit, Request: r, Method: ledger.MergeCommit}
	switch rest {
	case "":
		in.Request.State, in.Request.MergeCommit = ledger.RequestMerged, "m1"
	case "queued":
	default:
		in.Failure = &ledger.ForgeError{Failure: ledger.ForgeFailure(rest), Text: "the head is c9 now"}
	}
	d.input(in)
}
