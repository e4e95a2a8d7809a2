package operator

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// statusJSON is one project in the output of `nightporter status --json`.
// Fields are added, never renamed.
type statusJSON struct {
	Project  string     `json:"project"`
	Daemon   bool       `json:"daemon"` // whether a running daemon works on this project
	Run      string     `json:"run,omitempty"`
	State    string     `json:"state"`
	Wait     string     `json:"wait,omitempty"`
	Until    *time.Time `json:"until,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Exit     *int       `json:"exit,omitempty"`
	Done     int        `json:"done"`
	Total    int        `json:"total"`
	Task     string     `json:"task,omitempty"`
	Hat      string     `json:"hat,omitempty"`
	Session  string     `json:"session,omitempty"`
	Branch   string     `json:"branch,omitempty"`
	Tip      string     `json:"tip,omitempty"` // of the branch: green, red, unverified; making while the branch is made again
	Sessions int        `json:"sessions"`
	costJSON
	Guidance int `json:"guidance_waiting"`

	Wave *bot.WaveNow `json:"wave,omitempty"` // under way, of a run on bug reports

	Proof  ledger.ProofCount `json:"proof,omitempty"`  // words of the tasks that the run did
	Unsure []string          `json:"unsure,omitempty"` // tasks to look at before a merge

	Pushed    string          `json:"pushed,omitempty"`     // commit of Branch that the remote has
	Request   *ledger.Request `json:"request,omitempty"`    // asks for the merge of Branch
	NotPushed string          `json:"not_pushed,omitempty"` // why Branch or Request is not up to date, for people

	Requests []requestJSON `json:"requests,omitempty"` // open ones of all runs, oldest first

	Held []heldJSON `json:"held,omitempty"` // agents of the house that cannot be used now

	Asks    []string `json:"questions,omitempty"`
	Remarks []string `json:"remarks,omitempty"` // warnings: settings not reloaded, a start missed
}

// costJSON says what is known of the run's cost, as Figures do. Fields are added, never
// renamed.
type costJSON struct {
	CostUSD   *float64 `json:"cost_usd"`       // null: unknown, if only in part
	Known     float64  `json:"cost_known_usd"` // of the sessions whose cost is known
	Unpriced  int      `json:"unpriced"`       // sessions whose cost is unknown
	Estimated int      `json:"estimated"`      // of the known ones, those whose agent did not say it: by the price of its tokens, or usd_estimate
}

// costOf returns what is known of the cost of the project's run.
func costOf(s loop.State) costJSON {
	r := s.Project.Run
	c := costJSON{Known: r.CostUSD, Unpriced: r.Unpriced, Estimated: r.Estimated}
	if r.Unpriced == 0 && !bot.CostOpen(s) {
		c.CostUSD = &r.CostUSD
	}
	return c
}

// heldJSON is an agent that cannot be used now, in the output of `nightporter status
// --json`. Fields are added, never renamed.
type heldJSON struct {
	Agent    string     `json:"agent"`
	Unusable bool       `json:"unusable"`          // until a person acts, or a trial at Until works
	Until    *time.Time `json:"until"`             // null: unknown
	Known    bool       `json:"known"`             // the agent itself named Until
	Why      string     `json:"why,omitempty"`     // limit, network, auth, early
	Text     string     `json:"text,omitempty"`    // in the agent's words
	Instead  string     `json:"instead,omitempty"` // works meanwhile in this project's run
}

func heldOf(s loop.State) []heldJSON {
	var out []heldJSON
	for _, name := range slices.Sorted(maps.Keys(s.Shared.Agents)) {
		h := s.Shared.Agents[name]
		if h.Trial {
			continue
		}
		j := heldJSON{Agent: name, Unusable: h.Unusable, Known: h.Known, Why: string(h.Why), Text: h.Text}
		if !h.Until.IsZero() {
			j.Until = &h.Until
		}
		if r := s.Project.Run; r != nil && !r.Over() {
			j.Instead = s.Substitute(name)
		}
		out = append(out, j)
	}
	return out
}

// requestJSON is an open request in the output of `nightporter status --json`. Fields
// are added, never renamed.
type requestJSON struct {
	ledger.Request
	Run     string      `json:"run"`
	Task    string      `json:"task,omitempty"`     // of a request for a single task
	Checks  *checksJSON `json:"checks"`             // null: nobody has looked since the last push
	NotKept string      `json:"not_kept,omitempty"` // why nothing of it is run: strangers; address, if they are the user with an address that the forge does not know
}

// checksJSON counts the checks of a request's head.
type checksJSON struct {
	Passed  int        `json:"passed"`
	Pending int        `json:"pending"`
	Failing int        `json:"failing"`
	Failed  []string   `json:"failed,omitempty"` // names of the first that failed
	Due     *time.Time `json:"due,omitempty"`    // there are none, and one may begin until then
}

func requestsOf(p loop.Project) []requestJSON {
	notKept := map[string]string{}
	for _, b := range p.NotKept() {
		notKept[b.Run] = "strangers"
		if b.Seen.OwnUnknown {
			notKept[b.Run] = "address"
		}
	}
	var out []requestJSON
	for _, b := range p.Requests.Open() {
		r := requestJSON{Request: *b.Request, Run: cmp.Or(b.Of, b.Run), Task: b.Task, NotKept: notKept[b.Run]}
		if s := b.Seen; s != nil {
			r.Checks = &checksJSON{Passed: s.Passed, Pending: s.Pending, Failing: s.Failing, Failed: s.Failed}
			if !s.ChecksDue.IsZero() {
				r.Checks.Due = &s.ChecksDue
			}
		}
		out = append(out, r)
	}
	return out
}

func (svc *Service) statusOf(s loop.State) statusJSON {
	out := statusJSON{Daemon: svc.o.Projects.Works(s.Project.Name), Remarks: svc.o.Projects.WarningsOf(s.Project.Name), Project: s.Project.Name, State: "idle", Guidance: len(s.Project.Guidance.Waiting())}
	if svc.o.Engine.Unread(s.Project.Name) != nil {
		out.State = "unknown" // nothing below is known
	}
	out.Done, out.Total = s.Project.Count()
	out.Requests, out.Held = requestsOf(s.Project), heldOf(s)
	for _, q := range s.Project.Questions {
		out.Asks = append(out.Asks, q.ID)
	}
	r := s.Project.Run
	if r == nil {
		return out
	}
	out.Run, out.State, out.Wait, out.Branch, out.Sessions = r.ID, string(r.State), string(r.Wait), r.Base.Branch, r.Agents
	out.Tip = tipOf(s.Project)
	if w, ok := bot.WaveUnderWay(s); ok {
		out.Wave = &w
	}
	if !r.Until.IsZero() {
		out.Until = &r.Until
	}
	out.costJSON = costOf(s)
	out.Proof, _, _ = s.Project.ProofOf(r.ID)
	for _, t := range s.Project.Unsure() {
		out.Unsure = append(out.Unsure, t.Task.ID)
	}
	out.Pushed, out.Request, out.NotPushed = s.Project.Requests.Last(r.ID).Pushed, s.Project.FirstBranch().Request, bot.NotPushed(s)
	if r.Ended != nil {
		out.Reason, out.Exit = string(r.Ended.Reason), &r.Ended.Exit
	}
	for _, ses := range s.Project.Sessions {
		out.Task, out.Hat, out.Session = ses.Task, ses.Planned.Hat, ses.ID
	}
	return out
}

// tipOf says what is known of the last commit of the run's branch.
func tipOf(p loop.Project) string {
	r := p.Run
	red, failed := p.RedTip()
	switch {
	case r.Remake != nil && r.Remake.Stage != loop.RemakeChecking:
		return "making"
	case r.Tip == "" || len(r.Made) == 0:
		return ""
	case p.Green[p.Source] == r.Tip:
		return "green"
	case failed && red.Commit == r.Tip:
		return "red"
	}
	return "unverified"
}

// taskJSON is one task in the output of `nightporter tasks --json`. Fields are
// added, never renamed.
type taskJSON struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Status   string `json:"status"`
	Why      string `json:"why,omitempty"`
	Question string `json:"question,omitempty"`
	Attempts int    `json:"attempts"`
	Commit   string `json:"commit,omitempty"`

	Proof      string        `json:"proof,omitempty"` // the word of a finished task; absent: unknown
	ProofFacts *ledger.Proof `json:"proof_facts,omitempty"`

	Turn  *loop.Turn  `json:"turn,omitempty"`  // of a ready task: its place in the order of the run
	Terms []loop.Term `json:"terms,omitempty"` // of its score; absent in the order of the source
	Waits string      `json:"waits,omitempty"` // of a task that is neither ready, at work nor over: what for
}

