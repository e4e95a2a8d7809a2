package loop

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// requested returns what a forge makes of a draft: requests of a stack have numbers
// from 48, and that of a run is 48.
func (d *director) requested(draft ledger.RequestDraft) ledger.Request {
	r := ledger.Request{Number: 48, State: ledger.RequestOpen, Head: draft.Head, Base: "main"}
	if draft.Base != "" {
		r.Base = draft.Base
	}
	for _, b := range d.s.Project.Requests.Branches {
		switch {
		case b.Request == nil:
		case b.Request.Number == draft.Number:
			r.Number, r.State = draft.Number, b.Request.State
			if draft.Was != b.Request.Base {
				r.Base = b.Request.Base
			}
		case draft.Number == 0 && b.Of != "":
			r.Number++
		}
	}
	r.URL = fmt.Sprintf("https://forge.test/%d", r.Number)
	return r
}

// see plays a look at the request of the last push, or at one by number: "see pr=48 pass=2 pending=1 fail=lint
// state=merged head=c9 mergeable=behind nobase draft failure=login base=b1 strangers". Without words all
// is well with it.
func (d *director) see(rest string) {
	of := d.s.Project.Requests.Branches[len(d.s.Project.Requests.Branches)-1]
	if pr, more, ok := strings.Cut(strings.TrimPrefix(rest, "pr="), " "); strings.HasPrefix(rest, "pr=") {
		n, _ := strconv.Atoi(pr)
		if of, ok = d.s.Project.Requests.Numbered(n); !ok {
			d.t.Fatalf("there is no request %d", n)
		}
		rest = more
	}
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
	v.Request, v.Comments = r, d.said
	news := of.NewsOf(v)
	in := RequestLooked{Run: of.Run, Now: of.StandingOf(v), Tag: v.Tag, Comments: &news}
	if failure != "" {
		in.Now, in.Comments = of.FailedLook(ledger.ForgeError{Failure: failure, Text: "the token is wrong", Remedy: "Give a new one"}), nil
	}
	d.input(in)
}

// comment has somebody comment on the request: "comment ann Use cents", "comment ann
// at=a.go:12 Use cents", "comment eve stranger Use cents". Words after them are the
// comment, but for kind=changes, id=line:7, stranger, ours and many=30, which repeats
// it.
func (d *director) comment(rest string) {
	who, rest, _ := strings.Cut(rest, " ")
	c := ledger.RequestComment{Kind: ledger.CommentPlain, Author: who, Writer: true, Time: d.now}
	many := 1
	for {
		word, after, _ := strings.Cut(rest, " ")
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "at":
			path, line, _ := strings.Cut(value, ":")
			c.Kind, c.Path = ledger.CommentLine, path
			c.Line, _ = strconv.Atoi(line)
		case "kind":
			c.Kind = ledger.CommentKind(value)
		case "id":
			c.ID = value
		case "many":
			many, _ = strconv.Atoi(value)
		case "stranger":
			c.Writer = false
		case "ours":
			c.Ours = true
		default:
			c.Body = strings.ReplaceAll(rest, `\n`, "\n")
			for range many {
				if c := c; c.ID == "" {
					c.ID = string(c.Kind) + ":" + strconv.Itoa(len(d.said)+1)
					d.said = append(d.said, c)
				} else {
					d.said = append(d.said, c)
				}
			}
			return
		}
		rest = after
	}
}

// replied plays the result of a reply: "replied", "replied rights".
func (d *director) replied(rest string) {
	b, ok := take[ledger.EffectReply](d.night, nil)
	if !ok {
		d.t.Fatalf("nobody is answered")
	}
	in := ReplyFinished{Run: b.Run, Key: b.Reply.Key}
	if rest != "" {
		in.Failure = &ledger.ForgeError{Failure: ledger.ForgeFailure(rest), Text: "the conversation is locked"}
	}
	d.input(in)
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
