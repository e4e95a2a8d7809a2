package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
	"github.com/nightporter/nightporter/loop/triage"
)

// director plays a script of inputs to the core. Effects that need no decision
// of the script, such as a capture or a mark, succeed by themselves unless the
// script holds them.
type director struct {
	*night
	readonly  bool   // the source takes no tasks
	on        string // id of the task whose session is meant; "" = the first one
	where     string
	held      map[string]bool
	taken     ledger.Capture // of the next take-over
	laid      ledger.Merged
	lifted    ledger.Lifted     // what the next lift is told: on, files, why
	needs     string            // number of the task that does not apply without what a branch leaves out
	left      string            // number of the task that conflicts in the next chain
	noClosed  string            // why the machine has no closed networks
	noBrowser bool              // no Chromium is there
	layer     bool              // the setup layer that checks need is there
	kinds     []triage.Kind     // of fixes
	words     triage.Vocabulary // of the project, for triage
	ran       string            // number of tests that commands say passed; "" = none
	count     bool              // such a number was set
	unmarked  TaskList          // the tasks before nightporter's last mark
	moved     string            // tip of a foreign commit that is in the way of the next commit
	seq       int
	said      []ledger.RequestComment // on the request
	out       strings.Builder
	unread    bool // nothing is written to out: rendering entries takes longer than deciding
}

// treeOf returns the tree of a commit that somebody else made.
func treeOf(commit string) string { return "tree-" + commit }

type scriptFault struct {
	*testing.T
	d *director
}

func (f scriptFault) Fatalf(format string, args ...any) {
	f.T.Helper()
	f.T.Fatalf("%s: %s\n%s", f.d.where, fmt.Sprintf(format, args...), f.d.out.String())
}

func newDirector(t *testing.T, where string) *director {
	d := &director{where: where, held: map[string]bool{}}
	d.night = newNight(scriptFault{t, d})
	d.plan = ledger.Snapshot{Name: "checkout", Path: "checkout.md"}
	d.tasks("1 2")
	return d
}

// playing returns a director after the given commands, in a night named after
// the test.
func playing(t *testing.T, script ...string) *director {
	t.Helper()
	d := newDirector(t, t.Name())
	for _, line := range script {
		d.play(line)
	}
	return d
}

// tasks sets the tasks of the source: "1 2<1 3:manual_verify 4~ 5[phase=2]". "<"
// begins dependencies, ":" a mark, "~" means an edited text, and brackets have other
// fields.
func (d *director) tasks(spec string) {
	d.plan.Tasks = nil
	for _, f := range strings.Fields(spec) {
		t := ledger.Task{Mark: ledger.MarkOpen, Acceptance: []string{"It works"}}
		if rest, fields, ok := strings.Cut(f, "["); ok {
			f = rest
			d.fields(&t, strings.TrimSuffix(fields, "]"))
		}
		f, edited := strings.CutSuffix(f, "~")
		if edited {
			t.Body = "edited"
		}
		if id, mark, ok := strings.Cut(f, ":"); ok {
			f, t.Mark = id, ledger.Mark(mark)
		}
		id, needs, ok := strings.Cut(f, "<")
		if ok {
			for _, n := range strings.Split(needs, ",") {
				t.DependsOn = append(t.DependsOn, "Task "+n)
			}
		}
		t.ID, t.Title = "Task "+id, "Title "+id
		d.plan.Tasks = append(d.plan.Tasks, t)
	}
}

// fields sets the named fields of a task: "priority=4,complexity=2".
func (d *director) fields(t *ledger.Task, list string) {
	for _, f := range strings.Split(list, ",") {
		k, v, _ := strings.Cut(f, "=")
		num, _ := strconv.Atoi(v)
		switch k {
		case "priority":
			t.Priority = num
		case "complexity":
			t.Complexity = num
		case "role":
			t.Role = v
		case "scope":
			t.Scope = v
		case "accept":
			t.Acceptance = strings.Split(strings.ReplaceAll(v, "_", " "), "|")
		case "independent":
			t.Labels = []string{"P"}
		case "phase":
			t.Phase = num
		case "repeat": // minutes
			t.Repeat = &ledger.Repeat{Cooldown: time.Duration(num) * time.Minute}
		case "failures":
			t.Failures = num
		case "second":
			t.SecondReview = true
		case "leaves":
			t.Outputs = append(t.Outputs, ledger.Artefact{Name: "it", Kind: "file", Path: v})
		case "evaluation":
			t.Evaluation = v
		case "verifier":
			t.Verifier = true
		case "outside":
			t.Outside = true
		case "says": // it is a report, by a key of reports
			r, ok := reports[v]
			if !ok {
				d.t.Fatalf("there is no report %q", v)
			}
			t.Report, t.Outside, t.Body, t.Priority = &ledger.Report{Page: r.page, Created: d.now}, true, r.body, r.priority
		case "by":
			if t.Report == nil {
				d.t.Fatalf("by needs a report before it")
			}
			t.Report.Claim = d.claim(v)
		default:
			d.t.Fatalf("what is %s of a task?", k)
		}
	}
}

