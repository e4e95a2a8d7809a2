package bot

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// RequiredRole returns the role that a command requires (docs/spec 6.6): view
// for commands that only read, admin for those about people, steer for the rest.
func RequiredRole(c Command) ledger.Role {
	f := c.Verb.row()
	switch {
	case f.roleFor != nil:
		return f.roleFor(c)
	case f.role == "": // no command
		return ledger.RoleSteer
	}
	return f.role
}

// RequiredRoleHere is RequiredRole for a command whose question can be looked up.
// The answer to a question requires the role of its kind, so only an admin
// approves or rejects a plan, and only an admin sets the quiet hours of a chat that
// others read too (docs/spec 6.6). project is the project that the line was sent
// to; private reports that nobody else reads where it was sent.
func RequiredRoleHere(service Service, project string, private bool, c Command) ledger.Role {
	c = c.namingProject(projectNames(service))
	need := RequiredRole(c)
	switch c.Verb {
	case VerbQuiet:
		if c.Target != "" && !private {
			return ledger.RoleAdmin
		}
		return need
	case VerbAnswer, VerbApprove, VerbReject:
	default:
		return need
	}
	if need == ledger.RoleView {
		return need
	}
	r := Request{Project: project}
	project, problem := pickProject(service, &c, r)
	if problem != nil {
		return need
	}
	s, _ := stateOf(service, project)
	if q, ok, _ := (dispatch{service: service, r: r, c: c, s: s, project: project}).meant(); ok {
		return q.Role()
	}
	return need
}

// buttonRole returns the role that a button requires. A button holds only the
// question's id, not its kind: the highest role among the kinds with the verb
// applies.
func buttonRole(c Command) ledger.Role {
	role := RequiredRole(c)
	verb, _ := cutWord(c.Words)
	if c.Verb != VerbAnswer || !questionID.MatchString(c.Target) {
		return role
	}
	for _, kind := range ledger.QuestionKinds() {
		for _, v := range kind.AllVerbs() {
			if need := (ledger.Question{Kind: kind}).RoleFor(v.Name); v.Name == verb && !role.May(need) {
				role = need
			}
		}
	}
	return role
}

// For returns the message without the buttons that the role may not press.
func (m Message) For(r ledger.Role) Message {
	var kept []Button
	for _, b := range m.Buttons {
		c, err := Parse(b.Command)
		if err == nil && r.May(buttonRole(c)) {
			kept = append(kept, b)
		}
	}
	m.Buttons = kept
	return m
}

// MenuItem is one command of a chat's menu.
type MenuItem struct{ Command, Help string }

// Menu lists the commands that a platform suggests while a person of the role
// types: those that the role includes, in the order of the table's menu cells.
func Menu(r ledger.Role) []MenuItem {
	places := slices.SortedFunc(slices.Values(commandForms), func(a, b commandForm) int { return a.menu - b.menu })
	var items []MenuItem
	for _, f := range places {
		if f.menu > 0 && r.May(RequiredRole(Command{Verb: f.verb})) {
			items = append(items, MenuItem{Command: string(f.verb), Help: f.help})
		}
	}
	return items
}
