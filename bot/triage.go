package bot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxSuggested limits the reports that /triage names of those to fix, and of those that
// one gate set aside.
const maxSuggested = 5

// Triage shows what the last triage of the project's reports said: what is to be fixed,
// in which order, what was set aside and why, and what others work on.
func Triage(s loop.State, now time.Time) Message {
	var kept []loop.TaskState
	claimed, stale := map[string]ledger.Claimed{}, []ledger.Claimed(nil)
	for _, c := range s.Claims(now) {
		if c.Stale {
			stale = append(stale, c)
		} else {
			claimed[ledger.FoldID(c.Task)] = c
		}
	}
	var others []string
	aside := map[ledger.Gate][]loop.TaskState{}
	set, reports, unclear, tiers := 0, 0, 0, map[ledger.Tier]int{}
	for _, t := range s.Project.Tasks.All() {
		switch {
		case t.Task.Report == nil:
			continue
		case t.Aside != "":
			aside[t.Aside] = append(aside[t.Aside], *t)
			set++
		case claimed[ledger.FoldID(t.Task.ID)].By != "":
			c := claimed[ledger.FoldID(t.Task.ID)]
			others = append(others, shortID(t.Task.ID)+" "+Foreign(Cut(c.Text(now), claimWidth)))
			set++
		case t.Triage != nil && (t.Status == ledger.Ready || t.Status == ledger.Pending):
			kept = append(kept, *t)
			tiers[t.Triage.Tier]++
			if len(t.Triage.Open) > 0 {
				unclear++
			}
		}
		reports++
	}
	if reports == 0 {
		m := newMessage("triage", firstLine("", s.Project.Name, "no bug reports are known", ""))
		m.add("A source of them is bugs:PATH; a run sorts them.")
		return m
	}
	m := newMessage("triage", firstLine("", s.Project.Name, fmt.Sprintf("%s to fix, %d set aside", Plural(len(kept), "report"), set), ""))
	var levels []string
	for _, tier := range []ledger.Tier{ledger.TierSimple, ledger.TierModerate, ledger.TierComplex} {
		if n := tiers[tier]; n > 0 {
			levels = append(levels, fmt.Sprintf("%d %s", n, tierWords[tier]))
		}
	}
	m.add(strings.Join(levels, " · "))
	slices.SortStableFunc(kept, func(a, b loop.TaskState) int {
		return cmp.Or(askedFirst(a, b), cmp.Compare(a.Triage.Tier/ledger.TierComplex, b.Triage.Tier/ledger.TierComplex), cmp.Compare(b.Triage.Score, a.Triage.Score))
	})
	for n, t := range kept[:min(len(kept), maxSuggested)] {
		line := fmt.Sprintf("%d. %s %s · %s, ", n+1, shortID(t.Task.ID), Cut(Foreign(t.Task.Title), 34), orElse(tierWords[t.Triage.Tier], "size unknown"))
		if t.Asked != "" {
			m.add(line + "asked for")
		} else {
			m.add(line + fmt.Sprintf("score %.1f", t.Triage.Score))
		}
	}
	if n := len(kept) - maxSuggested; n > 0 {
		m.add(fmt.Sprintf("and %d more", n))
	}
	m.taken(s, kept)
	switch {
	case unclear > 0 && s.Project.Run == nil:
		m.add(fmt.Sprintf("%s %d of them unclear: a run asks a session about them", SignLater, unclear))
	case unclear > 0:
		m.add(fmt.Sprintf("%s %d of them unclear, kept all the same", SignLater, unclear))
	}
	for _, g := range ledger.Gates() {
		list := aside[g]
		if len(list) == 0 {
			continue
		}
		var ids []string
		for _, t := range list[:min(len(list), maxSuggested)] {
			id := shortID(t.Task.ID)
			if t.Triage != nil && t.Triage.Of != "" {
				id += " (as " + shortID(t.Triage.Of) + ")"
			}
			ids = append(ids, id)
		}
		if n := len(list) - len(ids); n > 0 {
			ids = append(ids, fmt.Sprintf("%d more", n))
		}
		m.add(fmt.Sprintf("%s %d %s: %s", SignAway, len(list), gateWords[g], strings.Join(ids, ", ")))
	}
	m.add(theirs(others))
	for n, c := range stale {
		if n == maxSuggested {
			m.add(fmt.Sprintf("%s and %s without progress", SignLook, Plural(len(stale)-n, "claim")))
			break
		}
		m.add(SignLook + " " + shortID(c.Task) + " " + Foreign(Cut(c.Text(now), claimWidth)) + ": not respected")
	}
	if s.Project.Run == nil {
		return m // nothing is in the ledger that a command could change
	}
	if set > 0 {
		m.add("/task ID says why; /retry ID brings one back for good, /fix ID fixes it next.")
	}
	if len(kept) > 0 {
		m.button("Next "+shortID(kept[0].Task.ID), "/next "+idArg(kept[0].Task.ID))
	}
	return m
}