// claim returns the claim NAME, or NAME@HOURS that it is old.
func (d *director) claim(v string) *ledger.ReportClaim {
	name, hours, aged := strings.Cut(v, "@")
	c := &ledger.ReportClaim{By: name, How: ledger.ClaimField}
	if aged {
		n, _ := strconv.Atoi(hours)
		c.Since = d.now.Add(-time.Duration(n) * time.Hour)
	}
	return c
}

// markIn does to a task of the source what writing a mark does to its next reading.
func markIn(t *ledger.Task, b ledger.EffectMark) {
	if t.Mark = b.Mark; b.Mark == ledger.MarkWorking {
		t.Mark = ledger.MarkOpen
	}
	if b.Tries != nil {
		t.Failures, t.Tried = b.Tries.Failures, b.Tries.Last
	}
}

func (d *director) input(b InputBody) {
	d.seq++
	dec := d.do(b, fmt.Sprintf("i%d", d.seq))
	if !d.unread {
		d.write(dec)
	}
	if !slices.Contains([]string{"tick", "wake"}, b.InputKind()) || len(dec.Entries) > 0 {
		d.settle()
	}
}

// write writes a decision to out.
func (d *director) write(dec Decision) {
	for _, e := range dec.Entries {
		if line := entryLine(e); line != "" {
			d.out.WriteString("  " + line + "\n")
		}
	}
	for _, e := range dec.Effects {
		d.out.WriteString("  → " + effectLine(e) + "\n")
	}
	if a := dec.Answer; a.Text != "" || !a.OK {
		d.out.WriteString("  « " + strings.ReplaceAll(strings.TrimSpace(a.Text), "\n", "\n    ") + "\n")
	}
}

// settle delivers the results of all effects that are not held.
func (d *director) settle() {
	for _, e := range d.todo {
		if d.held[e.Body.EffectKind()] {
			continue
		}
		switch b := e.Body.(type) {
		case ledger.EffectStart:
			s, ok := d.s.Project.Session(b.Session)
			if ok && s.Planned.Kind == ledger.KindSetup && b.Room != nil && d.layer {
				d.exit(func(x *ledger.Exit) { x.Cached, x.Started = true, x.Ended })
				return
			}
		case ledger.EffectCapture, ledger.EffectMerge, ledger.EffectChain, ledger.EffectRemake, ledger.EffectCommit, ledger.EffectMark, ledger.EffectProgress, ledger.EffectEnd, ledger.EffectKeepPlan, ledger.EffectRemember, ledger.EffectLift, ledger.EffectPush, ledger.EffectRequest, ledger.EffectAddTasks, ledger.EffectRemoveTasks, ledger.EffectErase, ledger.EffectAnswerHost, ledger.EffectTriage, ledger.EffectKeepWaves:
			d.let(e.Body.EffectKind())
			return
		}
	}
}

