package demo

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/internal/text"
)

// Inputs of the demo's scripted person, for a demo without a person: after the
// planner of GuidanceTask has worked for TypedAfter units of --pace, Guidance
// is typed, unless a person has given guidance before (docs/spec 24.2). The
// question of the last task expires unanswered.
const (
	Guidance     = "Wrap the old till, don't replace it"
	GuidanceTask = "Task 3"
	GuidanceHat  = "planner"
	TypedAfter   = 5
)

// Titles of the plan's tasks.
const (
	titlePrices = "Add a price list"
	titleSum    = "Sum the basket"
	titleTill   = "Move the till to the new API"
	titleRound  = "Round half cents"
)

// sampleTitle is the first line of the sample repository's README.
const sampleTitle = "# tea-shop: a till in plain shell\n"

// inSample reports whether the work folder holds the sample repository.
func (s *session) inSample() bool {
	readme, err := s.read("README.md")
	return err == nil && bytes.HasPrefix(readme, []byte(sampleTitle))
}

// act is the work of one hat on one task.
type act func(*session) (event, error)

// story is the script of the sample repository: an act for each task's title
// and each hat's event.
var story = map[string]map[string]act{
	titlePrices: {
		planComplete: steps("The teas in one case, with tests", "prices.sh: price_of, five teas, an error for all else",
			"tests/prices.sh: a price, a name with a dash, a tea that we do not sell"),
		buildComplete: (*session).buildPrices,
		reviewVerdict: (*session).reviewNothing,
		fixComplete:   (*session).fixNothing,
	},
	titleSum: {
		planComplete: steps("A sum over pairs of tea and grams", "basket.sh: basket_sum over prices.sh",
			"tests/basket.sh: the sum of the acceptance, an empty basket, an unknown tea"),
		buildComplete: (*session).buildSum,
		reviewVerdict: (*session).reviewSum,
		fixComplete:   (*session).fixSum,
	},
	titleTill: {
		planComplete:  (*session).planTill,
		buildComplete: (*session).buildTill,
		reviewVerdict: (*session).reviewTill,
		fixComplete:   (*session).fixTill,
	},
	titleRound: {
		planComplete:  (*session).planRound,
		buildComplete: (*session).buildRound,
		reviewVerdict: (*session).reviewNothing,
		fixComplete:   (*session).fixNothing,
	},
}

// steps returns the act of a planner with a fixed plan.
func steps(summary string, steps ...string) act {
	return func(s *session) (event, error) {
		return s.endEvent(planComplete, summary, map[string]any{"steps": steps}), nil
	}
}

// unfollowedNote returns the note on guidance that the script does not follow.
func (s *session) unfollowedNote() string {
	if s.inSampleTask && s.title != titleTill {
		return "a scripted agent: " + s.task + " goes by its script; /guidance #3 reaches the till"
	}
	return "a scripted agent cannot follow words; they were in its prompt"
}

func (s *session) reviewNothing() (event, error) {
	return s.verdict("no issues", nil), nil
}

func (s *session) fixNothing() (event, error) {
	return s.dispute("the script knows no such issue"), nil
}

