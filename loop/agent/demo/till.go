package demo

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// tillPlan is what can become of the old till.
type tillPlan string

// What a person can want of it.
const (
	tillUnsaid  tillPlan = "" // nothing that the script can follow
	tillWrap    tillPlan = "wrap"
	tillReplace tillPlan = "replace"
)

var (
	notWords    = `(?:don['’]?t|do not|not|never|no|without|instead of)\s+(?:\w+\s+)?`
	notReplace  = regexp.MustCompile(`(?i)\b` + notWords + `(?:replac|remov|delet|rewrit|touch|chang)`)
	notWrap     = regexp.MustCompile(`(?i)\b` + notWords + `(?:wrap|keep|adapter)`)
	wantWrap    = regexp.MustCompile(`(?i)\b(?:wrap(?:s|ped|per|ping)?|adapters?|keep\b.*\b(?:till|old|existing))\b`)
	wantReplace = regexp.MustCompile(`(?i)\b(?:replac(?:e|es|ed|ing)|rewrit(?:e|es|ing))\b`)
)

// tillWanted is what one guidance wants. The rule is simple and reads words,
// not sense: that is all that a script can do.
func tillWanted(words string) tillPlan {
	switch {
	case notWrap.MatchString(words):
		return tillReplace
	case notReplace.MatchString(words), wantWrap.MatchString(words):
		return tillWrap
	case wantReplace.MatchString(words):
		return tillReplace
	}
	return tillUnsaid
}

// wanted is what all guidance together wants of the till: the last word counts.
func (s *session) wanted() (plan tillPlan, by string) {
	for _, g := range s.prompt.guidance() {
		if p := tillWanted(g.text); p != tillUnsaid {
			plan, by = p, g.id
		}
	}
	return plan, by
}

// planTill plans with guidance that is there already. What comes later reaches
// the builder, who can follow it all the same.
func (s *session) planTill() (event, error) {
	if plan, _ := s.wanted(); plan == tillWrap {
		return steps("Keep the old till, and give it what it understands",
			"adapter.sh: tea and grams in, basket_sum, then till.sh", "tests/adapter.sh: the sale of the acceptance")(s)
	}
	return steps("The counter types tea and grams", "the counter's command goes through basket_sum",
		"its tests: the sale of the acceptance, small change, an unknown tea")(s)
}

// makeTill brings the till to the plan, and reports on the guidance.
func (s *session) makeTill() (tillPlan, error) {
	plan, by := s.wanted()
	if plan == tillUnsaid {
		plan = tillReplace
	}
	if plan == tillWrap {
		if err := s.restore("till.sh", "tests/till.sh"); err != nil {
			return plan, err
		}
		if err := s.put("till-wrapped"); err != nil {
			return plan, err
		}
	} else {
		if err := s.put("till-replaced"); err != nil {
			return plan, err
		}
		if err := s.remove("adapter.sh", "tests/adapter.sh"); err != nil {
			return plan, err
		}
	}
	for _, g := range s.prompt.guidance() {
		if g.shown {
			continue
		}
		r := report{ID: g.id}
		switch wants := tillWanted(g.text); {
		case wants == tillUnsaid:
			// Not lost, only not followed: the words go where the next person looks.
			if err := s.addLine("NOTES.md", "# What the owner asked for", fmt.Sprintf("- %s: %s", g.id, oneLine(g.text, 500))); err != nil {
				return plan, err
			}
			r.SetAside, r.Note = true, "a scripted agent can only wrap the till or replace it; your words are in NOTES.md"
		case wants != plan:
			r.SetAside, r.Note = true, by+" came later and says otherwise"
		case plan == tillWrap:
			r.Done, r.Note = true, "kept till.sh, added adapter.sh around it"
		default:
			r.Done, r.Note = true, "replaced till.sh"
		}
		s.reports = append(s.reports, r)
	}
	return plan, nil
}

func (s *session) buildTill() (event, error) {
	plan, err := s.makeTill()
	if err != nil {
		return event{}, err
	}
	summary := "The till takes tea and grams"
	if plan == tillWrap {
		summary = "An adapter around the old till"
	}
	return s.endWritten(buildComplete, summary, nil), nil
}

// tillNow is what became of the till.
func (s *session) tillNow() (tillPlan, error) {
	till, err := s.read("till.sh")
	if err != nil {
		return "", err
	}
	adapter, err := s.read("adapter.sh")
	switch {
	case err != nil:
		return "", err
	case !bytes.Equal(till, sampleFile("till.sh")):
		return tillReplace, nil
	case adapter != nil:
		return tillWrap, nil
	}
	return tillUnsaid, nil
}

// reviewTill holds the till against the guidance, also what was typed only
// while the builder was at work: it is meant for the next session that writes,
// and this way that is the fixer.
func (s *session) reviewTill() (event, error) {
	now, err := s.tillNow()
	if err != nil {
		return event{}, err
	}
	plan, by := s.wanted()
	switch {
	case plan == tillUnsaid:
		return s.verdict("no issues", nil), nil
	case plan != now:
		return s.verdict(by+" was not followed", []issue{{
			Severity: "major", File: "till.sh", Line: 1, Rule: "guidance", Text: "The owner wants to " + string(plan) + " the old till.",
		}}), nil
	}
	var followed []string
	for _, g := range s.prompt.guidance() {
		if tillWanted(g.text) == plan {
			followed = append(followed, g.id)
		}
	}
	return s.verdict("no issues, "+strings.Join(followed, " ")+" followed", nil), nil
}

func (s *session) fixTill() (event, error) {
	now, err := s.tillNow()
	if err != nil {
		return event{}, err
	}
	if plan, _ := s.wanted(); plan == tillUnsaid || plan == now && len(s.prompt.owed()) == 0 {
		return s.fixNothing()
	}
	plan, err := s.makeTill()
	if err != nil {
		return event{}, err
	}
	return s.endWritten(fixComplete, "The guidance is followed: "+string(plan), map[string]any{
		"resolved": []string{"guidance"}, "disputed": []string{},
	}), nil
}