func (d *director) let(kind string) {
	switch kind {
	case "takeover":
		b, _ := take[ledger.EffectCapture](d.night, nil)
		taken := d.taken
		d.taken = ledger.Capture{}
		if taken.Tree == "" {
			taken.Tree = d.tree()
			if len(taken.Files) == 0 {
				taken.Files = []ledger.FileChange{{Path: "a.go", Added: 2, Removed: 1}}
			}
		} else if taken.Tree == "same" {
			taken.Tree = b.Request.Input
			if taken.Tree == "x1" { // git takes a commit for its tree, and a capture has the tree
				taken.Tree = treeOf(taken.Tree)
			}
		}
		if taken.Proof == nil && d.count {
			taken.Proof = &ledger.ProofFacts{}
		}
		d.input(TreeCaptured{Session: b.Request.Session, Taken: taken, Ref: b.Request.Ref})
	case "triage":
		b, _ := take[ledger.EffectTriage](d.night, nil)
		d.input(d.sort(b))
	case "waves":
		take[ledger.EffectKeepWaves](d.night, nil)
		d.input(Wake{})
		d.settle()
	case "reread":
		b, _ := take[ledger.EffectReread](d.night, nil)
		d.now = d.now.Add(ledger.SettleTime)
		d.input(SourceChanged{Snapshot: d.plan, Source: b.Source, Doubted: b.Doubted})
	case "merge":
		b, _ := take[ledger.EffectMerge](d.night, nil)
		m := d.laid
		d.laid = ledger.Merged{}
		if len(m.Conflicts) == 0 && m.Tree == "" {
			m.Tree = d.tree()
		}
		d.input(MergeFinished{Task: b.Task, Onto: b.Merge.Onto, OntoTree: b.Merge.OntoTree, Merged: m})
	case "chain":
		b, _ := take[ledger.EffectChain](d.night, nil)
		d.input(d.chain(b, func(l ledger.ChainLink) string {
			if d.left == "" || !ledger.SameID(l.Task, "Task "+d.left) {
				return ""
			}
			d.left = ""
			return "conflicts with the others"
		}))
	case "remake":
		b, _ := take[ledger.EffectRemake](d.night, nil)
		d.input(d.remake(b.Remake, func(task string) bool { return d.needs != "" && ledger.SameID(task, "Task "+d.needs) }))
	case "commit":
		b, _ := take[ledger.EffectCommit](d.night, nil)
		if tip := d.moved; tip != "" {
			d.moved = ""
			d.input(TipMoved{Task: b.Task, Tip: tip, Tree: treeOf(tip)})
			return
		}
		d.input(CommitMade{Task: b.Task, Committed: d.commit(b.Commit)})
	case "mark":
		b, _ := take[ledger.EffectMark](d.night, nil)
		n := slices.IndexFunc(d.plan.Tasks, func(t ledger.Task) bool { return ledger.SameID(t.ID, b.Task) })
		if n < 0 {
			d.input(MarkMade{Task: b.Task, Mark: b.Mark, Err: "no such task"})
			return
		}
		if r := d.plan.Tasks[n].Report; r != nil && r.Claim != nil && b.Claim != nil && b.Claim.Yields(*r.Claim) {
			d.input(MarkMade{Task: b.Task, Mark: b.Mark, Claim: r.Claim})
			return
		}
		d.plan.Tasks = slices.Clone(d.plan.Tasks)
		markIn(&d.plan.Tasks[n], b)
		d.unmarked = d.s.Project.Tasks
		d.input(MarkMade{Task: b.Task, Mark: b.Mark, Tries: b.Tries})
	case "tasks.add":
		b, _ := take[ledger.EffectAddTasks](d.night, nil)
		if d.readonly {
			d.input(TasksWritten{ID: b.ID, Err: "checkout.md takes no tasks", Remedy: "Write them yourself"})
			return
		}
		added, plan := addTo(d.plan, b.Add)
		before := d.s.Project.Tasks
		d.plan = plan
		d.input(TasksWritten{ID: b.ID, Added: added, Before: before})
	case "tasks.remove":
		b, _ := take[ledger.EffectRemoveTasks](d.night, nil)
		d.plan = removeFrom(d.plan, b.Remove)
		d.input(TasksTakenOut{ID: b.ID})
	case "lift":
		b, _ := take[ledger.EffectLift](d.night, nil)
		lifted := d.lifted
		d.lifted = ledger.Lifted{}
		d.input(LiftFinished{Run: b.Run, N: b.N, Lifted: d.lift(b.Lift, lifted)})
	case "push":
		b, _ := take[ledger.EffectPush](d.night, nil)
		d.input(PushFinished{Run: b.Run, Push: b.Push, Forge: ledger.ForgeGitHub})
	case "request":
		b, _ := take[ledger.EffectRequest](d.night, nil)
		d.input(RequestFinished{Run: b.Run, Print: b.Print, Request: d.requested(b.Draft)})
	case "progress":
		take[ledger.EffectProgress](d.night, nil)
		d.input(Wake{})
		d.settle()
	case "plan":
		take[ledger.EffectKeepPlan](d.night, nil)
		d.input(Wake{})
		d.settle()
	case "memory":
		take[ledger.EffectRemember](d.night, nil)
		d.input(Wake{})
		d.settle()
	case "host.answer":
		take[ledger.EffectAnswerHost](d.night, nil)
		d.input(Wake{})
		d.settle()
	case "erase":
		take[ledger.EffectErase](d.night, nil)
		d.input(Wake{})
		d.settle()
	case "session.end":
		take[ledger.EffectEnd](d.night, nil)
		d.input(Wake{})
		d.settle()
	}
}

