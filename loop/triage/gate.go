package triage

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/nightporter/nightporter/loop/ledger"
)

// shortest is how many characters a body has at least (docs/spec 7.2).
const shortest = 20

// coherence returns why a report says nothing, or "".
func (r *reading) coherence() string {
	body := strings.TrimSpace(r.task.Body)
	letters, broken := 0, 0
	for _, c := range clip(body) {
		switch {
		case unicode.IsLetter(c):
			letters++
		case c == unicode.ReplacementChar || unicode.IsControl(c) && !unicode.IsSpace(c) || unicode.In(c, unicode.Co):
			broken++
		}
	}
	switch {
	case broken > letters:
		return "The text cannot be read: most of it is not text."
	case visibleLength(clip(body)) < shortest:
		return fmt.Sprintf("The text is shorter than %d characters.", shortest)
	case letters == 0:
		return "The text has no words."
	case r.onlyFiller():
		return "It says only that it is a test."
	case r.smashed():
		return "The text was typed at random."
	case r.repeatsTitle():
		return "The text only repeats the title."
	}
	return ""
}

func (r *reading) onlyFiller() bool {
	for _, w := range r.body {
		if lexicon().classes([]string{w}).has(filler) || isRepetition(w) || isSmash(w) || strings.Trim(w, "0123456789") == "" {
			continue
		}
		return false
	}
	return true
}

func (r *reading) smashed() bool {
	smash, all := 0, 0
	seen := map[string]bool{}
	for _, w := range r.body {
		if all += len(w); isSmash(w) {
			smash += len(w)
		}
		seen[w] = true
	}
	return 2*smash >= all || len(r.body) >= 5 && len(seen) == 1
}

// repeatsTitle reports whether the body has nothing beside the title. A source may take
// the title from the body, so a sentence that can be tested is no repetition; of a few
// words only what is concrete can be.
func (r *reading) repeatsTitle() bool {
	if r.report.Untitled || len(r.title) == 0 || len(r.body)%len(r.title) != 0 || len(r.title) > 8 || r.concrete > 0 || len(r.title) > 4 && r.testable() {
		return false
	}
	for i := 0; i < len(r.body); i += len(r.title) {
		if !slices.Equal(r.body[i:i+len(r.title)], r.title) {
			return false
		}
	}
	return true
}

// testable reports whether the report names something that can be seen or tried: one
// concrete sign, or two kinds of words for it. Sites add the page on which a report was
// written by themselves. That says where, so with it one kind of words is enough for
// what.
func (r *reading) testable() bool {
	words := r.class.some(action | place | symptom | comparison | failure)
	if r.where {
		return r.concrete > 1 || words >= 1
	}
	return r.concrete > 0 || words >= 2
}

// match returns why a report is not about this project, or "", and whether rules know
// that it is.
func (v *index) match(r *reading) (why string, sure bool) {
	own := v.ownHost(r.host)
	switch {
	case r.host != "" && v.siblingHost(r.host):
		return fmt.Sprintf("It is about %s, which is another project.", r.host), true
	case r.host != "" && !own && len(v.domains) > 0 && !isLocal(r.host):
		return fmt.Sprintf("It was seen on %s, which is not this project's.", r.host), true
	}
	named := own || slices.ContainsFunc(r.paths, v.hasRoute)
	if s := v.siblingNamed(r.words); s != "" && !named {
		return fmt.Sprintf("It is about %s, which is another project.", s), true
	}
	switch {
	case named:
		return "", true
	case r.class.has(service | outage):
		return "It is about the outage of somebody else's service.", true
	case r.class.has(product) && !v.hasComponent(r.text):
		return "It is about a product that is not part of this project.", true
	}
	return "", v.hasComponent(r.text) || v.hasTerm(r.words)
}

// actionable returns why a report cannot be fixed here, or "", and whether rules know
// that it can.
func (r *reading) actionable() (why string, sure bool) {
	switch {
	case r.class.has(access):
		return "It needs credentials, or somebody else's dashboard.", true
	case r.class.has(decision):
		return "Somebody has to decide first what the product should do.", true
	case r.class.has(unrepeatable):
		return "It cannot be seen again.", true
	}
	return "", r.concrete >= 2 || len(r.errors) > 0
}

// decide applies the gates 1, 2, 3 and 5 to a report, and what a triager says of gates
// that rules leave open. It returns gate 5 apart: gate 4 comes before it.
func (v *index) decide(r *reading, verdict *Verdict) (t ledger.Triage, notHere string) {
	t.Task = r.task.ID
	aside := func(g ledger.Gate, why string) (ledger.Triage, string) {
		t.Gate, t.Why, t.Open = g, why, nil
		return t, ""
	}
	if why := r.coherence(); why != "" {
		return aside(ledger.GateCoherence, why)
	}
	if !r.testable() {
		if r.class.has(common) {
			return aside(ledger.GateTestable, "It names no page, step, error or picture, and nothing that was seen.")
		}
		t.Open = append(t.Open, ledger.GateTestable) // rules do not know the language
	}
	why, sure := v.match(r)
	switch {
	case why != "":
		return aside(ledger.GateMatch, why)
	case !sure:
		t.Open = append(t.Open, ledger.GateMatch)
	}
	if notHere, sure = r.actionable(); notHere == "" && !sure {
		t.Open = append(t.Open, ledger.GateActionable)
	}
	if verdict == nil {
		return t, notHere
	}
	switch {
	case verdict.Gate == "":
		t.Open, t.Session = nil, verdict.Session
	case slices.Contains(t.Open, verdict.Gate):
		t.Session = verdict.Session
		if verdict.Gate == ledger.GateActionable {
			t.Open = nil
			return t, verdict.Why
		}
		return aside(verdict.Gate, verdict.Why)
	}
	return t, notHere
}
