package bot

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// LookedAfter reports the end of a run that kept a request green. s is the state before
// the end, in which that run stands. ok is false where nothing came of it that people
// are not told otherwise: it needed nothing, was stopped, or gave way to another run.
func LookedAfter(s loop.State, e ledger.RunEnded) (m Message, ok bool) {
	r := s.Project.Run
	if r == nil || r.Upkeep == nil || r.Base.Upkeep == nil {
		return m, false
	}
	of := s.Project.Requests.Branch(r.Upkeep.Run)
	name, into := requestName(r.Upkeep.Number), Cut(Clean(r.Base.HeadName), 20)
	pushed := of.Pushed == r.Tip && r.Tip != r.Base.Upkeep.Head
	say := func(sign, what string) {
		m = newMessage("request.kept", firstLine(sign, s.Project.Name, name+what, ""))
		m.Project = s.Project.Name
		m.add("Branch " + Foreign(of.Name) + " · " + Cost(r))
	}
	const wait = "Looked at until it is merged or closed."
	switch red := e.FinalOK != nil && !*e.FinalOK || r.Red != nil; {
	case pushed && r.Upkeep.Reason == ledger.UpkeepChecks:
		say(SignLater, ": "+failedChecks(*checksOf(r.Upkeep))+" worked on")
		m.add(fmt.Sprintf("Round %d of 3 is pushed; its checks run now.", of.Upkeep.Rounds))
		m.add(wait)
	case pushed && r.Upkeep.Reason == ledger.UpkeepComments:
		say(SignLater, ": comments worked on")
		m.add(fmt.Sprintf("Round %d of 3 is pushed. Their authors get a reply.", of.Upkeep.Rounds))
		m.add(wait)
	case pushed:
		say(SignDone, ": "+into+" merged, verified")
		m.add(wait)
	case e.Reason != ledger.ReasonUpkeep, r.Upkeep.Reason != ledger.UpkeepBase && !red:
		return m, false // a request that is left to a person has its own message
	case red:
		say(SignFailed, ": fails with "+into)
		m.add(fullSentence(Cut(Foreign(e.Text), 2*quoteWidth)))
		m.add("Nothing was pushed. Tried again when " + into + " moves.")
	case len(r.Base.Upkeep.Conflicts) > 0:
		say(SignLook, " conflicts with "+into)
		m.add("In " + Cut(Foreign(strings.Join(r.Base.Upkeep.Conflicts, ", ")), quoteWidth))
		m.add("Nothing was pushed. Tried again when " + into + " moves.")
	default:
		return m, false
	}
	m.button("Diff", "/diff "+of.Run)
	return m, true
}

// checksOf returns the checks that a run was begun for as a standing.
func checksOf(u *ledger.Upkeep) *ledger.RequestStanding {
	return &ledger.RequestStanding{Failing: len(u.Failed), Failed: u.Failed}
}

// LeftRequest reports a request whose checks fail and for which nothing more is done by
// itself.
func LeftRequest(s loop.State, b ledger.RequestLeft) Message {
	text := requestName(b.Number) + " still fails: " + failedChecks(ledger.RequestStanding{Failing: len(b.Failed), Failed: b.Failed})
	m := newMessage("request.left", firstLine(SignFailed, s.Project.Name, text, ""))
	m.Project = s.Project.Name
	of := s.Project.Requests.Branch(b.Run)
	m.add("Branch " + Foreign(of.Name))
	if b.Rounds > 0 {
		m.add("After " + Plural(b.Rounds, "round") + ".")
	}
	m.add("Nothing more is done by itself. Look at it; /run allows more.")
	m.button("Diff", "/diff "+b.Run)
	return m
}

// IsGreenAgain reports whether a request is green that was worked on because checks of
// it failed.
func IsGreenAgain(before, s loop.State, run string) bool {
	b := s.Project.Requests.Branch(run)
	return greenAgain(before, run) != "" && b.IsOpen() && b.Seen != nil && request.IsGreen(b.Seen.RequestStanding)
}

// greenAgain says what made a request green, from what was known before: "mended: lint,
// in 1 round"; "" where nothing had failed.
func greenAgain(before loop.State, run string) string {
	u := before.Project.Requests.Branch(run).Upkeep
	if u.Mended == 0 || len(u.Mending) == 0 {
		return ""
	}
	return "mended: " + failedChecks(ledger.RequestStanding{Failing: len(u.Mending), Failed: u.Mending}) + ", in " + Plural(u.Mended, "round")
}

// lookingAfter names the request that a run keeps green: "PR 48: lint"; "" for another
// run.
func lookingAfter(r *loop.Run) string {
	switch {
	case r.Idea != "":
		return "idea " + r.Idea
	case r.Upkeep == nil:
		return ""
	case r.Upkeep.Reason == ledger.UpkeepChecks:
		return requestName(r.Upkeep.Number) + ": " + failedChecks(*checksOf(r.Upkeep))
	case r.Upkeep.Reason == ledger.UpkeepComments:
		return requestName(r.Upkeep.Number) + ": comments on it"
	}
	return requestName(r.Upkeep.Number) + ": its base moved"
}

// NotKept says which open requests are not kept green because of who wrote their
// commits, and what a person can do: a line for each reason.
func NotKept(s loop.State) (lines []string) {
	var own, others []string
	for _, b := range s.Project.NotKept() {
		if b.Seen.OwnUnknown {
			own = append(own, requestName(b.Request.Number))
		} else {
			others = append(others, requestName(b.Request.Number))
		}
	}
	if len(own) > 0 {
		lines = append(lines, SignLook+" "+namesOf(own)+" not kept green: "+ownUnknown(s))
	}
	if len(others) > 0 {
		lines = append(lines, SignLook+" "+namesOf(others)+" not kept green: commits of people who may not write. Look at them; merge or close it yourself.")
	}
	return lines
}

// namesOf joins names of requests: "PR 46, PR 47 +3".
func namesOf(names []string) string {
	text := strings.Join(names[:min(len(names), maxRequests)], ", ")
	if more := len(names) - maxRequests; more > 0 {
		text += fmt.Sprintf(" +%d", more)
	}
	return text
}

// ownUnknown says that a forge does not know the user's own address of git, and what
// to do: their commits look like those of a stranger.
func ownUnknown(s loop.State) string {
	_, address, _ := strings.Cut(s.Project.Run.Base.Author, "<")
	address = orElse(Cut(Clean(strings.TrimSuffix(address, ">")), quoteWidth), "your user.email")
	return "the forge knows " + address + " from no account that may write. Add it to your account there, or set another user.email for later requests."
}

// strangersNews says why nothing of a request is run.
func strangersNews(s loop.State, b request.Branch) string {
	if b.Seen.OwnUnknown {
		return "Nothing of it is run here: " + ownUnknown(s)
	}
	return "It has commits of people who may not write: nothing of it is run here."
}
