package page

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// step is what a page says of one entry.
type step struct {
	Sign, Text string
	Facts      []fact
	Quote      string // words of a session or of a person
	Tail       string // end of a command's output
	Link, To   string // the text of a link and where it leads, only to http or https
	Failed     bool   // the step is where a chain breaks, until a later one proves more
	Proves     bool
	Outcome    string // of the last step of a chain: how that ended

	Seq        int64
	Time, Hash string
}

type fact struct{ Name, Text string }

// fact adds a line, if it says something.
func (s *step) fact(name, text string) {
	if text = strings.TrimSpace(text); text != "" {
		s.Facts = append(s.Facts, fact{name, text})
	}
}

// link adds a link. Forges are asked for addresses, and may answer anything.
func (s *step) link(text, to string) {
	if u, err := url.Parse(to); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		s.Link, s.To = text, to
	}
}

// settled makes the step one that proves something or breaks the chain.
func (s *step) settled(ok bool) {
	s.Sign, s.Proves, s.Failed = bot.SignDone, ok, !ok
	if !ok {
		s.Sign = bot.SignFailed
	}
}

// stepOf returns what a page says of an entry, false for one that stands only in the
// list of all entries.
func stepOf(e ledger.Entry) (step, bool) {
	s := step{Sign: bot.SignDone}
	switch b := e.Body.(type) {
	case ledger.Commitment:
		s.Text = "Begun"
		if b.Resume {
			s.Text = "Goes on where it was parked"
		}
		s.fact("branch", b.Branch)
		s.fact("tier", b.Tier)
		s.fact("builds on", b.Base)
	case ledger.Claim:
		s.Text = "Given to " + cmp.Or(b.AgentID, "an agent")
	case ledger.SessionEnded:
		return session(b)
	case ledger.SessionOutput:
		s.Text = cmp.Or(b.Hat, "session") + " reports " + b.Event
		s.Quote = b.Summary
		s.fact("took", bot.Took(ms(b.DurationMs)))
		s.fact("files", list(b.Artifacts))
	case ledger.Evidence:
		s.evidence(b)
	case ledger.Verified:
		if b.Kind != ledger.KindRepro {
			return s, false // the entries of its commands say it
		}
		s.settled(b.OK)
		s.Text = "Reproduced: its command fails, as it has to"
		if !b.OK {
			s.Text = "Not reproduced"
		}
	case ledger.TaskCommitted:
		s.Text = "Committed"
		s.fact("commit", b.Commit)
		s.fact("subject", b.Subject)
		for _, f := range b.Files {
			s.fact("file", f.Path)
		}
		if b.More > 0 {
			s.fact("and", bot.Plural(b.More, "more file"))
		}
		s.fact("fails as before", list(b.Exempt))
		if b.Outside {
			s.fact(bot.SignLook, "changed after reading strangers' text")
		}
	case ledger.TaskPictured:
		if s.Text = bot.PicturedText(b.Pictured); s.Text == "" {
			return s, false
		}
		s.Sign, s.Text = bot.PicturedSign(b.Pictured), "Pictures: "+s.Text
	case ledger.TaskProved:
		s.Sign, s.Text = bot.ProofSign(b.Proof), "Proof: "+bot.ProofNote(b.Proof)
	case ledger.RequestOpened:
		s.Text = "Pull request opened"
		s.link(fmt.Sprintf("#%d", b.Request.Number), b.Request.URL)
	case ledger.Submit:
		s.settled(b.Result == "pass")
		s.Text, s.Outcome = "Result: "+b.Result, cmp.Or(map[string]string{"pass": "passed", "fail": "failed"}[b.Result], b.Result)
		s.fact("ended", bot.OutcomeWord(b.Outcome))
		s.fact("took", bot.Took(ms(b.TotalDurationMs)))
		s.fact("commit", b.Commit)
		s.Quote = b.Reason
	case ledger.AttemptEnded:
		if b.Failed {
			return s, false // a Submit says it
		}
		s.Sign, s.Text = bot.SignAway, cmp.Or(bot.OutcomeWord(b.Outcome), "ended without a result")
		s.Outcome, s.Quote = s.Text, b.Why
	case ledger.WaveBegun, ledger.WaveTriaged, ledger.WaveJudged, ledger.WaveEnded:
		return wave(b)
	default:
		return s, false
	}
	return s, true
}

// session returns a step for an agent's session; commands have evidence of their own.
func session(b ledger.SessionEnded) (s step, ok bool) {
	if b.Kind != ledger.KindAgent {
		return s, false
	}
	s.Sign, s.Text = bot.SignDone, "Session "+b.Exit.Session+": "+string(b.End)
	if b.Text != "" {
		s.Sign, s.Quote = bot.SignLook, b.Text
	}
	if !b.Exit.Ended.IsZero() && !b.Exit.Started.IsZero() {
		s.fact("took", bot.Took(b.Exit.Ended.Sub(b.Exit.Started)))
	}
	s.fact("cost", bot.SessionCost(b.Exit))
	tokens := "unknown"
	if b.Exit.Tokens >= 0 {
		tokens = fmt.Sprint(b.Exit.Tokens)
	}
	s.fact("tokens", tokens)
	for _, h := range b.Exit.Hosts {
		s.fact("host", bot.HostUseText(h))
	}
	return s, true
}

