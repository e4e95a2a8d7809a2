package github

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// firstIssue is the number of the first issue: GitHub counts issues and pull
// requests together, and pull requests begin at 1 here.
const firstIssue = 1001

// agentLogin is the account of GitHub's coding agent in answers, and agentAssignee
// its name in calls.
const (
	agentLogin    = "Copilot"
	agentAssignee = "copilot-swe-agent[bot]"
)

// issue is an issue.
type issue struct {
	number              int
	title, body, author string
	state, reason       string // "open", or "closed" as "completed" or "not_planned"
	assignees           []string
	base                string // that the agent is to start from
	created, updated    time.Time
	closed              time.Time // zero while it is open
	labels              []string
	comments            []*comment
	events              []event
}

// event is an entry of a timeline.
type event struct {
	name string
	at   time.Time
	pull *pull  // of a reference
	from string // repository of the reference, "" = this one
	body string // of the reference's pull request, "" = its own
}

// agentState is what the fake keeps for coding agents.
type agentState struct {
	issues  []*issue
	events  map[int][]event     // of pull requests
	waiting map[string][]string // workflows that need approval, by commit
	noAgent bool
}

// agentIssues answers calls for issues and timelines, and reports whether it was
// one.
func (s *Server) agentIssues(w http.ResponseWriter, r *http.Request, parts []string) bool {
	if len(parts) == 0 {
		if r.Method == http.MethodPost {
			s.openIssue(w, r)
		} else {
			s.listIssues(w, r)
		}
		return true
	}
	n, _ := strconv.Atoi(parts[0])
	what := ""
	if len(parts) > 1 {
		what = parts[1]
	}
	if n < firstIssue {
		if what != "timeline" {
			return false
		}
		page(s, w, r, s.agents.events[n], s.showEvent, plainList)
		return true
	}
	if n-firstIssue >= len(s.agents.issues) {
		fail(w, http.StatusNotFound, "Not Found")
		return true
	}
	i := s.agents.issues[n-firstIssue]
	if i.state == "deleted" {
		fail(w, http.StatusGone, "This issue was deleted")
		return true
	}
	switch r.Method + " " + what {
	case "GET ":
		reply(w, http.StatusOK, s.showIssue(i))
	case "PATCH ":
		s.editIssue(w, r, i)
	case "GET comments":
		page(s, w, r, i.comments, func(c *comment) any { return s.showComment(*c) }, plainList)
	case "POST comments":
		s.commentIssue(w, r, i)
	case "POST labels":
		s.labelIssue(w, r, i)
	case "DELETE labels":
		s.unlabelIssue(w, i, parts)
	case "POST assignees":
		s.assignAll(i, read[struct{ Assignees []string }](r).Assignees)
		i.updated = s.tick()
		reply(w, http.StatusCreated, s.showIssue(i))
	case "DELETE assignees":
		for _, l := range read[struct{ Assignees []string }](r).Assignees {
			i.assignees = slices.DeleteFunc(i.assignees, func(a string) bool { return strings.EqualFold(a, l) })
		}
		i.updated = s.tick()
		reply(w, http.StatusOK, s.showIssue(i))
	case "GET timeline":
		page(s, w, r, i.events, s.showEvent, plainList)
	default:
		fail(w, http.StatusNotFound, "Not Found")
	}
	return true
}

func (s *Server) openIssue(w http.ResponseWriter, r *http.Request) {
	body := read[struct {
		Title, Body     string
		Assignees       []string
		Labels          []string
		AgentAssignment struct {
			BaseBranch string `json:"base_branch"`
		} `json:"agent_assignment"`
	}](r)
	if s.agents.noAgent && slices.Contains(body.Assignees, agentAssignee) {
		fail(w, http.StatusUnprocessableEntity, "Validation Failed", "assignees cannot be assigned to this issue")
		return
	}
	i := &issue{number: firstIssue + len(s.agents.issues), title: body.Title, body: body.Body, author: s.Login, state: "open", base: body.AgentAssignment.BaseBranch, labels: body.Labels, created: s.tick(), updated: s.now}
	s.assignAll(i, body.Assignees)
	s.agents.issues = append(s.agents.issues, i)
	reply(w, http.StatusCreated, s.showIssue(i))
}

