package payload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Limits of single fields of events.
const (
	maxCommand  = 1000 // bytes of a reproducer's command
	MaxSections = 26   // sections of a plan: letters name its parts, and more could not be built in a night
)

// Section is a piece of a plan that can be judged and built on its own
// (docs/spec 4.2, 4.4).
type Section struct {
	ID        string            `json:"id"` // a, b, … within its plan
	Title     string            `json:"title"`
	Tasks     []string          `json:"tasks,omitempty"` // conditions that have to hold once the section is done
	Files     []string          `json:"files,omitempty"`
	Steps     []json.RawMessage `json:"steps,omitempty"`
	DependsOn []string          `json:"depends_on,omitempty"` // ids of earlier sections; absent = the section before this one
}

var sectionForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,15}$`)

// Sections returns the sections of a plan, or nil if it has none or they are
// malformed. A section without depends_on depends on the section before it.
func Sections(plan json.RawMessage) []Section {
	var raw []json.RawMessage
	if json.Unmarshal(Field(plan, "sections"), &raw) != nil {
		return nil
	}
	var out []Section
	for _, r := range raw {
		var s Section
		if json.Unmarshal(r, &s) != nil {
			return nil
		}
		if Field(r, "depends_on") == nil && len(out) > 0 {
			s.DependsOn = []string{out[len(out)-1].ID}
		}
		out = append(out, s)
	}
	return out
}

func checkSections(raw json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || list == nil {
		return "has to be a list of sections"
	}
	if len(list) > MaxSections {
		return fmt.Sprintf("has %d sections; %d are the most", len(list), MaxSections)
	}
	const shape = `has to be a list of {"id":"a","title":"…","tasks":["what is true when it is done"],"files":["path"],"steps":["…"],"depends_on":[]}`
	var ids []string
	for n, r := range list {
		var s Section
		if json.Unmarshal(r, &s) != nil {
			return shape
		}
		switch {
		case !sectionForm.MatchString(s.ID):
			return fmt.Sprintf("has a section (number %d) with the id %q; use a, b, c, …", n+1, s.ID)
		case slices.Contains(ids, s.ID):
			return fmt.Sprintf("has two sections with the id %q", s.ID)
		case strings.TrimSpace(s.Title) == "":
			return fmt.Sprintf("has a section (%s) without a title", s.ID)
		}
		for _, on := range s.DependsOn {
			if !slices.Contains(ids, on) {
				return fmt.Sprintf("has a section (%s) that depends on %q, which is no section before it", s.ID, on)
			}
		}
		for _, f := range s.Files {
			for _, i := range ledger.ParseScope(f) {
				if i.Kind == ledger.ScopeBad {
					return fmt.Sprintf("has a section (%s) with the file %q, which leaves the repository", s.ID, f)
				}
			}
		}
		ids = append(ids, s.ID)
	}
	return ""
}

// Verdicts of a critic on a plan or a section.
const (
	VerdictOkay   = "OKAY"
	VerdictReject = "REJECT"
)

// Judgement is a critic's verdict on one section.
type Judgement struct {
	ID         string   `json:"id"`
	Verdict    string   `json:"verdict"`
	Objections []string `json:"objections,omitempty"`
}

// Judgements returns a critic's verdicts on single sections.
func Judgements(data json.RawMessage) []Judgement {
	var list []Judgement
	_ = json.Unmarshal(Field(data, "sections"), &list)
	return list
}

func checkCritique(raw json.RawMessage) string {
	var list []Judgement
	if json.Unmarshal(raw, &list) != nil || list == nil {
		return `has to be a list of {"id":"a","verdict":"OKAY|REJECT","objections":["…"]}; [] for a plan without sections`
	}
	for n, j := range list {
		switch {
		case slices.ContainsFunc(list[:n], func(o Judgement) bool { return o.ID == j.ID }):
			return fmt.Sprintf("judges section %q twice; one verdict each", j.ID)
		case j.Verdict != VerdictOkay && j.Verdict != VerdictReject:
			return fmt.Sprintf("judges section %q as %q; it has to be OKAY or REJECT", j.ID, j.Verdict)
		case j.Verdict == VerdictReject && !anyWords(j.Objections):
			return fmt.Sprintf("rejects section %q without an objection; say what is wrong and what would be right", j.ID)
		}
	}
	return ""
}

func anyWords(list []string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.TrimSpace(s) != "" })
}

// checkVerdict refuses a verdict of a critic that contradicts its objections.
func checkVerdict(data json.RawMessage) string {
	verdict := String(data, "verdict")
	rejected := slices.ContainsFunc(Judgements(data), func(j Judgement) bool { return j.Verdict == VerdictReject })
	whole := anyWords(Strings(data, "objections"))
	switch {
	case verdict != VerdictOkay && verdict != VerdictReject:
		return "the verdict has to be OKAY or REJECT"
	case verdict == VerdictOkay && (rejected || whole):
		return "the verdict is OKAY, and there are objections: reject, or leave them out"
	case verdict == VerdictReject && !rejected && !whole:
		return "the verdict is REJECT without an objection: say which, per section or for the whole"
	}
	return ""
}

// maxOptions limits the options of a question.
const maxOptions = 20

// checkQuestion refuses a question with too many options, or with a choice that
// is not an option.
func checkQuestion(data json.RawMessage) string {
	options, choice := Strings(data, "options"), String(data, "choice")
	switch {
	case len(options) > maxOptions:
		return fmt.Sprintf("%d options are the most", maxOptions)
	case choice != "" && !slices.Contains(options, choice):
		return "choice has to be one of the options, written the same"
	}
	return ""
}
