package demo

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// tillPlan is the treatment of the old till that guidance asks for.
type tillPlan string

// Treatments of the old till.
const (
	tillUnspecified tillPlan = "" // the guidance names none that the script knows
	tillWrap        tillPlan = "wrap"
	tillReplace     tillPlan = "replace"
)

var (
	notWords    = `(?:don['’]?t|do not|not|never|no|without|instead of)\s+(?:\w+\s+)?`
	notReplace  = regexp.MustCompile(`(?i)\b` + notWords + `(?:replac|remov|delet|rewrit|touch|chang)`)
	notWrap     = regexp.MustCompile(`(?i)\b` + notWords + `(?:wrap|keep|adapter)`)
	wantWrap    = regexp.MustCompile(`(?i)\b(?:wrap(?:s|ped|per|ping)?|adapters?|keep\b.*\b(?:till|old|existing))\b`)
	wantReplace = regexp.MustCompile(`(?i)\b(?:replac(?:e|es|ed|ing)|rewrit(?:e|es|ing))\b`)
)

// parseTillPlan returns the treatment that one guidance asks for. It searches
// for keywords, because a script cannot understand a text.
func parseTillPlan(words string) tillPlan {
	switch {
	case notWrap.MatchString(words):
		return tillReplace
	case notReplace.MatchString(words), wantWrap.MatchString(words):
		return tillWrap
	case wantReplace.MatchString(words):
		return tillReplace
	}
	return tillUnspecified
}

// requestedPlan returns the treatment that all guidance together asks for: the
// latest guidance counts. by is that guidance's id.
func (s *session) requestedPlan() (plan tillPlan, by string) {
	for _, g := range s.prompt.guidance() {
		if p := parseTillPlan(g.text); p != tillUnspecified {
			plan, by = p, g.id
		}
	}
	return plan, by
}

// planTill plans according to the guidance given so far. The builder follows
// later guidance itself.
func (s *session) planTill() (event, error) {
	if plan, _ := s.requestedPlan(); plan == tillWrap {
		return steps("Keep the old till, and give it what it understands",
			"adapter.sh: tea and grams in, basket_sum, then till.sh", "tests/adapter.sh: the sale of the acceptance")(s)
	}
	return steps("The counter types tea and grams", "the counter's command goes through basket_sum",
		"its tests: the sale of the acceptance, small change, an unknown tea")(s)
}

// changeTill changes the till as the guidance asks, and reports on the
// guidance.
func (s *session) changeTill() (tillPlan, error) {
	plan, by := s.requestedPlan()
	if plan == tillUnspecified {
		plan = tillReplace
	}
	if plan == tillWrap {
		if err := s.restore("till.sh", "tests/till.sh"); err != nil {
			return plan, err
		}
		if err := s.writeAct("till-wrapped"); err != nil {
			return plan, err
		}
	} else {
		if err := s.writeAct("till-replaced"); err != nil {
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
		switch wants := parseTillPlan(g.text); {
		case wants == tillUnspecified:
			// The guidance is not followed but noted in a file, where the next
			// person finds it.
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
	plan, err := s.changeTill()
	if err != nil {
		return event{}, err
	}
	summary := "The till takes tea and grams"
	if plan == tillWrap {
		summary = "An adapter around the old till"
	}
	return s.endWriting(buildComplete, summary, nil), nil
}

// currentTill returns the treatment that the till has received so far.
func (s *session) currentTill() (tillPlan, error) {
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
	return tillUnspecified, nil
}

// reviewTill compares the till with the guidance. Guidance typed while the
// builder worked is for the next session that writes; an issue makes that the
// fixer's.
func (s *session) reviewTill() (event, error) {
	now, err := s.currentTill()
	if err != nil {
		return event{}, err
	}
	plan, by := s.requestedPlan()
	switch {
	case plan == tillUnspecified:
		return s.verdict("no issues", nil), nil
	case plan != now:
		return s.verdict(by+" was not followed", []issue{{
			Severity: "major", File: "till.sh", Line: 1, Rule: "guidance", Text: "The owner wants to " + string(plan) + " the old till.",
		}}), nil
	}
	var followed []string
	for _, g := range s.prompt.guidance() {
		if parseTillPlan(g.text) == plan {
			followed = append(followed, g.id)
		}
	}
	return s.verdict("no issues, "+strings.Join(followed, " ")+" followed", nil), nil
}

func (s *session) fixTill() (event, error) {
	now, err := s.currentTill()
	if err != nil {
		return event{}, err
	}
	if plan, _ := s.requestedPlan(); plan == tillUnspecified || plan == now && len(s.prompt.owedReports()) == 0 {
		return s.fixNothing()
	}
	plan, err := s.changeTill()
	if err != nil {
		return event{}, err
	}
	return s.endWriting(fixComplete, "The guidance is followed: "+string(plan), map[string]any{
		"resolved": []string{"guidance"}, "disputed": []string{},
	}), nil
}