// assignAll assigns accounts to an issue. The agent is shown by another name than
// it is assigned by.
func (s *Server) assignAll(i *issue, logins []string) {
	for _, l := range logins {
		if l == agentAssignee {
			l = agentLogin
		}
		if !slices.Contains(i.assignees, l) {
			i.assignees = append(i.assignees, l)
		}
	}
}

func (s *Server) showIssue(i *issue) map[string]any {
	assignees := []any{}
	for _, l := range i.assignees {
		assignees = append(assignees, s.user(l))
	}
	closed := any(nil)
	if !i.closed.IsZero() {
		closed = stamp(i.closed)
	}
	return map[string]any{
		"labels": showLabels(i.labels), "updated_at": stamp(i.updated), "closed_at": closed,
		"number": i.number, "node_id": fmt.Sprint("I_", i.number), "title": i.title, "body": i.body, "user": s.user(i.author),
		"state": i.state, "state_reason": i.reason, "assignees": assignees, "created_at": stamp(i.created),
		"html_url": fmt.Sprintf("%s%s/issues/%d", s.URL, s.repo.name, i.number),
	}
}

func (s *Server) showEvent(e event) any {
	v := map[string]any{"event": e.name, "created_at": stamp(e.at)}
	if e.pull != nil {
		from := e.from
		if from == "" {
			from = s.repo.name
		}
		body := e.body
		if body == "" {
			body = e.pull.body
		}
		v["source"] = map[string]any{"type": "issue", "issue": map[string]any{
			"number": e.pull.number, "body": body, "user": s.user(e.pull.author), "pull_request": map[string]any{"url": "x"},
			"html_url": fmt.Sprintf("%s%s/pull/%d", s.URL, from, e.pull.number),
		}}
	}
	return v
}

// workflowRuns answers with the workflows that wait for an approval.
func (s *Server) workflowRuns(w http.ResponseWriter, r *http.Request) {
	var runs []any
	if r.URL.Query().Get("status") == "action_required" {
		for _, name := range s.agents.waiting[r.URL.Query().Get("head_sha")] {
			runs = append(runs, map[string]any{"name": name, "status": "completed", "conclusion": "action_required"})
		}
	}
	reply(w, http.StatusOK, map[string]any{"total_count": len(runs), "workflow_runs": runs})
}

// updateBranch merges the base of a pull request into its head.
func (s *Server) updateBranch(w http.ResponseWriter, r *http.Request, p *pull) {
	if want := read[struct {
		Head string `json:"expected_head_sha"`
	}](r).Head; want != "" && want != p.headCommit {
		fail(w, http.StatusUnprocessableEntity, "expected head sha didn’t match current head ref.")
		return
	}
	hash := s.hash("update", p.number, len(s.repo.commits))
	s.repo.push(p.head, hash, s.Login, s.tick(), p.headCommit, s.repo.branches[p.base].commit)
	p.headCommit, p.updated = hash, s.now
	reply(w, http.StatusAccepted, map[string]any{"message": "Updating pull request branch."})
}

// NoAgent switches the coding agent of the repository off.
func (s *Server) NoAgent() { s.do(func() { s.agents.noAgent = true }) }

// Issue is an issue as people see it.
type Issue struct {
	Number             int
	Title, Body, State string
	Base               string // that the agent is to start from
	Assignees          []string
	Labels             []string
	Comments           []string
}

// Issues returns all issues.
func (s *Server) Issues() (out []Issue) {
	s.do(func() {
		for _, i := range s.agents.issues {
			v := Issue{Number: i.number, Title: i.title, Body: i.body, State: i.state, Base: i.base, Assignees: slices.Clone(i.assignees), Labels: slices.Clone(i.labels)}
			for _, c := range i.comments {
				v.Comments = append(v.Comments, c.body)
			}
			out = append(out, v)
		}
	})
	return out
}

// CopyIssue writes an issue of an account with the text of another one.
func (s *Server) CopyIssue(number int, login string) {
	s.do(func() {
		was := s.agents.issues[number-firstIssue]
		s.agents.issues = append(s.agents.issues, &issue{number: firstIssue + len(s.agents.issues), title: was.title, body: was.body, author: login, state: "open", created: s.tick(), updated: s.now})
	})
}

