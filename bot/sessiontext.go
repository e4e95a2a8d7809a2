package bot

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/cause"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// EndText says in a few words how a session ended.
func EndText(b ledger.SessionEnded) string {
	x := b.Exit
	switch b.End {
	case ledger.EndedEvent:
		return "event"
	case ledger.EndedSilent, ledger.EndedEarly:
		text := "ended without a report"
		if x.Code > 0 {
			text += fmt.Sprintf(", exit %d", x.Code)
		}
		if x.Signal != "" {
			text += ", " + Clean(x.Signal)
		}
		return text
	case ledger.EndedLeak:
		return "sent a planted secret to a host, stopped"
	case ledger.EndedStall:
		return "silent too long, stopped"
	case ledger.EndedCircle:
		return "went in a circle, stopped"
	case ledger.EndedWall:
		return "over its time limit, stopped"
	case ledger.EndedLimit:
		return "cut off: usage limit, not an attempt"
	case ledger.EndedUnusable:
		return "agent cannot be used, not an attempt"
	case ledger.EndedNetwork:
		return "cut off: network, not an attempt"
	case ledger.EndedBudget:
		return "stopped at its budget, its work is kept"
	case ledger.EndedCut:
		return "cut off, not an attempt"
	case ledger.EndedLost:
		switch x.Reason {
		case ledger.ExitMemory:
			return "used too much memory, stopped"
		case ledger.ExitProcesses:
			return "had too many processes, stopped"
		}
		return "lost without trace"
	case ledger.EndedMachine:
		return "could not be started for now, not an attempt"
	case ledger.EndedDisk:
		return "cut off: disk full, not an attempt"
	}
	return Clean(string(b.End))
}

// Issues returns the issues in a review event's data, nil if it does not decode.
func Issues(data json.RawMessage) []ledger.Issue {
	var v struct {
		Issues []ledger.Issue `json:"issues"`
	}
	if json.Unmarshal(data, &v) != nil {
		return nil
	}
	return v.Issues
}

// Verdict returns the result of a review, a critique, a ruling or a failed verification in
// a few words: "no issues", "1 major issue: rounding". It reports false for any
// other event.
func Verdict(e ledger.EventAccepted) (string, bool) {
	switch e.Type {
	case "review.verdict":
	case "critique.verdict":
		return critiqueText(e.Data), true
	case ledger.EventFailed:
		return unmetText(e.Data), true
	case ledger.EventUpheld, ledger.EventDismissed:
		return rulingText(e.Data), true
	default:
		return "", false
	}
	issues := Issues(e.Data)
	if len(issues) == 0 {
		return "no issues", true
	}
	count := map[ledger.Severity]int{}
	for _, i := range issues {
		count[i.Severity]++
	}
	var parts []string
	var worst ledger.Severity
	for _, s := range []ledger.Severity{ledger.Critical, ledger.Major, ledger.Minor, ledger.Suggestion} {
		if count[s] == 0 {
			continue
		}
		if worst == "" {
			worst = s
		}
		parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
	}
	word := " issues"
	if len(issues) == 1 {
		word = " issue"
	}
	for _, i := range issues {
		if i.Severity != worst {
			continue
		}
		text := Clean(i.Rule)
		if text == "" || Width(text) > 30 {
			text = Clean(i.Text)
		}
		return strings.Join(parts, ", ") + word + ": " + Cut(text, 40), true
	}
	return strings.Join(parts, ", ") + word, true
}

// critiqueText returns a critic's verdict: "plan OKAY", or "plan REJECT: b: no path
// for expired cards".
func critiqueText(data json.RawMessage) string {
	var v struct {
		Verdict    string              `json:"verdict"`
		Sections   []payload.Judgement `json:"sections"`
		Objections []string            `json:"objections"`
	}
	_ = json.Unmarshal(data, &v) // the data was checked when the event was accepted
	text := "plan " + orElse(Cut(Clean(v.Verdict), 10), "judged")
	if v.Verdict == "OKAY" {
		return text
	}
	return text + ": " + Cut(objections(payload.Critique{Sections: v.Sections, Objections: v.Objections})[0], 40)
}

