package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// Gates that rules leave open are decided by a session that only reads (docs/spec 7.2):
// a task of nightporter's own, which a wave has before it takes anything up. The session
// says something of each report, and the inbox is sorted once more with that. It is no
// session of a report's own attempt, so it never acts on what strangers wrote. Where it
// fails, the reports are kept as they are: nothing is lost by it.

// TriagePattern is the pattern of the session that decides about reports.
const TriagePattern = "triage"

// maxAsked limits the reports of one such session, so that they fit into its prompt.
const maxAsked = 30

// JudgedReport is what a triager's session said of a report.
type JudgedReport struct {
	Print   string                `json:"print"` // fingerprint of what the report said then
	Session string                `json:"session"`
	Verdict *ledger.ReportVerdict `json:"verdict,omitempty"` // nil = it left the report out
}

// judgement returns the verdict of a triager's session that still holds, or nil.
func (t *TaskState) judgement() *ledger.ReportVerdict {
	if t.Judged == nil || t.Judged.Print != reportPrint(&t.Task) {
		return nil
	}
	return t.Judged.Verdict
}

// reportPrint returns a fingerprint of what a report says, without what the source
// records about its life.
func reportPrint(t *ledger.Task) string {
	said := ledger.Report{}
	if t.Report != nil {
		r := *t.Report
		said = ledger.Report{Severity: r.Severity, Page: r.Page, Tags: r.Tags, URL: r.URL, UserAgent: r.UserAgent, Console: r.Console, Screenshot: r.Screenshot, Files: r.Files}
	}
	text, err := json.Marshal(said)
	if err != nil {
		panic(err) // it has only strings
	}
	sum := sha256.Sum256([]byte(t.Title + "\x00" + t.Body + "\x00" + string(text)))
	return hex.EncodeToString(sum[:16])
}

// triages reports whether the run has a pattern for a triager's session. One whose hats
// may write is not used: who judges text by strangers changes nothing.
func (r *Run) triages() bool {
	s := r.upcoming().For(ledger.Task{Role: TriagePattern})
	hat, has := s.Hats[s.Pattern.Start]
	return s.Pattern.Name == TriagePattern && has && hat.MayEmit(ledger.EventTriage) && s.ReadsOnly()
}