// session returns the agent session in flight.
func (d *director) session() Session {
	for _, s := range d.s.Project.Sessions {
		if d.on == "" || ledger.SameID(s.Task, d.on) {
			return s
		}
	}
	d.t.Fatalf("no session of %q is in flight", d.on)
	return Session{}
}

func (d *director) exit(change func(*ledger.Exit)) {
	s := d.session()
	x := ledger.Exit{Session: s.ID, Reason: ledger.ExitSelf, Turns: 3, Tokens: 1000, CostUSD: 0.25, Started: d.now, Ended: d.now.Add(time.Minute)}
	if s.Planned.Kind != ledger.KindAgent && d.ran != "" {
		n, err := strconv.Atoi(d.ran)
		if err != nil {
			d.t.Fatalf("%v", err)
		}
		x.Ran = []ledger.TestCount{{Runner: "go test", Passed: n}}
	}
	if change != nil {
		change(&x)
	}
	if s.Planned.Kind != ledger.KindAgent {
		d.outcome[s.ID] = x
	}
	start, _ := take(d.night, func(e ledger.EffectStart) bool { return e.Session == s.ID })
	if start.Room != nil && s.Planned.Kind != ledger.KindSetup {
		d.layer = true // setup before it has made a layer
	}
	d.input(SessionExited{x})
}

func (d *director) emit(typ, data string) {
	d.input(Emit{Session: d.session().ID, Type: typ, Data: json.RawMessage(data)})
}

const (
	planned = `{"summary":"the plan","steps":["one","two"]%s}`
	built   = `{"summary":"built it","files_modified":["a.go"]%s}`
	fixed   = `{"summary":"fixed it","files_modified":["a.go"],"resolved":["r1"]%s}`
)

// patterns holds the patterns that a script can name.
var patterns = map[string]ledger.Pattern{
	"plan-build-review": testSettings().Pattern,
	"ultrawork":         ultraworkPattern(),
	"team":              teamPattern(),
	"ideas":             {Name: "ideas", Start: "ideas", Routes: []ledger.Route{{From: "ideas", On: ledger.EventIdeas, To: ledger.Converged}}},
	DraftPattern:        {Name: DraftPattern, Start: "drafter", Routes: []ledger.Route{{From: "drafter", On: ledger.EventDraft, To: ledger.Converged}}},
	TriagePattern:       {Name: TriagePattern, Start: "triager", Routes: []ledger.Route{{From: "triager", On: ledger.EventTriage, To: ledger.Converged}}},
	"evaluator":         {Name: "evaluator", Start: "evaluator", Routes: []ledger.Route{{From: "evaluator", On: ledger.EventEvaluation, To: ledger.Converged}}},
	"unrouted":          {Name: "unrouted", Start: "builder", Routes: []ledger.Route{{From: "builder", On: "build.complete", To: "verifier"}, {From: "verifier", On: ledger.EventPassed, To: ledger.Converged}}}, // no configuration that is checked has it
	"single":            {Name: "single", Start: "builder", Routes: []ledger.Route{{From: "builder", On: "build.complete", To: ledger.Converged}}},
	"bug": {
		Name: "bug", Start: "reproducer", Threshold: []ledger.Severity{ledger.Critical, ledger.Major}, MinRounds: 1,
		Routes: []ledger.Route{
			{From: "reproducer", On: ledger.EventRepro, To: "fixer"}, {From: "fixer", On: ledger.EventFix, To: "reviewer"},
			{From: "reviewer", On: ledger.EventReview, When: ledger.Above, To: "fixer"}, {From: "reviewer", On: ledger.EventReview, When: ledger.Below, To: "verifier"},
			{From: "verifier", On: "verification.passed", To: ledger.Converged}, {From: "verifier", On: ledger.EventFailed, To: "fixer"},
		},
	},
	"refactor": {
		Name: "build-review-refactor", Start: "builder", Threshold: []ledger.Severity{ledger.Critical, ledger.Major}, MinRounds: 1,
		Routes: []ledger.Route{
			{From: "builder", On: "build.complete", To: "reviewer"}, {From: "reviewer", On: ledger.EventReview, When: ledger.Above, To: "fixer"},
			{From: "reviewer", On: ledger.EventReview, When: ledger.Below, To: "refactorer", Once: true}, {From: "reviewer", On: ledger.EventReview, When: ledger.Below, To: ledger.Converged},
			{From: "fixer", On: ledger.EventFix, To: "reviewer"}, {From: "refactorer", On: "refactor.complete", To: "reviewer"},
		},
	},
}