// issue is one issue of a review (docs/spec 2.6).
type issue struct {
	Severity string `json:"severity"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Text     string `json:"text"`
}

func (s *session) verdict(summary string, issues []issue) event {
	data := map[string]any{"issues": append([]issue{}, issues...)} // [] rather than null
	var passes []map[string]string
	for _, name := range s.prompt.passes() {
		passes = append(passes, map[string]string{"pass": name, "verdict": "ok", "note": summary})
	}
	if len(passes) > 0 {
		data["review"] = map[string]any{"passes": passes, "verdict": "ok"}
	}
	return s.endEvent(reviewVerdict, summary, data)
}

var issueLine = regexp.MustCompile(`(?m)^[0-9]+\. \[.*$`)

// dispute answers every issue of the prompt with the reason why it remains.
func (s *session) dispute(reason string) event {
	type disputed struct {
		Issue  string `json:"issue"`
		Reason string `json:"reason"`
	}
	list := []disputed{}
	for _, line := range issueLine.FindAllString(s.prompt.section["Issues"], -1) {
		list = append(list, disputed{line, reason})
	}
	return s.endWriting(fixComplete, "Changed nothing: "+reason, map[string]any{
		"resolved": []string{}, "disputed": list, "no_change": reason,
	})
}

// --- Task 1 ---

func (s *session) buildPrices() (event, error) {
	if err := s.writeAct("price-list"); err != nil {
		return event{}, err
	}
	return s.endWriting(buildComplete, "Price list with five teas", nil), nil
}

// --- Task 2: a claim that is false, and a sum that is wrong ---

// faultyLines lists faulty lines of basket.sh, with the reviewer's issue for
// each.
var faultyLines = [...]struct{ code, rule, text string }{
	{"sum=$((sum + price * (grams / 100)))", "portions",
		"Portions under 100 g cost nothing: grams are divided before they are multiplied."},
	{"sum=$((sum + price * grams / 100))", "rounding",
		"Each portion is cut to whole cents before it is added, so cents are lost: twice 50 g of earl-grey cost 498 instead of 499. Add up first, divide once."},
}

// findWrong returns the reviewer's issues with basket.sh.
func (s *session) findWrong() ([]issue, error) {
	code, err := s.read("basket.sh")
	if err != nil {
		return nil, err
	}
	var found []issue
	for n, line := range strings.Split(string(code), "\n") {
		for _, w := range faultyLines {
			if strings.TrimSpace(line) == w.code {
				found = append(found, issue{Severity: "major", File: "basket.sh", Line: n + 1, Rule: w.rule, Text: w.text})
			}
		}
	}
	return found, nil
}

// buildSum first claims that all tests pass, although its own TestSum fails.
// After verification has found that, it repairs the sum.
func (s *session) buildSum() (event, error) {
	code, err := s.read("basket.sh")
	if err != nil {
		return event{}, err
	}
	switch first := bytes.Contains(code, []byte(faultyLines[0].code)); {
	case s.prompt.verificationFailed() && (code == nil || first):
		err = s.writeAct("sum-claimed") // restores the tests if they are missing
		if err == nil {
			err = s.writeAct("sum-repaired")
		}
		if err == nil {
			return s.endWriting(buildComplete, "Weighs portions under 100 g too", nil), nil
		}
	case code == nil || first:
		err = s.writeAct("sum-claimed")
	}
	if err != nil {
		return event{}, err
	}
	return s.endWriting(buildComplete, "Basket adds up, all tests pass", nil), nil
}

func (s *session) reviewSum() (event, error) {
	found, err := s.findWrong()
	if err != nil {
		return event{}, err
	}
	if len(found) > 0 {
		return s.verdict("The sum is wrong: "+found[0].Rule, found), nil
	}
	return s.verdict("no issues", nil), nil
}

func (s *session) fixSum() (event, error) {
	found, err := s.findWrong()
	if err != nil {
		return event{}, err
	}
	if len(found) == 0 {
		return s.fixNothing()
	}
	if err := s.writeAct("sum-fixed"); err != nil {
		return event{}, err
	}
	return s.endWriting(fixComplete, "Adds up first and divides once", map[string]any{
		"resolved": []string{found[0].Rule}, "disputed": []string{},
	}), nil
}

// --- Task 4: a question ---

const halfCents = "round half cents up?"

// planRound asks a question, and plans after an answer or after its time has
// expired.
func (s *session) planRound() (event, error) {
	if s.prompt.answer(halfCents) == "" {
		return event{question: &question{text: halfCents, options: []string{"yes", "no"}, choice: "no"}}, nil
	}
	way, _ := s.halfCent()
	return steps("Round once, at the end, half a cent "+way, "basket.sh: to the nearest cent before the division",
		"tests/basket.sh: 49.9 cents and 249.5")(s)
}

// halfCent interprets the answer: up or down, and a remark for people.
func (s *session) halfCent() (way, remark string) {
	answer := s.prompt.answer(halfCents)
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(answer, " ")), " ")
	switch strings.Trim(first, ".,;:!") {
	case "yes", "y", "up":
		return "up", ""
	case "no", "n", "down":
		return "down", ""
	case "":
		return "down", " (nobody was asked)"
	}
	return "down", fmt.Sprintf(" (a scripted agent understands yes and no, not %q)", oneLine(answer, 60))
}

func (s *session) buildRound() (event, error) {
	way, remark := s.halfCent()
	if err := s.writeAct("half-" + way); err != nil {
		return event{}, err
	}
	return s.endWriting(buildComplete, "Rounds to the nearest cent, half a cent "+way+remark, nil), nil
}

// oneLine returns text as one line of at most most characters.
func oneLine(s string, most int) string { return text.First(text.OneLine(s), most) }