// unclear returns the reports that a session has to decide about before the wave takes
// up a batch: none if rules have decided about all that the batch has. The reports whose
// turn comes next are decided along with them.
func (d *decision) unclear(kept []ledger.Triage, batch []string) (asked []ledger.AskedReport) {
	if r := d.run(); r.NoJudge != "" || !r.triages() {
		return nil
	}
	taken := make(map[string]bool, len(batch))
	for _, id := range batch {
		taken[ledger.FoldID(id)] = true
	}
	var later []ledger.AskedReport
	for _, v := range kept {
		now := taken[ledger.FoldID(v.Task)]
		if len(v.Open) == 0 || !now && len(later) == maxAsked {
			continue
		}
		t, ok := d.task(v.Task)
		a := ledger.AskedReport{Task: t.Task.ID, Print: reportPrint(&t.Task)}
		switch {
		case !ok, t.Judged != nil && t.Judged.Print == a.Print:
		case now:
			asked = append(asked, a)
		default:
			later = append(later, a)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	asked = append(asked, later...)
	return asked[:min(len(asked), maxAsked)]
}

// sortsReports reports whether the task is that of a triager's session.
func (d *decision) sortsReports(task string) bool {
	t, ok := d.task(task)
	return ok && len(t.Task.Sorts) > 0
}

// triageTask returns the task of the session that decides about reports.
func (d *decision) triageTask(asked []ledger.AskedReport) ledger.Task {
	w := d.run().Wave
	id := fmt.Sprintf("Triage %d", w.N)
	for n := 2; d.Project.index(id) >= 0; n++ { // an earlier session of the same wave
		id = fmt.Sprintf("Triage %d.%d", w.N, n)
	}
	t := ledger.Task{
		ID: id, Title: fmt.Sprintf("Decide about %s", reportCount(len(asked))), Own: true, Outside: true, Role: TriagePattern, Mark: ledger.MarkOpen,
		Body: "Rules could not decide whether these reports are work for this project. Nothing of them is fixed here.",
	}
	for _, a := range asked {
		t.Sorts = append(t.Sorts, a.Task)
	}
	return t
}

// wrongTriage returns what is wrong with a triager's answer, in words for the agent, or
// "". missing are the reports that it says nothing of, if that is all that is wrong. It
// is refused once for each attempt, and then those reports stay undecided.
func (p Project) wrongTriage(t TaskState, data json.RawMessage) (why string, missing []string) {
	var wrong []string
	said := map[string]bool{}
	for _, v := range payload.ReadTriage(data) {
		said[ledger.FoldID(v.Task)] = true
		o, _ := p.Find(v.Task)
		switch {
		case !slices.ContainsFunc(t.Task.Sorts, func(id string) bool { return ledger.SameID(id, v.Task) }):
			wrong = append(wrong, fmt.Sprintf("%q is none of the reports that you were asked about", v.Task))
		case v.Gate == ledger.GateDuplicate && !p.staysFor(v):
			wrong = append(wrong, fmt.Sprintf("%q cannot be a duplicate of %q: that is no report that stays", v.Task, v.Of))
		case v.Gate != "" && v.Gate != ledger.GateDuplicate && o.Triage != nil && !slices.Contains(o.Triage.Open, v.Gate):
			wrong = append(wrong, fmt.Sprintf("%q has passed the gate %s; open for it are %s", v.Task, v.Gate, gateList(o.Triage.Open)))
		}
	}
	for _, id := range t.Task.Sorts {
		if !said[ledger.FoldID(id)] {
			missing = append(missing, id)
		}
	}
	lacks := "it says nothing of " + strings.Join(missing, ", ") + "; send all verdicts at once"
	switch {
	case len(missing) == 0:
	case len(wrong) > 0:
		return payload.Complaints(append(wrong, lacks)), nil
	case t.Attempt.Refusal == nil || len(t.Attempt.Refusal.Missing) == 0:
		return lacks, missing
	}
	return payload.Complaints(wrong), nil
}

// staysFor reports whether the report that a verdict calls the original is one that
// another report can be a duplicate of.
func (p Project) staysFor(v ledger.ReportVerdict) bool {
	of, ok := p.Find(v.Of)
	return ok && of.Task.Report != nil && of.Aside == "" && of.Status != ledger.Withdrawn && !ledger.SameID(of.Task.ID, v.Task)
}

// gateList names gates with their numbers: "3 match, 5 actionable".
func gateList(gates []ledger.Gate) string {
	var names []string
	for _, g := range append(slices.Clip(gates), ledger.GateDuplicate) {
		names = append(names, fmt.Sprintf("%d %s", slices.Index(ledger.Gates(), g)+1, g))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// judgedReports takes up the answer of a triager's session. Its task leaves the run, as that of
// a session that plans an idea does.
func (d *decision) judgedReports(t TaskState) {
	e := ledger.WaveJudged{}
	said := map[string]bool{}
	for _, v := range payload.ReadTriage(t.Attempt.Event.Data) {
		said[ledger.FoldID(v.Task)] = true
		e.Verdicts = append(e.Verdicts, v)
	}
	for _, id := range t.Task.Sorts {
		if !said[ledger.FoldID(id)] {
			e.LeftOut = append(e.LeftOut, id)
		}
	}
	about := scope{task: t.Task.ID, session: t.Attempt.Session}
	d.submit(t, ledger.Submit{Result: "pass", Outcome: ledger.OutcomeConverged})
	d.setTask(t.Task.ID, ledger.Withdrawn, "decided")
	d.judge(about, e)
}

// unjudged gives the session of a task up, for which there is no answer. The reports
// are kept, and no other session of the run is asked.
func (d *decision) unjudged(t TaskState, why string) {
	d.setTask(t.Task.ID, ledger.Withdrawn, why)
	d.judge(scope{task: t.Task.ID}, ledger.WaveJudged{Failed: why})
}

// judge records what became of the wave's questions about reports, and has the inbox
// sorted again.
func (d *decision) judge(about scope, e ledger.WaveJudged) {
	r := d.run()
	if r.Wave == nil || len(r.Wave.Asked) == 0 {
		return
	}
	e.Wave = r.Wave.N
	d.add(about, e)
	d.effect(d.uniqueKey(fmt.Sprintf("%s wave %d", r.ID, e.Wave)), ledger.EffectTriage{Run: r.ID, Wave: e.Wave, Answers: d.run().Wave.Answers})
}

// restJudge takes the task of a triager's session out of a run whose wave ends before
// that has answered.
func (d *decision) restJudge() {
	for _, t := range d.Project.Tasks.Slice() {
		if len(t.Task.Sorts) > 0 && t.Status != ledger.Withdrawn {
			d.setTask(t.Task.ID, ledger.Withdrawn, "its wave has ended")
		}
	}
}

// judged folds the answer of a triager's session into the reports that it was asked
// about.
func (p Project) judged(b ledger.WaveJudged, session string) Project {
	if p.Run == nil || p.Run.Wave == nil || b.Failed != "" {
		return p
	}
	for _, a := range p.Run.Wave.Asked {
		at := p.index(a.Task)
		if at < 0 {
			continue
		}
		t := *p.Tasks.At(at)
		t.Judged = &JudgedReport{Print: a.Print, Session: session}
		if n := slices.IndexFunc(b.Verdicts, func(v ledger.ReportVerdict) bool { return ledger.SameID(v.Task, a.Task) }); n >= 0 {
			t.Judged.Verdict = &b.Verdicts[n]
		}
		p.Tasks = p.Tasks.with(at, &t)
	}
	return p
}