// claimWidth limits what is said of a claim: names in it are others' words.
const claimWidth = 60

// theirs returns the line about reports that others work on, "" for none.
func theirs(others []string) string {
	text := strings.Join(others[:min(len(others), maxSuggested)], "; ")
	if n := len(others) - maxSuggested; n > 0 {
		text += fmt.Sprintf("; %d more", n)
	}
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%s %d left to others: %s", SignAway, len(others), text)
}

// askedFirst orders what a person asked for before all else.
func askedFirst(a, b loop.TaskState) int {
	switch {
	case a.Asked != "" && b.Asked == "":
		return -1
	case a.Asked == "" && b.Asked != "":
		return 1
	}
	return 0
}

// taken says where reports are expected to be more or less work than they sound, because
// fixes of their kind were.
func (m *Message) taken(s loop.State, kept []loop.TaskState) {
	for _, k := range s.Project.Taken {
		n := slices.IndexFunc(kept, func(t loop.TaskState) bool { return t.Triage.Kind == k.Kind && t.Triage.Estimate == k.Tier })
		if n < 0 {
			continue
		}
		kind := "other"
		if k.Kind != "" {
			kind = Clean(k.Kind)
		}
		m.add(fmt.Sprintf("%s %s fixes take %s here: %s, not %s", SignLater, kind, Took(k.Median()), tierWords[kept[n].Triage.Tier], tierWords[k.Tier]))
	}
}

// claimText says who works on a report that is to be done, "" for other tasks.
func claimText(s loop.State, t loop.TaskState, now time.Time) string {
	for _, c := range s.Claims(now) {
		switch {
		case !ledger.SameID(c.Task, t.Task.ID):
		case c.Stale:
			return SignLook + " " + Foreign(Cut(c.Text(now), claimWidth)) + ": not respected"
		default:
			return SignAway + " " + Foreign(Cut(c.Text(now), claimWidth)) + ": left to them; /fix takes it"
		}
	}
	return ""
}

// expected says what triage expects of the fix of a report that is to be done, "" for
// other tasks.
func expected(s loop.State, t loop.TaskState) string {
	v := t.Triage
	if v == nil || t.Aside != "" || t.Status != ledger.Ready && t.Status != ledger.Pending {
		return ""
	}
	text := "expected " + orElse(tierWords[v.Tier], "size unknown")
	if v.Kind != "" {
		text += ", " + Clean(v.Kind)
	}
	text += fmt.Sprintf(", score %.1f", v.Score)
	for _, k := range s.Project.Taken {
		if k.Kind == v.Kind && k.Tier == v.Estimate {
			text += fmt.Sprintf("; sounds %s, such fixes take %s here", tierWords[v.Estimate], Took(k.Median()))
		}
	}
	switch {
	case len(v.Open) > 0:
		text += "; unclear, kept all the same"
	case v.Session != "":
		text += "; the triager took it"
	}
	return text
}

// tierWords say how large a fix is expected to be.
var tierWords = map[ledger.Tier]string{ledger.TierSimple: "small", ledger.TierModerate: "middling", ledger.TierComplex: "large"}

// Waves lists the waves of the project's last run, the newest first.
func Waves(s loop.State, now time.Time) Message {
	r := s.Project.Run
	if r == nil || !r.InWaves() {
		m := newMessage("waves", firstLine("", s.Project.Name, "no waves", ""))
		m.add("Runs on bug reports work in waves: source bugs:PATH.")
		return m
	}
	m := newMessage("waves", firstLine("", s.Project.Name, r.ID+", "+Plural(r.LastWave, "wave"), ""))
	if w := r.Wave; w != nil {
		m.add(fmt.Sprintf("%s wave %d, since %s: %s", SignNow, w.N, Clock(w.Began, now), waveInHand(w)))
	}
	for _, w := range slices.Backward(r.Waves) {
		sign := SignDone
		if len(w.Passed) == 0 {
			sign = SignLook
		}
		m.add(fmt.Sprintf("%s wave %d: %d of %d fixed, %s%s", sign, w.Wave, len(w.Passed), w.Attempted(), Took(time.Duration(w.DurationMs)*time.Millisecond), WaveCost(w)))
	}
	if limit := r.Settings.MaxWaves; limit > 0 {
		m.add(fmt.Sprintf("At most %s a run; two in a row without a fix end it.", Plural(limit, "wave")))
	} else {
		m.add("Two in a row without a fix end the run.")
	}
	m.button("Triage", "/triage")
	return m
}

// waveInHand says how far a wave is.
func waveInHand(w *loop.Wave) string {
	switch {
	case len(w.Asked) > 0:
		return "the triager reads " + Plural(len(w.Asked), "unclear report")
	case !w.Sorted:
		return "the reports are being sorted"
	}
	return fmt.Sprintf("%d of %d fixed", len(w.Commits), len(w.Batch))
}
