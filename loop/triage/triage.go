package triage

import (
	"cmp"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Known is a report that is not to be fixed now, but that another one may duplicate.
type Known struct {
	Task   ledger.Task
	Closed time.Time // zero = open, or being fixed
	Merged bool      // its fix is in the base
}

// Taken says what fixes of one kind and tier took in this ledger.
type Taken struct {
	Kind    string      `json:"kind,omitempty"` // "" = fixes whose kind is unknown
	Tier    ledger.Tier `json:"tier"`           // by what their reports say
	Seconds []float64   `json:"seconds"`        // of each fix that passed, in any order
}

// Median returns the time that a fix took, half of them less; 0 for none.
func (t Taken) Median() time.Duration {
	if len(t.Seconds) == 0 {
		return 0
	}
	seconds := slices.Sorted(slices.Values(t.Seconds))
	return time.Duration(seconds[len(seconds)/2] * float64(time.Second))
}

// Proves reports whether there are enough fixes to correct an estimate by.
func (t Taken) Proves() bool { return len(t.Seconds) >= fewestFixes }

// Verdict is what a triager's session said of one report. Its caller has checked it
// against the schema of triage.verdict.
type Verdict struct {
	Task    string      // id
	Gate    ledger.Gate // "" = take it
	Why     string
	Of      string // with GateDuplicate: the report that it duplicates
	Session string
}

// Kind is a kind of fix. It chooses the passes of the review.
type Kind struct {
	Name   string
	Tier   ledger.Tier   // that its fixes usually have; 0 = the rules' own estimate
	Words  []string      // words or phrases of a report that show the kind, in any case
	Paths  []string      // parts of paths and pages that show it
	Passes []ledger.Pass // of the review, two to five
}

// usualPasses are those of the review of a fix whose kind is unknown.
var usualPasses = []ledger.Pass{ledger.PassIntent, ledger.PassBugs}

// Inputs is all that triage depends on.
type Inputs struct {
	Reports    []ledger.Task
	Known      []Known
	Vocabulary Vocabulary
	Taken      []Taken
	Now        time.Time
	Kinds      []Kind          // the first of equally good ones wins
	Verdicts   []Verdict       // of a triager's session; of two about one report the later counts
	Kept       map[string]bool // reports that a person brought back, by folded id (FoldID)
}

// recently is how long a closed report counts for duplicates (docs/spec 7.2).
const recently = 30 * 24 * time.Hour

// Sort decides about each report. The result has the reports that were kept in the order
// in which they are to be fixed, then those set aside in the order of Reports.
func Sort(in Inputs) []ledger.Triage {
	x := newIndex(in.Vocabulary)
	words := newPhrases(nil)
	for i, k := range in.Kinds {
		for _, w := range k.Words {
			words.add(w, common, i)
		}
	}
	verdicts := map[string]*Verdict{}
	for i, v := range in.Verdicts {
		verdicts[ledger.FoldID(v.Task)] = &in.Verdicts[i]
	}
	all := make([]*candidate, len(in.Reports))
	for i := range in.Reports {
		r := read(&in.Reports[i])
		c := &candidate{reading: r, verdict: verdicts[ledger.FoldID(r.task.ID)]}
		if in.Kept[ledger.FoldID(r.task.ID)] {
			c.person, c.Triage = true, ledger.Triage{Task: r.task.ID, Why: "A person brought it back."}
		} else {
			c.Triage, c.notHere = x.decide(r, c.verdict)
		}
		if c.Kept() {
			k := in.kind(r, words)
			c.Kind, c.Passes = k.Name, k.Passes
			if k.Name == "" {
				c.Passes = usualPasses
			}
			c.Tier, c.Estimate = in.tier(r, k)
			c.Score = r.score(c.Tier, in.Now).Total()
		}
		all[i] = c
	}
	in.collapse(all)
	return inOrder(all)
}

// candidate is a report on its way through the gates.
type candidate struct {
	ledger.Triage
	*reading
	verdict *Verdict
	notHere string // why gate 5 stops it, unless gate 4 does; "" = it does not
	person  bool   // a person brought it back
}

// collapse sets duplicates aside. It goes through the reports from the highest score, so
// that a duplicate always names one that stays, and the order of the source is nothing.
func (in *Inputs) collapse(all []*candidate) {
	s := newSurvivors()
	ids := map[string]bool{}
	var known []*reading
	for i := range in.Known {
		k := &in.Known[i]
		if k.Closed.IsZero() || !k.Merged || in.Now.Sub(k.Closed) <= recently {
			known = append(known, read(&k.Task))
			ids[ledger.FoldID(k.Task.ID)] = true
		}
	}
	var turn []*candidate
	for _, c := range all {
		if c.Kept() {
			turn = append(turn, c)
			ids[ledger.FoldID(c.Task)] = true
		}
	}
	for _, c := range turn {
		if of := c.report.Of; of != "" && ids[ledger.FoldID(of)] {
			s.link(c.Task, of)
		}
		if v := c.verdict; v != nil && v.Gate == ledger.GateDuplicate && ids[ledger.FoldID(v.Of)] {
			s.link(c.Task, v.Of)
		}
	}
	slices.SortFunc(known, func(a, b *reading) int { return cmp.Compare(a.task.ID, b.task.ID) })
	for _, r := range known {
		s.add(r)
	}
	slices.SortFunc(turn, func(a, b *candidate) int {
		first := func(c *candidate) int { // what gate 5 stops is nothing to point at
			switch {
			case c.person:
				return 0
			case c.notHere == "":
				return 1
			}
			return 2
		}
		return cmp.Or(cmp.Compare(first(a), first(b)), byScore(a.Triage, b.Triage))
	})
	for _, c := range turn {
		of, why := s.find(c.reading)
		switch {
		case c.person:
			s.add(c.reading)
		case of != "":
			c.Gate, c.Of, c.Why = ledger.GateDuplicate, of, why
			if v := c.verdict; v != nil && v.Gate == ledger.GateDuplicate {
				c.Session, c.Why = v.Session, cmp.Or(v.Why, why)
			}
		case c.notHere != "":
			c.Gate, c.Why = ledger.GateActionable, c.notHere
		default:
			s.add(c.reading)
			continue
		}
		if !c.Kept() {
			c.Open, c.Tier, c.Estimate, c.Kind, c.Passes, c.Score = nil, 0, 0, "", nil, 0
		}
	}
}

// byScore orders the highest score first, and equal ones by id.
func byScore(a, b ledger.Triage) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Task, b.Task))
}

// inOrder returns tiers 1 and 2 by score, tier 3 by score, then what was set aside.
func inOrder(all []*candidate) []ledger.Triage {
	var kept, aside []ledger.Triage
	for _, c := range all {
		if c.Kept() {
			kept = append(kept, c.Triage)
		} else {
			aside = append(aside, c.Triage)
		}
	}
	slices.SortFunc(kept, func(a, b ledger.Triage) int {
		if x, y := a.Tier == ledger.TierComplex, b.Tier == ledger.TierComplex; x != y {
			if y {
				return -1
			}
			return 1
		}
		return byScore(a, b)
	})
	return append(kept, aside...)
}

// Batch returns the next n reports to fix from a result of Sort: tier 3 only if no other
// report is left, or all that is left fits into the batch.
func Batch(list []ledger.Triage, n int) []ledger.Triage {
	var first, later []ledger.Triage
	for _, t := range list {
		switch {
		case !t.Kept():
		case t.Tier == ledger.TierComplex:
			later = append(later, t)
		default:
			first = append(first, t)
		}
	}
	n = max(n, 0)
	if len(first) == 0 || len(first)+len(later) <= n {
		first = append(first, later...)
	}
	return first[:min(n, len(first))]
}
