package bot

import (
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// RequiredRole returns the role that a command takes (SPEC 6.6): view for all that
// only looks, admin for people, steer for the rest.
func RequiredRole(c Command) ledger.Role {
	switch c.Verb {
	case VerbStatus, VerbQueue, VerbTasks, VerbTask, VerbLog, VerbDiff, VerbEvidence, VerbProjects, VerbRuns, VerbCost, VerbDigest,
		VerbWhoami, VerbPair, VerbStart, VerbHelp, VerbHats:
		return ledger.RoleView
	case VerbPlan:
		if !c.Redo {
			return ledger.RoleView
		}
	case VerbQuiet:
		if c.Target == "" {
			return ledger.RoleView
		}
		return ledger.RoleAdmin
	case VerbPeople, VerbUnpair:
		return ledger.RoleAdmin
	case VerbAnswer:
		// "q5" alone shows the question. What is no question's id can be an
		// answer in somebody's own words: "/answer #letters_only".
		if c.Words == "" && (c.Target == "" || questionID.MatchString(c.Target)) {
			return ledger.RoleView
		}
	}
	return ledger.RoleSteer
}

// RequiredRoleHere is Needs where it is known what is asked: a plan is approved, or
// sent back, by an admin (SPEC 6.6). project is where the line was sent to.
func RequiredRoleHere(desk Desk, project string, c Command) ledger.Role {
	need := RequiredRole(c)
	switch c.Verb {
	case VerbAnswer, VerbApprove, VerbReject:
	default:
		return need
	}
	if need == ledger.RoleView {
		return need
	}
	r := Request{Project: project}
	project, problem := pick(desk, &c, r)
	if problem != nil {
		return need
	}
	s, _ := stateOf(desk, project)
	if q, ok, _ := (dispatch{desk: desk, r: r, c: c, s: s, project: project}).meant(); ok && q.Kind == ledger.AskPlan {
		return ledger.RoleAdmin
	}
	return need
}

// approves reports whether a button decides about a plan: only that question
// has these verbs.
func approves(c Command) bool {
	verb, _ := cutWord(c.Words)
	return c.Verb == VerbAnswer && questionID.MatchString(c.Target) && (verb == "approve" || verb == "reject")
}

// For returns a message without the buttons that the role may not press.
func (m Message) For(r ledger.Role) Message {
	var kept []Button
	for _, b := range m.Buttons {
		c, err := Parse(b.Command)
		if err == nil && r.May(RequiredRole(c)) && (!approves(c) || r.May(ledger.RoleAdmin)) {
			kept = append(kept, b)
		}
	}
	m.Buttons = kept
	return m
}

// Forbidden is what somebody is told whose role does not include a command.
func Forbidden(h loop.Shared, p ledger.Person) Message {
	m := newMessage("cmd.forbidden", SignFailed+" "+Cut(Clean(p.Name), 18)+", your role is "+string(p.Role))
	works := "/status /tasks /log /diff work."
	if p.Role == ledger.RoleSteer {
		works = "All but plan approval, /people and /unpair works."
	}
	m.add(works + " For more ask " + orElse(admins(h, p.ID), "on the host") + ".")
	return m
}

// MenuItem is one command of a chat's menu.
type MenuItem struct{ Command, Help string }

// Menu lists the commands that a platform may show while somebody of a role
// types, in the order of PHONE 2: those that they may use.
func Menu(r ledger.Role) []MenuItem {
	var items []MenuItem
	for _, v := range []Verb{VerbStatus, VerbGuidance, VerbPause, VerbResume, VerbTasks, VerbQueue, VerbNow, VerbStop, VerbCost, VerbDigest, VerbQuiet, VerbHelp} {
		if f, ok := find(string(v)); ok && r.May(RequiredRole(Command{Verb: v})) {
			items = append(items, MenuItem{Command: string(v), Help: f.help})
		}
	}
	return items
}