func tasksOf(s loop.State) []taskJSON {
	out := []taskJSON{}
	turns := map[string]loop.Turn{}
	for _, t := range loop.Turns(s, time.Now()) {
		turns[t.Task] = t
	}
	for _, t := range s.Project.Tasks.All() {
		one := taskJSON{
			ID: t.Task.ID, Title: t.Task.Title, Status: string(t.Status), Why: t.Why, Question: t.Question, Attempts: t.Attempts, Commit: t.Commit,
		}
		if one.ProofFacts = bot.ProofOf(s, *t); one.ProofFacts != nil {
			one.Proof = one.ProofFacts.Text()
		}
		if turn, ready := turns[t.Task.ID]; ready {
			one.Turn = &turn
			if turn.Score != nil {
				one.Terms = turn.Score.Terms()
			}
		} else if between := t.Status == ledger.Ready && s.Project.Run.Over(); !between && t.Status != ledger.Done && t.Status != ledger.Withdrawn && t.Status != ledger.Active {
			one.Waits = bot.WaitText(s, *t)
		}
		out = append(out, one)
	}
	return out
}

// status renders a project's status and its warnings as text.
func (svc *Service) status(s loop.State) string {
	if svc.o.Engine.Unread(s.Project.Name) != nil {
		return strings.Join(svc.o.Projects.WarningsOf(s.Project.Name), "\n")
	}
	m := bot.StatusNow(svc, s, svc.now())
	if o, _ := svc.o.Projects.Obstacle(s.Project.Name); o.Rests && svc.o.Stays {
		m = bot.Standing(s, svc.now())
	} else if !svc.o.Projects.Works(s.Project.Name) && !s.Project.Run.Over() {
		m = bot.Stopped(s, svc.now())
		if _, configured := svc.o.Projects.Find(s.Project.Name); !configured && svc.o.Stays {
			m = bot.Removed(s, svc.now())
		}
	}
	return strings.Join(append([]string{m.Text(80)}, svc.o.Projects.WarningsOf(s.Project.Name)...), "\n")
}

// absent returns a line that tells the reader to start the daemon, "" when one
// runs.
func (svc *Service) absent() string {
	if svc.o.Serves {
		return ""
	}
	return "\n\n" + bot.SignLater + " nightporter is not running; start it: nightporter up"
}

// statusOfAll answers with the status of every project.
func (svc *Service) statusOfAll() (api.Reply, error) {
	texts, all := []string{}, []statusJSON{}
	for _, name := range svc.Projects() {
		s, _ := svc.State(name)
		texts = append(texts, svc.status(s))
		all = append(all, svc.statusOf(s))
	}
	if len(all) == 0 {
		return reply(strings.Join(append([]string{"○ no project yet; begin with: nightporter run"}, svc.o.Projects.WarningsOf("")...), "\n")+svc.absent(), all)
	}
	return reply(strings.Join(texts, "\n\n")+svc.absent(), all)
}
