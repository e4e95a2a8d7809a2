package bot

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// ChainCheck is the result of recomputing the hashes of a project's stream. The
// zero value says that they were not recomputed.
type ChainCheck struct {
	Recomputed bool        `json:"recomputed"`
	Why        string      `json:"why,omitempty"` // reason why not
	Whole      bool        `json:"whole"`
	End        int64       `json:"end,omitempty"`    // last entry of the stream
	Named      int64       `json:"named,omitempty"`  // newest entry that a commit names as the head
	Commit     string      `json:"commit,omitempty"` // that commit
	Break      *ChainBreak `json:"break,omitempty"`  // the first one; nil for none
}

// ChainBreak is the first entry at which a chain does not hold.
type ChainBreak struct {
	Seq    int64  `json:"seq,omitempty"`    // 0 for none
	Text   string `json:"text"`             // the difference, for people
	Others int    `json:"others,omitempty"` // further breaks
}

// Lines returns what people read about the chain. last is the last entry that is
// shown.
func (c ChainCheck) Lines(last int64) []Line {
	switch {
	case c.Break != nil:
		text := c.Break.Text
		if c.Break.Seq > 0 {
			text = fmt.Sprintf("Entry %d: %s", c.Break.Seq, text)
		}
		return []Line{
			{Text: Clean(SignFailed + " " + text + ".")},
			{Text: "Do not trust what stands above. All places: nightporter verify"},
		}
	case !c.Recomputed:
		return []Line{{Text: Clean(SignLook + " Hash chain not recomputed: " + orElse(c.Why, "no check was made"))}}
	case c.Named == 0:
		return []Line{{Text: fmt.Sprintf("%s Chain whole to entry %d; no commit names it", SignDone, c.End)}}
	}
	out := []Line{{Text: fmt.Sprintf("%s Chain whole to entry %d (commit %s)", SignDone, c.Named, commitID(c.Commit))}}
	if last > c.Named {
		out = append(out, Line{Text: fmt.Sprintf("Entries %d to %d: whole, in no commit yet", c.Named+1, c.End)})
	}
	return out
}

// Evidence renders what the last attempt in records proved, step by step, with
// the step at which it broke, and the check of the hash chain that the records
// are in. records are in ledger order; those of other types are ignored. Times
// are shown in zone.
func Evidence(records []ledger.Record, check ChainCheck, zone *time.Location) Message {
	c := chain{zone: zone, attempts: map[string]bool{}}
	var last int64
	for _, r := range records {
		last = max(last, r.Seq)
		if e, err := r.Entry(); err == nil {
			c.entry(e)
		}
	}
	m := c.message(check.Break != nil)
	m.Lines = append(m.Lines, check.Lines(last)...)
	return m
}

// message renders the chain without the check. altered says that its entries
// are not those that were written.
func (c *chain) message(altered bool) Message {
	name := orElse(shortID(c.task), "task")
	project := strings.TrimPrefix(c.stream, "project/")
	if len(c.lines) == 0 && !altered {
		m := newMessage("evidence.none", firstLine(SignLater, project, "no evidence yet", ""))
		m.add("No attempt was begun.")
		return m
	}
	var m Message
	switch {
	case altered:
		m = refusal("evidence.altered", firstLine(SignFailed, project, name+": ledger altered", ""))
	case c.mergedInto != "":
		m = newMessage("evidence.whole", firstLine(SignDone, project, name+" evidence: merged", ""))
		c.lines = append(c.lines, Line{Text: SignDone + " merged into " + c.mergedInto + ", which is verified as a whole"})
		m.button(c.mergedInto, "/evidence "+strings.TrimPrefix(c.mergedInto, "#"))
	case c.passed:
		m = newMessage("evidence.whole", firstLine(SignDone, project, name+" evidence: passed", ""))
	case c.put != "":
		m = newMessage("evidence.open", firstLine(outcomeSign(c.put), project, name+" evidence: "+c.putAt(), ""))
	case len(c.sections.all) > 0 && c.sections.open():
		m = newMessage("evidence.open", firstLine(SignNow, project, name+" evidence: "+c.sections.tally(), ""))
	case c.closed:
		m = newMessage("evidence.broken", firstLine(SignFailed, project, name+" evidence: ends at "+orElse(c.broke, c.last), ""))
	default:
		m = newMessage("evidence.open", firstLine(SignNow, project, name+" evidence: so far to "+c.last, ""))
	}
	at := 0
	for _, g := range c.groups {
		m.Lines = append(m.Lines, c.lines[at:g.at]...)
		at = g.at
		for _, id := range g.ids {
			if s := c.sections.find(id); s != nil {
				m.add(s.line(func(t time.Time) string { return t.In(c.zone).Format("15:04") }))
			}
		}
	}
	m.Lines = append(m.Lines, c.lines[at:]...)
	for n, u := range c.reach.Hosts {
		if n == 0 {
			m.add("Its sessions and these hosts:")
		}
		m.pre(HostUseText(u))
	}
	if text := c.reach.UnknownText(); text != "" && len(c.reach.Hosts) > 0 {
		m.add("Hosts " + text + ".")
	}
	for _, s := range c.sections.all[:min(len(c.sections.all), 6)] {
		m.button(shortID(s.id), "/evidence "+idArg(s.id))
	}
	for n := 1; n < len(c.attempts); n++ {
		m.button(fmt.Sprintf("Attempt %d", n), fmt.Sprintf("/evidence %s.%d", idArg(c.task), n))
	}
	return m
}