// ultraworkPattern is the default pattern, with a builder for each section of a plan.
func ultraworkPattern() ledger.Pattern {
	p := testSettings().Pattern
	p.Name, p.Routes = "ultrawork", slices.Clone(p.Routes)
	n := slices.IndexFunc(p.Routes, func(r ledger.Route) bool { return r.On == ledger.EventPlan })
	p.Routes[n].Each = ledger.EachSection
	return p
}

// teamPattern is the pattern of that name, with the planner as the lead and the verifier
// as the tester.
func teamPattern() ledger.Pattern {
	return ledger.Pattern{
		Name: "team", Start: "planner", Threshold: []ledger.Severity{ledger.Critical, ledger.Major}, MinRounds: 1, DistinctFiles: true,
		Routes: []ledger.Route{
			{From: "planner", On: ledger.EventPlan, To: "builder", Each: ledger.EachSection}, {From: "builder", On: "build.complete", To: "verifier"},
			{From: "verifier", On: ledger.EventPassed, To: "reviewer"},
			{From: "verifier", On: ledger.EventFailed, To: "fixer", Each: ledger.EachSection, Times: 3},
			{From: "verifier", On: ledger.EventFailed, To: "arbiter", Once: true}, {From: "verifier", On: ledger.EventFailed, To: ledger.GivenUp},
			{From: "arbiter", On: ledger.EventUpheld, To: "fixer"}, {From: "arbiter", On: ledger.EventDismissed, To: "reviewer"},
			{From: "fixer", On: ledger.EventFix, To: "verifier"},
			{From: "reviewer", On: ledger.EventReview, When: ledger.Above, To: "fixer"}, {From: "reviewer", On: ledger.EventReview, When: ledger.Below, To: ledger.Converged},
		},
	}
}

// task returns the state of a task.
func (d *director) task(id string) TaskState {
	t, ok := d.s.Project.Find(id)
	if !ok || t.Attempt == nil {
		d.t.Fatalf("no attempt at %s", id)
	}
	return t
}