// rulingText returns how many criteria that failed have to be met: "2 of 3 criteria
// hold".
func rulingText(data json.RawMessage) string {
	all, hold := payload.Rulings(data), 0
	for _, r := range all {
		if r.Upheld() {
			hold++
		}
	}
	if len(all) == 1 {
		return "the criterion " + map[bool]string{true: "holds", false: "is dropped"}[hold == 1]
	}
	return fmt.Sprintf("%d of %d criteria hold", hold, len(all))
}

// unmetText returns the number of a verifier's checks that fail and the first of
// them: "1 of 3 checks fails: …".
func unmetText(data json.RawMessage) string {
	var v struct {
		Checks []struct {
			Criterion string `json:"criterion"`
			OK        bool   `json:"ok"`
		} `json:"checks"`
	}
	_ = json.Unmarshal(data, &v) // the data was checked when the event was accepted
	first, n := "", 0
	for _, c := range v.Checks {
		if c.OK {
			continue
		}
		if n++; n == 1 {
			first = ": " + Cut(Clean(c.Criterion), 40)
		}
	}
	verb := " fail"
	if n == 1 {
		verb = " fails"
	}
	return fmt.Sprintf("%d of %s%s%s", n, Plural(len(v.Checks), "check"), verb, first)
}

// Followed returns the ids of the guidance items that an event reports as done,
// and of those that it reports as set aside. In a reviewer's event, done means
// that the work follows the item. Data that does not decode gives none.
func Followed(data json.RawMessage) (done, not []string) {
	var v struct {
		Guidance []struct {
			ID       string          `json:"id"`
			Done     json.RawMessage `json:"done"`
			SetAside json.RawMessage `json:"set_aside"`
		} `json:"guidance"`
	}
	if json.Unmarshal(data, &v) != nil {
		return nil, nil
	}
	set := func(raw json.RawMessage) bool {
		return len(raw) > 0 && string(raw) != "false" && string(raw) != "null" && string(raw) != `""`
	}
	for _, g := range v.Guidance {
		id := Cut(Clean(g.ID), 8)
		switch {
		case set(g.Done) && !set(g.SetAside):
			done = append(done, id)
		case set(g.SetAside):
			not = append(not, id)
		}
	}
	return done, not
}

// Field returns a string field of an event's payload, "" if it is missing or not
// a string.
func Field(data json.RawMessage, name string) string {
	var m map[string]json.RawMessage
	var s string
	if json.Unmarshal(data, &m) == nil && json.Unmarshal(m[name], &s) == nil {
		return strings.TrimSpace(s)
	}
	return ""
}

// VerifyText says how a verification went: "✓ go test 38 s", "✗ TestSum: got 1, want 2".
func VerifyText(v ledger.Verified) string {
	switch v.Kind {
	case ledger.KindRepro:
		return reproText(v)
	case ledger.KindGuard:
		if v.OK {
			return SignDone + " by the start's checks too"
		}
		if len(v.Fewer) > 0 {
			return SignFailed + " " + Cut(Clean(v.Fewer[0].String()), 60)
		}
		v.Kind = ledger.KindVerify
		return SignFailed + " by the start's checks: " + strings.TrimSpace(strings.TrimPrefix(VerifyText(v), SignFailed))
	case ledger.KindProof:
		if v.OK {
			return SignLook + " the new tests pass without the change"
		}
		return SignDone + " the new tests fail without the change"
	}
	var took time.Duration
	var names []string
	note, before := "", ""
	for _, r := range v.Results {
		took += time.Duration(r.Ms) * time.Millisecond
		if r.OK {
			names = append(names, CommandName(r.Run))
			if r.Flaky {
				note = ", flaky"
			}
			continue
		}
		if v.OK || r.Advisory { // what fails in it failed before the work began too
			before = CommandName(r.Run)
			if names := r.Failures.Names(1); names != "" {
				before = Cut(Clean(names), 40)
			}
			continue
		}
		if names := r.NewNames(2); names != "" {
			return SignFailed + " " + CommandName(r.Run) + ", new: " + Cut(Clean(names), 60)
		}
		return SignFailed + " " + FailedTest(r)
	}
	if before != "" { // what is red never shows ✓, whatever else passes
		return SignLook + " " + before + " fails as at the start" + passing(names)
	}
	if !v.OK {
		return SignFailed + " failed"
	}
	if len(names) == 0 {
		return SignDone + " nothing to run" + note
	}
	text := SignDone + " " + strings.Join(names[:min(len(names), 2)], ", ")
	if len(names) > 2 {
		text += fmt.Sprintf(", %d more", len(names)-2)
	}
	if took >= time.Second {
		text += " " + Took(took)
	}
	return text + note
}

