package bot_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	loopreq "github.com/nightporter/nightporter/loop/request"
)

// stands gives the last run a request that stands like that; nil = nobody has looked
// at it.
func stands(d *service, s *ledger.RequestStanding) *service {
	p := &d.Night.State.Project
	b := loopreq.Branch{
		Run: p.Run.ID, Name: "nightporter/shop/" + p.Run.ID, Forge: ledger.ForgeGitHub, Pushed: "c0ffee1234567890",
		Request: &ledger.Request{Number: 48, URL: "https://forge.test/48", State: ledger.RequestOpen, Base: "main"},
	}
	if p.Run.Tip = b.Pushed; p.Run.Ended != nil {
		p.Run.Ended.Tip = b.Pushed
	}
	if s != nil {
		s.Number = 48
		if s.State == "" {
			s.State = ledger.RequestOpen
		}
		if s.HeadCommit == "" {
			s.HeadCommit = b.Pushed
		}
		b.Request.State = s.State
		b.Seen = &loopreq.Seen{RequestStanding: *s, At: d.Now}
	}
	p.Requests = loopreq.State{Branches: []loopreq.Branch{b}}
	return d
}

// earlier gives as many earlier runs an open request, the first of them with something
// that the forge did not take.
func earlier(d *service, runs int) *service {
	p := &d.Night.State.Project
	for n := range runs {
		b := loopreq.Branch{
			Run: fmt.Sprintf("r0%d", n), Name: "nightporter/shop/r0", Forge: ledger.ForgeGitHub, Pushed: "c0ffee",
			Request: &ledger.Request{Number: 40 + n, URL: fmt.Sprintf("https://forge.test/%d", 40+n), State: ledger.RequestOpen, Base: "main"},
			Seen:    &loopreq.Seen{RequestStanding: ledger.RequestStanding{Number: 40 + n, State: ledger.RequestOpen, HeadCommit: "c0ffee", Base: "main", Passed: 3}, At: d.Now},
		}
		if n == 0 {
			b.Request.Missed = []string{"label night: Not Found"}
		}
		p.Requests.Branches = append(p.Requests.Branches, b)
	}
	return d
}