func (s *step) evidence(b ledger.Evidence) {
	switch b.Kind {
	case "investigation":
		s.Text, s.Quote = "Investigated", b.RootCause
		s.fact("strategy", b.Strategy)
		s.fact("files", list(b.Affected))
	case "fix-applied":
		s.Text = fmt.Sprintf("Changed %s, +%d −%d", bot.Plural(b.FilesChanged, "file"), b.LinesAdded, b.LinesRemoved)
	case "build":
		s.settled(b.ExitCode == 0)
		s.Text, s.Tail = b.Command, b.Tail
		s.fact("exit code", fmt.Sprint(b.ExitCode))
		s.fact("took", bot.Took(ms(b.DurationMs)))
		if b.Flaky {
			s.fact("flaky", "red, then green when repeated")
		}
	case "review":
		s.Text = strings.TrimSpace("Review "+b.Type) + ": " + bot.Plural(len(b.Issues), "issue")
		s.fact("verdict", b.Verdict)
		for _, l := range b.Looks {
			s.fact(string(l.Pass), string(l.Verdict))
		}
		for _, i := range b.Issues {
			s.fact("issue", i.Describe())
		}
	case ledger.EvidenceVerification:
		text, whole := bot.CriteriaTally(b.Criteria)
		s.settled(whole)
		s.Text = "Tried by " + cmp.Or(b.Type, "a verifier") + ": " + text
		for _, c := range b.Criteria {
			name := bot.CriterionSign(c)
			if c.Number > 0 {
				name += fmt.Sprintf(" %d", c.Number)
			}
			said := c.Criterion
			if note := bot.CriterionNote(c); note != "" {
				said += " (" + note + ")"
			} else if c.How != "" {
				said += ": " + c.How
			}
			s.fact(name, said)
		}
	case "pr":
		s.Text = "Pull request"
		s.link(fmt.Sprintf("#%d", b.Number), b.URL)
	default:
		s.Text = b.Kind
	}
}

// wave returns a step for an entry of a wave.
func wave(body ledger.Body) (step, bool) {
	s := step{Sign: bot.SignDone}
	switch b := body.(type) {
	case ledger.WaveBegun:
		s.Text = fmt.Sprintf("Wave %d begun", b.Wave)
		s.fact("takes up", fmt.Sprintf("at most %d reports", b.Batch))
	case ledger.WaveTriaged:
		s.Text = "Sorted: " + bot.Plural(b.Kept, "report") + " to fix"
		s.fact("takes up", list(b.Batch))
		for _, a := range b.Asked {
			s.fact("the triager reads", a.Task)
		}
		s.aside(b.Aside)
		for _, c := range b.Claimed {
			if c.Stale {
				s.fact("not respected", c.Task+", claimed by "+c.By+" without progress")
			} else {
				s.fact("left alone", c.Task+", claimed by "+c.By)
			}
		}
	case ledger.WaveJudged:
		s.Text = "The triager answered"
		if b.Failed != "" {
			s.Sign, s.Text, s.Quote = bot.SignLook, "The triager could not decide", b.Failed
		}
		for _, v := range b.Verdicts {
			s.fact(v.Task, strings.TrimSpace(cmp.Or(bot.GateText(v.Gate), "work for this project")+" "+v.Of+" "+v.Why))
		}
		s.fact("says nothing of", list(b.LeftOut))
	case ledger.WaveEnded:
		s.settled(len(b.Passed) > 0)
		s.Text = fmt.Sprintf("%d of %d fixed", len(b.Passed), b.Attempted())
		s.Outcome = s.Text
		for _, r := range b.Passed {
			s.fact(r.Task, strings.TrimSpace("fixed "+r.Commit+" "+r.URL))
		}
		for _, r := range b.Failed {
			s.fact(r.Task, "failed: "+r.Why)
		}
		for _, r := range b.Skipped {
			s.fact(r.Task, "skipped: "+r.Why)
		}
		s.aside(b.Aside)
		s.fact("left", bot.Plural(b.Left, "report"))
		s.fact("took", bot.Took(ms(b.DurationMs)))
		s.fact("spent", strings.TrimPrefix(bot.WaveCost(b), " · "))
		s.Quote = b.Cut
	}
	return s, true
}

// aside adds what triage set aside, by gate.
func (s *step) aside(by map[ledger.Gate]int) {
	for _, g := range ledger.Gates() {
		if n := by[g]; n > 0 {
			s.fact("set aside", fmt.Sprintf("%d %s", n, bot.GateText(g)))
		}
	}
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func list(of []string) string { return strings.Join(of, ", ") }
