package triage

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Score is what decides the place of a report among others. It is the product of its
// factors (docs/spec 7.1).
type Score struct {
	Priority float64 // 10 for critical to 2 for low, 3 if the report has none
	Age      float64 // 1, and 0.1 more for each day, at most 2; 1 if its age is unknown
	Quality  float64 // of the description: 0.5, 0.8 or 1
	Scope    float64 // 1, 0.8 or 0.6 for tier 1, 2 or 3
}

// Factor is one factor of a score.
type Factor struct {
	Name  string
	Value float64
}

// Factors returns the factors in a fixed order.
func (s Score) Factors() []Factor {
	return []Factor{{"priority", s.Priority}, {"age", s.Age}, {"quality", s.Quality}, {"scope", s.Scope}}
}

// Total returns the product of all factors.
func (s Score) Total() float64 { return s.Priority * s.Age * s.Quality * s.Scope }

// ScoreOf returns the score of a report whose fix is of the tier.
func ScoreOf(t ledger.Task, tier ledger.Tier, now time.Time) Score { return read(&t).score(tier, now) }

// severities has the weights of words that sources use.
var severities = map[string]float64{
	"critical": 10, "blocker": 10, "p0": 10, "urgent": 10,
	"high": 8, "p1": 7, "major": 7,
	"medium": 4, "normal": 4, "moderate": 4, "p2": 4,
	"low": 2, "minor": 2, "trivial": 2, "p3": 2,
}

// unweighted is the weight of a report without a severity.
const unweighted = 3

func (r *reading) score(tier ledger.Tier, now time.Time) Score {
	s := Score{Priority: severities[strings.ToLower(strings.TrimSpace(r.report.Severity))], Age: 1, Quality: 0.5, Scope: 0.8}
	if s.Priority == 0 {
		s.Priority = map[int]float64{4: 10, 3: 7, 2: 4, 1: 2}[r.task.Priority]
	}
	s.Priority = cmp.Or(s.Priority, unweighted)
	if c := r.report.Created; !c.IsZero() && now.After(c) {
		s.Age = min(1+0.1*now.Sub(c).Hours()/24, 2)
	}
	switch {
	case r.concrete >= 3:
		s.Quality = 1
	case r.concrete >= 1:
		s.Quality = 0.8
	}
	switch tier {
	case ledger.TierSimple:
		s.Scope = 1
	case ledger.TierComplex:
		s.Scope = 0.6
	}
	return s
}

// kind returns the kind that most of its words and paths show, "" if none does.
func (in *Inputs) kind(r *reading, words *phrases) (best Kind) {
	counts := make([]int, len(in.Kinds))
	for i := range r.words {
		words.each(r.words[i:], func(f phrase) { counts[f.id]++ })
	}
	most := 0
	for i, k := range in.Kinds {
		for _, part := range k.Paths {
			if slices.ContainsFunc(r.paths, func(p string) bool { return strings.Contains(p, strings.ToLower(part)) }) ||
				strings.Contains(strings.ToLower(r.task.Scope), strings.ToLower(part)) {
				counts[i]++
			}
		}
		if counts[i] > most {
			most, best = counts[i], k
		}
	}
	return best
}

// fewestFixes is how many fixes a correction of a tier needs.
const fewestFixes = 3

// tier estimates the work of a fix (docs/spec 7.3). What fixes of the kind took here
// counts more than the rules; then rules is what those say, else 0.
func (in *Inputs) tier(r *reading, k Kind) (t, rules ledger.Tier) {
	t = ledger.TierModerate
	switch {
	case r.class.has(complicated):
		t = ledger.TierComplex
	case k.Tier != 0:
		t = k.Tier
	case r.class.has(simple):
		t = ledger.TierSimple
	}
	for _, taken := range in.Taken {
		if taken.Kind != k.Name || taken.Tier != t || !taken.Proves() {
			continue
		}
		if took := tierOf(taken.Median()); took != t {
			return took, t
		}
	}
	return t, 0
}

// tierOf returns the tier of a fix that takes a time (docs/spec 7.3).
func tierOf(d time.Duration) ledger.Tier {
	switch {
	case d < 2*time.Minute:
		return ledger.TierSimple
	case d <= 10*time.Minute:
		return ledger.TierModerate
	}
	return ledger.TierComplex
}