// play executes one command of a script and returns the output so far.
func (d *director) play(line string) string {
	d.t.Helper()
	d.out.Reset()
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "on": // TASK COMMAND: of a run with lanes
		task, command, _ := strings.Cut(rest, " ")
		d.on = "Task " + task
		out := d.play(command)
		d.on = ""
		return out
	case "tasks":
		d.tasks(rest)
	case "source":
		if strings.HasPrefix(rest, "!") {
			d.input(SourceChanged{Err: rest[1:]})
			break
		}
		d.tasks(rest)
		d.input(SourceChanged{Snapshot: d.plan})
	case "stale": // a reading of the source that began before the last mark was written
		was := d.plan.Tasks
		d.tasks(rest)
		d.input(SourceChanged{Snapshot: d.plan, Before: d.unmarked})
		d.plan.Tasks = was
	case "claims": // N NAME: somebody claims it in the source, which nobody has read since
		id, by, _ := strings.Cut(rest, " ")
		d.plan.Tasks = slices.Clone(d.plan.Tasks)
		n := slices.IndexFunc(d.plan.Tasks, func(t ledger.Task) bool { return ledger.SameID(t.ID, "Task "+id) })
		d.plan.Tasks[n] = withClaim(d.plan.Tasks[n], d.claim(by))
	case "read": // the source as it is
		d.input(SourceChanged{Snapshot: d.plan})
	case "set":
		d.set(rest)
	case "load": // of the machine, from here on
		load, err := strconv.ParseFloat(rest, 64)
		if err != nil {
			d.t.Fatalf("%v", err)
		}
		d.load = load
	case "held": // what the load or an account keeps from beginning
		d.waits()
	case "run":
		d.input(StartRun{Settings: d.settings, MaxSessions: max(d.settings.Parallel, 1), New: rest == "new", Check: rest == "check"})
	case "preflight":
		b, _ := take[ledger.EffectPreflight](d.night, nil)
		p := Preflighted{Run: b.Begin.Run, Base: d.base(b.Begin.Run), Snapshot: d.plan}
		p.Base.NoClosed = d.noClosed
		p.Base.NoBrowser = d.noBrowser
		if p.Base.Commit != p.Base.Head {
			p.Base.From = b.Begin.Previous
		}
		if rest != "" {
			p.Problems = []ledger.Diagnostic{{Text: rest}}
		}
		d.input(p)
	case "go": // run, preflight, green baseline
		d.input(StartRun{Settings: d.settings, MaxSessions: max(d.settings.Parallel, 1)})
		d.out.Reset()
		d.play("preflight")
		for len(d.s.Project.Sessions) > 0 && d.session().Planned.Kind != ledger.KindAgent {
			d.exit(nil)
		}
		if rest == "quiet" {
			return ""
		}
		return d.play("show")
	case "task": // plan, build, pass verification, review without issues
		for _, step := range []string{"plan", "build", "greens", "ok"} {
			d.play(step)
		}
		return d.play("show")
	case "mend": // build, pass the attempt's own verification
		d.play("build")
		d.play("green")
		return d.play("show")
	case "reload": // hats and pattern on disk have changed
		switch {
		case strings.HasPrefix(rest, "!"):
			d.input(HatsChanged{Err: rest[1:]})
		default:
			d.settings.Pattern = patterns[rest]
			d.input(HatsChanged{Pattern: d.settings.Pattern, Hats: d.settings.Hats})
		}
	case "taints":
		for _, k := range d.s.Project.Taints {
			fmt.Fprintf(&d.out, "  = %s %d from %s\n", strings.TrimSpace(string(k.Of)+" "+k.ID), k.Texts, strings.Join(shortIDs(k.From), " "))
		}
	case "remember":
		kind, text, _ := strings.Cut(rest, " ")
		d.input(Remember{Session: d.session().ID, Kind: ledger.MemoryKind(kind), Text: text})
	case "sections": // ID[<ID,…]…
		var list []string
		for _, f := range strings.Fields(rest) {
			id, on, _ := strings.Cut(f, "<")
			needs := "[]"
			if on != "" {
				needs = `["` + strings.ReplaceAll(on, ",", `","`) + `"]`
			}
			list = append(list, fmt.Sprintf(`{"id":%q,"title":"Section %s","tasks":["%s works"],"files":["%s.go"],"steps":["do %s"],"depends_on":%s}`, id, id, id, id, id, needs))
		}
		d.emit(ledger.EventPlan, `{"summary":"in parts","sections":[`+strings.Join(list, ",")+`]}`)
		d.exit(nil)
	case "critic": // OKAY, the ids of the rejected sections, or "all" to reject the plan as a whole
		data := `{"verdict":"OKAY","sections":[]}`
		if rest != "OKAY" {
			var list []string
			for _, sec := range payload.Sections(d.task(d.session().Task).Attempt.Plan) {
				verdict := fmt.Sprintf(`{"id":%q,"verdict":"OKAY"}`, sec.ID)
				if slices.Contains(strings.Fields(rest), sec.ID) {
					verdict = fmt.Sprintf(`{"id":%q,"verdict":"REJECT","objections":["no test in %s"]}`, sec.ID, sec.ID)
				}
				list = append(list, verdict)
			}
			data = `{"verdict":"REJECT","sections":[` + strings.Join(list, ",") + `]`
			if rest == "all" {
				data = `{"verdict":"REJECT","sections":[],"objections":["it misses the point"]`
			}
			data += "}"
		}
		d.emit(ledger.EventCritique, data)
		d.exit(nil)
	case "advice":
		d.emit(ledger.EventAdvice, `{"summary":"s","advice":"smaller steps"}`)
		d.exit(nil)
	case "repro":
		d.emit(ledger.EventRepro, `{"command":"go test -run TestBug","root_cause":"off by one","affected_files":["a.go"],"strategy":"count from 0"}`)
		d.exit(nil)
	case "passed":
		d.emit("verification.passed", `{"checks":[{"criterion":"It works","ok":true,"how":"ran it"}]}`)
		d.exit(nil)
	case "failed":
		d.emit(ledger.EventFailed, `{"checks":[{"criterion":"It works","ok":false,"how":"ran it, and it does not"}]}`)
		d.exit(nil)
	case "faults": // CRITERION[@SECTION]…
		var list []string
		for _, f := range strings.Fields(rest) {
			criterion, section, _ := strings.Cut(f, "@")
			list = append(list, fmt.Sprintf(`{"criterion":%q,"ok":false,"how":"tried it","section":%q}`, criterion, section))
		}
		d.emit(ledger.EventFailed, `{"checks":[`+strings.Join(list, ",")+`]}`)
		if d.session().Event != nil {
			d.exit(nil)
		}
	case "upheld", "dismissed": // CRITERION…; upheld are those before a -
		var list []string
		holds := word == "upheld"
		for _, f := range strings.Fields(rest) {
			if f == "-" {
				holds = false
				continue
			}
			list = append(list, fmt.Sprintf(`{"criterion":%q,"holds":%t,"reason":"the plan says so"}`, f, holds))
		}
		d.emit("ruling."+word, `{"summary":"ruled","rulings":[`+strings.Join(list, ",")+`]}`)
		if d.session().Event != nil {
			d.exit(nil)
		}
	case "refactor":
		d.emit("refactor.complete", fmt.Sprintf(`{"summary":"tidied","files_modified":["a.go"]%s}`, rest))
		d.exit(nil)
	case "emit":
		typ, data, _ := strings.Cut(rest, " ")
		d.emit(typ, data)
	case "ideas":
		d.emit(ledger.EventIdeas, `{"summary":"looked around","added":["Task 3"]}`)
		d.exit(nil)
	case "readonly": // the source takes no tasks
		d.readonly = true
	case "draft": // tasks as "id>needed,needed"
		var list []string
		for _, f := range strings.Fields(rest) {
			id, needs, _ := strings.Cut(f, ">")
			on, _ := json.Marshal(strings.FieldsFunc(needs, func(r rune) bool { return r == ',' }))
			list = append(list, fmt.Sprintf(`{"id":%q,"title":"Draft %s","acceptance":["it works"],"depends_on":%s}`, id, id, on))
		}
		d.emit(ledger.EventDraft, `{"summary":"the map zooms","tasks":[`+strings.Join(list, ",")+`]}`)
		if d.session().Event != nil {
			d.exit(nil)
		}
	case "routes": // of the project, as triage knows them
		d.words.Routes = strings.Fields(rest)
	case "kind": // of fixes: NAME WORD PASS,PASS
		f := strings.Fields(rest)
		kind := triage.Kind{Name: f[0], Words: f[1:2]}
		for _, p := range strings.Split(f[2], ",") {
			kind.Passes = append(kind.Passes, ledger.Pass(p))
		}
		d.kinds = append(d.kinds, kind)
	case "judge": // reports: "1" is taken, "2:5" set aside by gate 5, "3:4=1" as a duplicate of 1
		var list []string
		for _, f := range strings.Fields(rest) {
			id, gate, aside := strings.Cut(f, ":")
			gate, of, _ := strings.Cut(gate, "=")
			v := fmt.Sprintf(`{"id":"Task %s","verdict":"take"}`, id)
			if aside {
				v = fmt.Sprintf(`{"id":"Task %s","verdict":"set_aside","gate":%s,"of":"Task %s","reason":"by the triager"}`, id, gate, of)
			}
			list = append(list, v)
		}
		d.emit(ledger.EventTriage, `{"reports":[`+strings.Join(list, ",")+`]}`)
		if d.session().Event != nil {
			d.exit(nil)
		}
	case "evaluate": // "ok", or the number of a task that is sent back
		data := `{"ok":true,"findings":[]}`
		if rest != "ok" {
			data = fmt.Sprintf(`{"ok":false,"task":"Task %s","findings":["rounds down"]}`, rest)
		}
		d.emit(ledger.EventEvaluation, data)
		if d.session().Event != nil {
			d.exit(nil)
		}
	case "plan", "build", "fix":
		typ, data := map[string]string{"plan": "plan.complete", "build": "build.complete", "fix": "fix.complete"}[word], map[string]string{"plan": planned, "build": built, "fix": fixed}[word]
		d.emit(typ, fmt.Sprintf(data, rest))
		d.exit(nil)
	case "ok":
		d.emit("review.verdict", `{"summary":"fine","issues":[]}`)
		d.exit(nil)
	case "issues": // SEVERITY:RULE…
		var list []string
		for _, f := range strings.Fields(rest) {
			sev, rule, _ := strings.Cut(f, ":")
			list = append(list, fmt.Sprintf(`{"severity":%q,"file":"a.go","line":3,"rule":%q,"text":"wrong"}`, sev, rule))
		}
		d.emit("review.verdict", `{"summary":"look","issues":[`+strings.Join(list, ",")+`]}`)
		d.exit(nil)
	case "ask":
		d.emit(ledger.EventQuestion, rest)
		d.exit(nil)
	case "stuck":
		d.emit(ledger.EventBlocked, `{"reason":"no key","tried":"the docs","needs":"a key"}`)
		d.exit(nil)
	case "exit":
		if rest == "" {
			d.exit(nil)
			break
		}
		f, ok := ends[rest]
		if !ok {
			d.t.Fatalf("no end %q", rest)
		}
		d.exit(func(x *ledger.Exit) { f(d, x) })
	case "green":
		d.exit(nil)
	case "picture": // the hash of what a command left
		d.exit(func(x *ledger.Exit) { x.Picture = &ledger.Picture{Hash: rest, Size: 3, Width: 2, Height: 1} })
	case "ran": // from here on, commands say that so many tests passed; nothing without a number
		d.ran, d.count = rest, true
	case "greens":
		for len(d.s.Project.Sessions) > 0 && d.session().Planned.Kind != ledger.KindAgent {
			d.exit(nil)
		}
	case "red": // and red again: the names of the failed tests, TestA by default, and passed=N
		for range 2 {
			d.exit(func(x *ledger.Exit) { x.Code, x.Tail, x.Failures = 1, "FAIL TestA\nwant 1, got 2", failing(rest) })
		}
	case "assert", "unbuilt": // a named test fails: by its assertion, or because it cannot be built
		kind := ledger.FailureAssertion
		if word == "unbuilt" {
			kind = ledger.FailureBuild
		}
		d.exit(func(x *ledger.Exit) {
			x.Code, x.Tail = 1, "FAIL "+rest
			x.Failures = &ledger.Failures{Failed: []ledger.Failure{{Runner: "go test", Name: rest, Kind: kind}}, Exit: 1}
		})
	case "red1":
		d.exit(func(x *ledger.Exit) { x.Code, x.Tail, x.Failures = 1, "FAIL TestA", failing(rest) })
	case "next":
		d.next(rest)
	case "hold":
		for _, k := range strings.Fields(rest) {
			d.held[k] = true
		}
	case "let":
		delete(d.held, rest)
		d.let(rest)
	case "broken":
		kind, text, _ := strings.Cut(rest, " ")
		for n, e := range d.todo {
			if e.Body.EffectKind() == kind {
				task := ""
				switch b := e.Body.(type) {
				case ledger.EffectCommit:
					task = b.Task
				case ledger.EffectCapture:
					if t, ok := (&decision{State: d.s}).workOf(b.Request.Session); ok && strings.HasPrefix(text, "scope") {
						task = t.Task.ID
					}
				case ledger.EffectStart:
					if strings.HasPrefix(text, "scope") { // the scope comes from the plan of the running task
						task = d.session().Task
					}
				}
				d.todo = slices.Delete(slices.Clone(d.todo), n, n+1)
				d.input(EffectBroken{Kind: kind, Key: e.Key, Task: task, Text: text})
				break
			}
		}
	case "fails": // an effect that is tried again: "fails push forge no answer"
		kind, rest, _ := strings.Cut(rest, " ")
		fault, text, _ := strings.Cut(rest, " ")
		for _, e := range d.todo {
			if e.Body.EffectKind() == kind {
				d.input(EffectBroken{Kind: kind, Key: e.Key, Text: text, Fault: ledger.Fault(fault)})
				break
			}
		}
	case "wait":
		if rest == "" {
			d.now = Due(d.s)
			fmt.Fprintf(&d.out, "  (%s)\n", d.now.Format("15:04"))
		} else {
			t, err := time.ParseDuration(rest)
			if err != nil {
				d.t.Fatalf("%v", err)
			}
			d.now = d.now.Add(t)
		}
		d.input(Tick{})
	case "see":
		d.see(rest)
	case "comment":
		d.comment(rest)
	case "replied":
		d.replied(rest)
	case "upkeep":
		d.upkeep(rest)
	case "merge":
		n, _ := strconv.Atoi(rest)
		d.input(MergeRequest{Number: n})
	case "merged":
		d.merged(rest)
	case "show":
		d.show()
	case "turns":
		d.turns()
	case "restart": // continue from the entries as the ledger returns them
		d.s = d.folded
	default:
		d.person(word, rest)
	}
	return d.out.String()
}