// addRequests adds what people read about requests.
func addRequests(t *testing.T, all topics) {
	t.Helper()
	tested := ledger.Proof{Word: ledger.Tested}
	over := func(s *ledger.RequestStanding) *service { return stands(proved(tested), s) }
	news := func(d *service) bot.Message {
		return bot.RequestNews(d.Night.State, d.Night.State, d.Night.State.Project.Run.ID)
	}
	due := proved(tested).Now.Add(90 * time.Second)
	green := ledger.RequestStanding{Base: "main", Mergeable: ledger.MergeableClean, Passed: 3}
	for intent, s := range map[string]*ledger.RequestStanding{
		"not seen": nil, "green": &green, "no checks": {Base: "main", Mergeable: ledger.MergeableClean},
		"no checks yet":             {Base: "main", Mergeable: ledger.MergeableClean, ChecksDue: due},
		"no checks yet, and behind": {Base: "main", Mergeable: ledger.MergeableBehind, ChecksDue: due},
		"pending":                   {Base: "main", Passed: 3, Pending: 2}, "one fails": {Base: "main", Failing: 1, Failed: []string{"lint"}, Pending: 1},
		"many fail": {Base: "main", Failing: 7, Failed: []string{"a check with a name that does not end soon", "test\u202e\x1b[31m", "c", "d", "e"}},
		"conflict":  {Base: "main", Passed: 1, Mergeable: ledger.MergeableConflict}, "behind": {Base: "main", Passed: 1, Mergeable: ledger.MergeableBehind},
		"blocked": {Base: "main", Passed: 1, Mergeable: ledger.MergeableBlocked}, "draft": {Base: "main", Draft: true},
		"no base": {Passed: 1}, "token": {Base: "main", Failure: ledger.ForgeLogin, Text: "the forge does not know the token", Remedy: "Put a new one into github.token"},
		"theirs": {Base: "main", Passed: 2, Mergeable: ledger.MergeableClean, HeadCommit: "deadbeef99"},
		"merged": {Base: "main", State: ledger.RequestMerged}, "closed": {Base: "main", State: ledger.RequestClosed},
	} {
		d := over(s)
		if s != nil {
			all.add(t, "request", "news: "+intent, "", news(d), 38)
		}
		all.add(t, "request", "ended: "+intent, "", endOf(d), 38)
		all.add(t, "request", "status: "+intent, "/status", d.say(t, "/status"), 38)
		all.add(t, "request", "merge: "+intent, "/merge", d.say(t, "/merge"), 38)
	}
	kept := over(&ledger.RequestStanding{Base: "main", Passed: 1, Mergeable: ledger.MergeableBehind})
	kept.Night.State.Project.Run.Settings.Stays, kept.Night.State.Project.Run.Settings.Push = true, ledger.PushEnd
	all.add(t, "request", "merge: behind, kept green", "/merge", kept.say(t, "/merge"), 38)
	all.add(t, "request", "merge: another one", "/merge 49", over(nil).say(t, "/merge 49"), 38)
	all.add(t, "request", "merge: a task", "/merge Task 1", over(nil).say(t, "/merge Task 1"), 38)
	all.add(t, "request", "merge: by hand", "/merge", proved(tested).say(t, "/merge"), 38)
	all.add(t, "request", "merge: by hand, look first", "/merge", proved(changed("")).say(t, "/merge"), 38)
	all.add(t, "request", "merge: nothing there", "/merge", newService("shop").say(t, "/merge"), 38)
	comesBack := over(&green)
	list := comesBack.Night.State.Project.Tasks.Slice()
	list[0].Task.Repeat, list[0].Ended = &ledger.Repeat{Cooldown: 3 * time.Hour}, comesBack.Now
	comesBack.Night.State.Project.Tasks = loop.NewTaskList(list...)
	all.add(t, "request", "status: a task comes back", "/status", comesBack.say(t, "/status"), 38)
	missing := over(&green)
	missing.Night.State.Project.Requests.Branches[0].Request.Missed = []string{"label night: Not Found", "reviewer ana: Reviews may only be requested from collaborators. One or more of the users are not."}
	all.add(t, "request", "ended: not all taken", "", endOf(missing), 38)
	all.add(t, "request", "status: not all taken", "/status", missing.say(t, "/status"), 38)
	for n, intent := range map[int]string{1: "of an earlier run", 5: "of many earlier runs"} {
		d := earlier(proved(tested), n)
		all.add(t, "request", "status: "+intent, "/status", d.say(t, "/status"), 38)
	}
	for intent, own := range map[string]bool{"commits of a stranger": false, "an address that the forge does not know": true} {
		s := green
		s.Strangers, s.OwnUnknown = 2, own
		d := over(&s)
		r := d.Night.State.Project.Run
		r.Settings.Stays, r.Settings.Push, r.Base.Author = true, ledger.PushEnd, "Mira <mira@example.org>"
		all.add(t, "request", "status: "+intent, "/status", d.say(t, "/status"), 38)
		all.add(t, "request", "news: "+intent, "", news(d), 38)
	}
	d := over(&green)
	q := ledger.Question{ID: "q5", Kind: ledger.AskMerge, Run: "r1", Merge: &ledger.MergeAsked{Number: 48, HeadCommit: "c0ffee1234567890"}, Asked: d.Now, Expires: d.Now.Add(600e9)}
	all.add(t, "request", "question", "", bot.Ask(d.Night.State, q, d.Now), 38)
	for intent, s := range map[string]*ledger.RequestStanding{"not seen": nil, "green": &green} {
		red := over(s)
		red.Night.State.Project.Requests.Branches[0].Red = "go test ./..."
		all.add(t, "request", "ended: fails without those above it, "+intent, "", endOf(red), 38)
		all.add(t, "request", "question: fails without those above it, "+intent, "", bot.Ask(red.Night.State, q, d.Now), 38)
	}
	r := *d.Night.State.Project.Requests.Branches[0].Request
	for intent, e := range map[string]ledger.MergeEnded{
		"queued": {Method: ledger.MergeCommit}, "moved": {Failure: ledger.ForgeMoved, Text: "it has other commits now", Remedy: "Look at them before you merge"},
		"done": {Method: ledger.MergeSquash, Request: ledger.Request{State: ledger.RequestMerged, MergeCommit: "abcdef1234567890"}},
	} {
		state, commit := e.Request.State, e.Request.MergeCommit
		if e.Request = r; state != "" {
			e.Request.State, e.Request.MergeCommit = state, commit
		}
		all.add(t, "request", "a merge that is "+intent, "", bot.Merged(d.Night.State, e), 38)
	}
}

// TestMergeSpent: [Merge] can do nothing any more for a request that is merged or closed.
func TestMergeSpent(t *testing.T) {
	for state, want := range map[ledger.RequestState]string{
		ledger.RequestOpen:   "",
		ledger.RequestMerged: "PR 48 is merged already",
		ledger.RequestClosed: "PR 48 is closed already",
	} {
		d := stands(proved(ledger.Proof{Word: ledger.Tested}), &ledger.RequestStanding{State: state})
		for _, line := range []string{"/merge 48", "/merge #48", "/merge PR 48"} {
			if why, _ := bot.ButtonSpent(d, bot.Request{Actor: "telegram:1", Project: "shop", Text: line}); why != want {
				t.Errorf("%s of a request that is %s: %q, want %q", line, state, why, want)
			}
		}
	}
}

// TestSkipSpent: [Skip] is of use for a task that is not at work and not settled.
func TestSkipSpent(t *testing.T) {
	d := atWork()
	for status, want := range map[ledger.Status]string{
		ledger.Active: "#2 is at work", ledger.Blocked: "",
		ledger.Done: "#2 is done already", ledger.Skipped: "#2 is skipped already", ledger.Withdrawn: "#2 is gone from the list",
	} {
		task := *d.Night.State.Project.Tasks.At(1)
		task.Status = status
		d.Night.State.Project.Tasks = d.Night.State.Project.Tasks.With(1, task)
		if why, _ := bot.ButtonSpent(d, bot.Request{Actor: "telegram:1", Project: "shop", Text: "/skip 2"}); why != want {
			t.Errorf("a task that is %s: %q, want %q", status, why, want)
		}
	}
}