// CloseIssue closes an issue, as "completed", "not_planned" or "deleted".
func (s *Server) CloseIssue(number int, reason string) {
	s.do(func() {
		i := s.agents.issues[number-firstIssue]
		i.state, i.reason, i.updated, i.closed = "closed", reason, s.tick(), s.now
		if reason == "deleted" {
			i.state = reason
		}
	})
}

// Unassign takes all accounts from an issue.
func (s *Server) Unassign(number int) {
	s.do(func() { s.agents.issues[number-firstIssue].assignees = nil })
}

// Assign makes accounts the only ones that an issue is assigned to.
func (s *Server) Assign(number int, logins ...string) {
	s.do(func() {
		i := s.agents.issues[number-firstIssue]
		i.assignees, i.updated = logins, s.tick()
	})
}

// AgentStarts opens a pull request of an account for an issue, a draft that its
// author works on. fork opens it from elsewhere.
func (s *Server) AgentStarts(number int, login string, fork bool) (pullNumber int) {
	s.do(func() {
		n := len(s.repo.pulls) + 1
		branch := fmt.Sprintf("copilot/fix-%d-%d", number, n)
		at := s.tick()
		hash := s.hash(branch, 0)
		s.repo.push(branch, hash, login, at, s.repo.branches["main"].commit)
		p := &pull{
			number: n, title: "[WIP] work", body: fmt.Sprintf("Fixes acme/shop#%d", number), author: login, state: "open", draft: true,
			head: branch, headCommit: hash, base: "main", created: at, updated: at, fork: fork,
		}
		s.repo.pulls = append(s.repo.pulls, p)
		i := s.agents.issues[number-firstIssue]
		i.events = append(i.events, event{name: "cross-referenced", at: at, pull: p})
		s.event(n, "copilot_work_started")
		pullNumber = n
	})
	return pullNumber
}

// Mention adds a reference from a pull request to an issue. from is the repository
// that a pull request of the same number is in, with a body of its own; "" = this
// one.
func (s *Server) Mention(pullNumber, number int, from, body string) {
	s.do(func() {
		i := s.agents.issues[number-firstIssue]
		i.events = append(i.events, event{name: "cross-referenced", at: s.tick(), pull: s.repo.pulls[pullNumber-1], from: from, body: body})
	})
}

// AgentWorks begins another session with a pull request.
func (s *Server) AgentWorks(number int) { s.do(func() { s.event(number, "copilot_work_started") }) }

// AgentEnds ends the session, with a push or a failure.
func (s *Server) AgentEnds(number int, push, failed bool) {
	s.do(func() {
		p := s.repo.pulls[number-1]
		if push {
			hash := s.hash(p.head, len(s.repo.commits))
			s.repo.push(p.head, hash, p.author, s.tick(), p.headCommit)
			p.headCommit = hash
		}
		p.title = strings.TrimPrefix(p.title, "[WIP] ")
		if failed {
			s.event(number, "copilot_work_finished_failure")
		} else {
			s.event(number, "copilot_work_finished")
		}
	})
}

func (s *Server) event(number int, name string) {
	if s.agents.events == nil {
		s.agents.events = map[int][]event{}
	}
	s.agents.events[number] = append(s.agents.events[number], event{name: name, at: s.tick()})
}

// Approval makes workflows wait for an approval, for the head of a pull request.
func (s *Server) Approval(number int, names ...string) {
	s.do(func() {
		if s.agents.waiting == nil {
			s.agents.waiting = map[string][]string{}
		}
		s.agents.waiting[s.repo.pulls[number-1].headCommit] = names
	})
}

// Head returns the commit of a pull request.
func (s *Server) Head(number int) (hash string) {
	s.do(func() { hash = s.repo.pulls[number-1].headCommit })
	return hash
}

// MergeBy merges a pull request as a person does.
func (s *Server) MergeBy(number int) {
	s.do(func() {
		p := s.repo.pulls[number-1]
		p.state, p.merged, p.updated = "closed", true, s.tick()
	})
}
