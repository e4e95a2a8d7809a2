package ledger

import "fmt"

// Judges reports whether a hat of the pattern judges the work of others: it only
// reads, and it decides whether the work comes back to it before the task can
// converge. A planner, whose plan goes on whatever it says, does not.
func (s Settings) Judges(hat string) bool {
	if s.Hats[hat].Writes() {
		return false
	}
	back, on := false, false
	for _, r := range s.Pattern.Routes {
		if r.From != hat {
			continue
		}
		if s.converges(r.To, func(name string) bool { return name == hat }) {
			on = true
		} else {
			back = true
		}
	}
	return back && on
}

// JudgedAfter reports whether each way from the hat to the end of the pattern
// leads past a hat that judges.
func (s Settings) JudgedAfter(hat string) bool {
	return s.after(hat, s.Judges)
}

// UnprovedHat returns a hat of the pattern whose work would be committed although
// nothing proves it: after it no hat judges, and no verification command runs on
// what it leaves. It returns "" if there is none. A command for the final check
// alone proves the run's tip and no task.
func (s Settings) UnprovedHat() string {
	verified := func(name string) bool {
		hat := s.Hats[name]
		return hat.Writes() && hat.Expect == ExpectPass && s.verifiesTasks()
	}
	proves := func(name string) bool { return verified(name) || s.Judges(name) }
	reached := map[string]bool{}
	s.reach(s.Pattern.Start, nil, reached)
	for _, r := range s.Pattern.Routes { // in the pattern's order, so that the same hat is named each time
		if reached[r.From] && s.Hats[r.From].Writes() && !verified(r.From) && !s.after(r.From, proves) {
			return r.From
		}
	}
	return ""
}

// Unproved returns the finding that keeps a run from starting in which nothing can
// prove the work of a task (docs/spec 2.0). unproved is false if something can, or
// if the settings allow such a run.
func (s Settings) Unproved() (f Diagnostic, unproved bool) {
	hat := s.UnprovedHat()
	if hat == "" || s.AllowUnproved {
		return f, false
	}
	f = Diagnostic{
		Text:   fmt.Sprintf("nothing proves the work: pattern %s has no review after %s, and no verification command runs on what it leaves", s.Pattern.Name, hat),
		Remedy: fmt.Sprintf(`Name a command: verify = ["make test"] in [[project]] %s, or --verify "make test". Or take a pattern with a review, or set unproved = "allow".`, s.Project),
	}
	if s.Hats[hat].Expect != ExpectPass && s.verifiesTasks() {
		f.Remedy = fmt.Sprintf(`Set expect = "pass" in the file of hat %s. Or add a review to the pattern, or set unproved = "allow" in [[project]] %s.`, hat, s.Project)
	}
	return f, true
}

// verifiesTasks reports whether a verification command runs on the trees of
// attempts.
func (s Settings) verifiesTasks() bool {
	for _, c := range s.Verify {
		if c.When != "final" {
			return true
		}
	}
	return false
}

// after reports whether each route of the hat leads past a hat that stop accepts
// before it leads to the end of the pattern.
func (s Settings) after(hat string, stop func(string) bool) bool {
	for _, r := range s.Pattern.Routes {
		if r.From == hat && s.converges(r.To, stop) {
			return false
		}
	}
	return true
}

// converges reports whether routes lead from hat to the end of the pattern
// without a hat that stop accepts.
func (s Settings) converges(hat string, stop func(string) bool) bool {
	reached := map[string]bool{}
	s.reach(hat, stop, reached)
	return reached[Converged]
}

// reach adds to reached the hats that routes lead to from hat, hat included. It
// does not pass hats that stop accepts; nil accepts none.
func (s Settings) reach(hat string, stop func(string) bool, reached map[string]bool) {
	if reached[hat] || stop != nil && stop(hat) {
		return
	}
	reached[hat] = true
	for _, r := range s.Pattern.Routes {
		if r.From == hat {
			s.reach(r.To, stop, reached)
		}
	}
}
