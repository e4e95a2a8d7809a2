package payload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// maxNote limits what a reviewer says of one pass, in characters.
const maxNote = 300

// review is the field of a verdict that answers the passes of a kind of fix. Its type
// and verdict are kept and not read: the kind is known, and the issues decide.
type review struct {
	Passes []ledger.PassResult `json:"passes"`
}

// Review returns what a verdict says of each pass of its review; nil for a review without
// passes.
func Review(data json.RawMessage) []ledger.PassResult {
	var r review
	_ = json.Unmarshal(Field(data, "review"), &r)
	for n := range r.Passes {
		r.Passes[n].Note = oneLine(r.Passes[n].Note, maxNote)
	}
	return r.Passes
}

// ReviewShape is an example of a verdict that answers the passes of a kind of fix; kind
// is "" for a kind that is unknown.
func ReviewShape(kind string, passes []ledger.Pass) string {
	var each []string
	for _, p := range passes {
		each = append(each, fmt.Sprintf(`{"pass":%q,"verdict":"ok|issues","note":"what you looked at"}`, p))
	}
	typ := ""
	if kind != "" {
		typ = fmt.Sprintf(`"type":%q,`, kind)
	}
	return fmt.Sprintf(`{"summary":"…","issues":[{"severity":"critical|major|minor|suggestion","file":"path","line":12,"rule":"…","text":"…","contradicts":"none|plan|decision","pass":%q,"confidence":90}],"review":{%s"passes":[%s],"verdict":"ok|issues"}}`,
		passes[0], typ, strings.Join(each, ","))
}

func checkReview(raw json.RawMessage) string {
	var r review
	if json.Unmarshal(raw, &r) != nil {
		return "has to be an object with a list of passes, each with strings for pass, verdict and note"
	}
	for n, p := range r.Passes {
		if p.Verdict != ledger.PassOK && p.Verdict != ledger.PassIssues {
			return fmt.Sprintf("has the verdict %q of the pass %q (number %d); it is %s or %s", p.Verdict, p.Pass, n+1, ledger.PassOK, ledger.PassIssues)
		}
	}
	return ""
}

// WrongReview returns what a verdict on a fix lacks, in words for the agent: each pass
// has an answer of its own, and each issue its pass and a confidence. "" = nothing.
func WrongReview(kind string, passes []ledger.Pass, data json.RawMessage) string {
	answers := Review(data)
	var wrong, lacks []string
	for _, p := range passes {
		switch n := slices.IndexFunc(answers, func(a ledger.PassResult) bool { return a.Pass == p }); {
		case n < 0:
			lacks = append(lacks, string(p))
		case answers[n].Note == "":
			wrong = append(wrong, fmt.Sprintf("the pass %s has no note on what you looked at", p))
		}
	}
	if len(lacks) > 0 {
		wrong = append([]string{"the review lacks " + strings.Join(lacks, ", ")}, wrong...)
	}
	for n, i := range Issues(data) {
		switch {
		case i.Confidence == 0:
			wrong = append(wrong, fmt.Sprintf("issue %d has no confidence: say in percent how sure you are that it is real", n+1))
		case !slices.Contains(passes, i.Pass):
			wrong = append(wrong, fmt.Sprintf("issue %d is of the pass %q, which is none of this review", n+1, i.Pass))
		case i.Sure() && slices.ContainsFunc(answers, func(a ledger.PassResult) bool { return a.Pass == i.Pass && a.Verdict == ledger.PassOK }):
			wrong = append(wrong, fmt.Sprintf("the pass %s is said to be ok, and issue %d is of it", i.Pass, n+1))
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	return Complaints(wrong) + "; send " + ReviewShape(kind, passes)
}