// chain collects the evidence of one attempt from the entries read so far.
type chain struct {
	zone           *time.Location
	stream, task   string
	attempts       map[string]bool
	lines          []Line
	last, broke    string
	build          int // index in lines of the last build
	closed, passed bool
	reach          Reach                 // hosts of the attempt's sessions
	put            ledger.AttemptOutcome // outcome of an attempt that neither passed nor failed
	sections       sections
	groups         []sectionGroup
	mergedInto     string // the task in whose tree the change of a section is
}

// sectionGroup are sections that were made at the same stage: those of the plan, or
// those that something is sent back to. They stand behind line at of the chain.
type sectionGroup struct {
	at  int
	ids []string
}

// divided adds the sections that a task was divided into, or that it is sent back to once
// all were merged. Other parts have evidence of their own.
func (c *chain) divided(b ledger.PartsMade, at string) {
	var ids []string
	for _, p := range b.Parts {
		if p.Joins {
			ids = append(ids, p.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	n := len(c.groups)
	if n > 0 && !mends(b) { // more of the same plan
		c.groups[n-1].ids = append(c.groups[n-1].ids, ids...)
		return
	}
	sign, what := SignDone, "divided into "
	if n > 0 {
		sign, what = SignAgain, "sent back to "
	}
	c.add(sign, what+Plural(len(ids), "section")+" "+at, "sections")
	c.groups = append(c.groups, sectionGroup{at: len(c.lines), ids: ids})
}

func (c *chain) add(sign, text, link string) {
	c.lines = append(c.lines, Line{Text: Clean(sign + " " + text)})
	c.last = link
	if sign == SignFailed {
		c.broke = link
	} else if c.broke == link {
		c.broke = "" // the check failed before and passes now
	}
}

// putAt adds to the first line how an attempt ended that neither passed nor
// failed. For an attempt whose tree is used again later, it also names the last
// check.
func (c *chain) putAt() string {
	word := OutcomeWord(c.put)
	if c.put == ledger.OutcomeParked || c.put == ledger.OutcomeBudget {
		return word + " at " + c.last
	}
	return word
}

func (c *chain) entry(e ledger.Entry) {
	at := func(t time.Time) string {
		if t.IsZero() {
			t = e.Time
		}
		return t.In(c.zone).Format("15:04")
	}
	if c.sections.rests(e) {
		return // its sections stand there
	}
	c.sections.apply(e)
	if c.sections.find(e.Task) != nil {
		c.reach.Apply(e)
		return
	}
	switch b := e.Body.(type) {
	case ledger.PartsMade:
		c.divided(b, at(e.Time))
	case ledger.PartMerged:
		if ledger.SameID(b.Part, c.task) {
			c.mergedInto = shortID(e.Task)
		}
	case ledger.Commitment:
		if !b.Resume {
			// Each attempt has a chain of its own; the last attempt counts.
			c.lines, c.broke, c.closed, c.passed = nil, "", false, false
			c.reach, c.groups, c.mergedInto = Reach{}, nil, ""
		}
		c.put = ""
		c.attempts[e.Attempt] = true
		c.stream, c.task = e.Stream, e.Task
		c.add(SignDone, "begun ("+strings.TrimSpace("commit "+b.Tier)+") "+at(e.Time), "start")
	case ledger.Claim:
		c.add(SignDone, "given to "+orElse(Clean(b.AgentID), "an agent")+" (claim) "+at(b.StartedAt), "start")
	case ledger.Evidence:
		c.evidence(b)
	case ledger.Verified:
		// A reproducer's command has to fail: its failed build counts as done.
		if b.Kind == ledger.KindRepro && b.OK && c.last == "build" {
			c.lines, c.broke = c.lines[:c.build], ""
			c.add(SignDone, "build: "+strings.TrimPrefix(VerifyText(b), SignDone+" "), "build")
		}
	case ledger.SessionPlanned, ledger.SessionEnded:
		c.reach.Apply(e)
	case ledger.WaveBegun:
		c.stream, c.task = e.Stream, fmt.Sprintf("wave %d", b.Wave)
		c.add(SignDone, fmt.Sprintf("begun, takes up %d at most (commit) ", b.Batch)+at(e.Time), "start")
	case ledger.WaveTriaged:
		c.add(SignDone, WaveSorted(b), "triage")
	case ledger.WaveJudged:
		if b.Failed != "" {
			c.lines = append(c.lines, Line{Text: SignLook + " the triager could not decide"}, Line{Kind: Quote, Text: Cut(Clean(b.Failed), quoteWidth)})
			return
		}
		c.add(SignDone, "the triager read "+Plural(len(b.Verdicts), "report"), "triage")
	case ledger.WaveEnded:
		c.wave(b, at(e.Time))
	case ledger.TaskCommitted:
		if b.Outside {
			c.lines = append(c.lines, Line{Text: SignLook + " changed after reading strangers' text"})
		}
	case ledger.TaskPictured:
		if text := PicturedText(b.Pictured); text != "" {
			c.lines = append(c.lines, Line{Text: Clean(PicturedSign(b.Pictured) + " pictures: " + text)})
		}
	case ledger.TaskProved:
		c.lines = append(c.lines, Line{Text: Clean(ProofSign(b.Proof) + " proof: " + ProofNote(b.Proof))})
	case ledger.Submit:
		c.closed, c.passed = true, b.Result == "pass"
		text := "result: " + b.Result + " (submit)"
		if word := OutcomeWord(b.Outcome); word != "" && b.Outcome != ledger.OutcomeConverged && b.Outcome != ledger.OutcomeFailed {
			text += ", " + word // otherwise "pass" or "fail" in the line says it
		}
		text += " " + at(b.ClosedAt)
		if c.passed {
			c.lines = append(c.lines, Line{Text: Clean(SignDone + " " + strings.TrimSpace(text+" "+commitID(b.Commit)))})
			return
		}
		c.lines = append(c.lines, Line{Text: Clean(SignFailed + " " + text)})
		if reason := Clean(b.Reason); reason != "" {
			c.lines = append(c.lines, Line{Kind: Quote, Text: Cut(reason, quoteWidth)})
		}
	case ledger.AttemptEnded:
		if b.Failed || len(c.lines) == 0 || c.closed {
			return // a Submit entry reports the end
		}
		c.put = outcomeOf(b)
		c.lines = append(c.lines, Line{Text: outcomeSign(c.put) + " " + OutcomeWord(c.put) + " " + at(e.Time)})
		if why := Clean(b.Why); why != "" {
			c.lines = append(c.lines, Line{Kind: Quote, Text: Cut(why, quoteWidth)})
		}
	}
}

// wave adds the summary of a wave, which is the last entry of its chain.
func (c *chain) wave(w ledger.WaveEnded, at string) {
	c.closed, c.passed, c.last = true, len(w.Passed) > 0, "no fix"
	m := waveText{most: maxInWave}
	m.reports(SignDone, w.Passed)
	m.reports(SignFailed, w.Failed)
	m.reports(SignAway, w.Skipped)
	m.add(setAside(w.Aside))
	c.lines = append(c.lines, m.Lines...)
	sign := SignDone
	if !c.passed {
		sign = SignLook
	}
	c.lines = append(c.lines, Line{Text: fmt.Sprintf("%s %d of %d fixed (submit) %s", sign, len(w.Passed), w.Attempted(), at) + WaveCost(w)})
}

func (c *chain) evidence(b ledger.Evidence) {
	switch b.Kind {
	case "build":
		sign := SignDone
		if b.ExitCode != 0 {
			sign = SignFailed
		}
		ran := fmt.Sprintf("%s, exit %d", CommandName(b.Command), b.ExitCode)
		text := "build: " + ran
		c.build = len(c.lines)
		if b.Flaky {
			text += ", flaky"
		}
		c.add(sign, text, "build")
		if b.ExitCode != 0 {
			failed := FailedTest(ledger.Result{Run: b.Command, Exit: b.ExitCode, Tail: b.Tail})
			if failed != ran { // otherwise the line above names the failed command
				c.lines = append(c.lines, Line{Kind: Quote, Text: Cut(failed, quoteWidth)})
			}
		}
	case "investigation":
		c.add(SignDone, "investigation", "investigation")
		if cause := Clean(b.RootCause); cause != "" {
			c.lines = append(c.lines, Line{Kind: Quote, Text: Cut(cause, quoteWidth)})
		}
	case "review":
		text := "review " + Plural(len(b.Issues), "issue")
		if len(b.Looks) > 0 {
			text = "review " + Clean(b.Type) + ": " + Plural(len(b.Issues), "issue")
		}
		if b.Agent != "" {
			text += ", by " + Clean(b.Agent)
		}
		if b.Learned != "" {
			text += ", threshold " + severityList(b.Threshold) + " (" + Clean(b.Learned) + ")"
		}
		c.add(SignDone, text, "review")
		if len(b.Looks) > 0 {
			c.lines = append(c.lines, Line{Text: passesText(b.Looks)})
		}
	case ledger.EvidenceVerification:
		c.criteria(b)
	case "pr":
		c.add(SignDone, fmt.Sprintf("PR %d", b.Number), "pr")
	case "fix-applied":
		c.add(SignDone, fmt.Sprintf("changed %s +%d −%d", Plural(b.FilesChanged, "file"), b.LinesAdded, b.LinesRemoved), "fix-applied")
	default:
		kind := Cut(Clean(b.Kind), 24)
		c.add(SignDone, kind, kind)
	}
}

// passesText says how each pass of a review ended: "intent ✓ · visual ✗".
func passesText(looks []ledger.PassResult) string {
	var parts []string
	for _, l := range looks {
		sign := SignDone
		if l.Verdict != ledger.PassOK {
			sign = SignFailed
		}
		parts = append(parts, Cut(Clean(string(l.Pass)), 16)+" "+sign)
	}
	return strings.Join(parts, " · ")
}

// recordJSON is the form of a ledger record for scripts (docs/spec 8.1).
type recordJSON struct {
	Stream  string          `json:"stream"`
	Seq     int64           `json:"seq,omitempty"`
	Time    string          `json:"time"`
	Type    string          `json:"type"`
	V       int             `json:"v"`
	Run     string          `json:"run,omitempty"`
	Task    string          `json:"task,omitempty"`
	Attempt string          `json:"attempt,omitempty"`
	Session string          `json:"session,omitempty"`
	Actor   string          `json:"actor,omitempty"`
	Cause   string          `json:"cause,omitempty"`
	Body    json.RawMessage `json:"body"`
	Hash    string          `json:"hash,omitempty"` // hex
}

// RecordJSON returns a record as one line of JSON without a newline. A body that
// is no valid JSON becomes a JSON string, so that the line stays readable.
func RecordJSON(r ledger.Record) ([]byte, error) {
	body := json.RawMessage(r.Body)
	if !json.Valid(body) {
		text, err := json.Marshal(strings.ToValidUTF8(string(r.Body), "\uFFFD"))
		if err != nil {
			return nil, fmt.Errorf("record %d of %s: %w", r.Seq, r.Stream, err)
		}
		body = text
	}
	line, err := json.Marshal(recordJSON{
		Stream: r.Stream, Seq: r.Seq, Time: r.Time.UTC().Format(time.RFC3339Nano), Type: r.Type, V: r.V,
		Run: r.Run, Task: r.Task, Attempt: r.Attempt, Session: r.Session, Actor: r.Actor, Cause: r.Cause,
		Body: body, Hash: hex.EncodeToString(r.Hash),
	})
	if err != nil {
		return nil, fmt.Errorf("record %d of %s: %w", r.Seq, r.Stream, err)
	}
	return line, nil
}

// EvidenceJSON returns records as JSON Lines, in the given order.
func EvidenceJSON(records []ledger.Record) ([]byte, error) {
	var out []byte
	for _, r := range records {
		line, err := RecordJSON(r)
		if err != nil {
			return nil, err
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
}