// passing names commands that pass beside one that does not.
func passing(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "; " + names[0] + " passes"
	}
	return fmt.Sprintf("; %d others pass", len(names))
}

// reproText returns the result of a reproducer's command, which is expected to
// fail.
func reproText(v ledger.Verified) string {
	if len(v.Results) == 0 {
		return SignFailed + " not run"
	}
	last := v.Results[len(v.Results)-1]
	switch name := CommandName(last.Run); {
	case v.OK:
		return SignDone + " " + name + " fails, as it has to"
	case last.Flaky:
		return SignFailed + " " + name + " fails only now and then"
	case last.OK:
		return SignFailed + " " + name + " passes: nothing is reproduced"
	}
	return SignFailed + " " + FailedTest(last)
}

var (
	envWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	// interpreter lists programs that take a script as their first argument.
	interpreter = map[string]bool{"sh": true, "bash": true, "python": true, "python3": true, "node": true, "ruby": true, "perl": true}
	scriptPath  = regexp.MustCompile(`^[\w./@-]*[/.][\w./@-]+$`)
	plainWord   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_:-]*$`)
)

// CommandName returns a short name of a shell command: "go test" for "go test
// ./...".
func CommandName(run string) string {
	if run == ledger.ProposedSetup {
		return "setup"
	}
	words := strings.Fields(Clean(run))
	for len(words) > 1 && envWord.MatchString(words[0]) {
		words = words[1:]
	}
	// "sh ./verify.sh" is named after its script: verify.sh.
	if len(words) > 1 && interpreter[words[0]] && scriptPath.MatchString(words[1]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return "command"
	}
	first := strings.Trim(words[0], `"'`)
	if i := strings.LastIndexAny(first, `/\`); i >= 0 {
		first = first[i+1:]
	}
	name, rest := orElse(first, "command"), words[1:]
	if len(rest) > 1 && rest[0] == "-m" { // python -m pytest
		rest = rest[1:]
	}
	for _, w := range rest[:min(len(rest), 2)] {
		if !plainWord.MatchString(w) {
			break
		}
		name += " " + w
	}
	return Cut(name, 24)
}

// FailedTest says why a command failed, in at most 48 columns: that it was ended,
// else the failed test and its message, else the line of the output that says
// why, else the command and its exit code.
func FailedTest(r ledger.Result) string {
	if r.Why != "" {
		return Cut(Clean(r.Why), 48)
	}
	if line := Clean(cause.Line(r.Tail)); line != "" && line != "FAIL" {
		return Cut(line, 48)
	}
	return fmt.Sprintf("%s, exit %d", CommandName(r.Run), r.Exit)
}

var claimForm = regexp.MustCompile(`(?i)\b(?:all |the )*tests? (?:all |now |are |is )*(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?)\b`)

// Claim returns the words of a summary that claim that the tests pass, "" if it
// does not claim that.
func Claim(summary string) string { return claimForm.FindString(Clean(summary)) }

// objections returns the objections of a verdict, each behind the section that it is
// about, at least one.
func objections(v payload.Critique) (all []string) {
	for _, o := range v.Objections {
		all = append(all, Clean(o))
	}
	for _, j := range v.Sections {
		for _, o := range j.Objections {
			all = append(all, Cut(Clean(j.ID), 16)+": "+Clean(o))
		}
	}
	if len(all) == 0 {
		return []string{"without a word"}
	}
	return all
}
