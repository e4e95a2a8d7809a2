package operator

import (
	"context"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/store"
)

// statusJSON is `nightporter status --json`. Fields are added, never renamed.
type statusJSON struct {
	Project  string     `json:"project"`
	Daemon   bool       `json:"daemon"` // false: no nightporter is there to act on any of it
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
	Sessions int        `json:"sessions"`
	CostUSD  *float64   `json:"cost_usd"` // null: unknown
	Guidance int        `json:"guidance_waiting"`
	Asks     []string   `json:"questions,omitempty"`
	Remarks  []string   `json:"remarks,omitempty"` // what is wrong besides: settings not reloaded, a start missed
}

func (d *Service) statusOf(s loop.State) statusJSON {
	out := statusJSON{Daemon: d.o.Projects.Works(s.Project.Name), Remarks: d.o.Projects.WarningsOf(s.Project.Name), Project: s.Project.Name, State: "idle", Guidance: len(s.Project.Guidance.Waiting())}
	out.Done, out.Total = s.Project.Count()
	for _, q := range s.Project.Questions {
		out.Asks = append(out.Asks, q.ID)
	}
	r := s.Project.Run
	if r == nil {
		return out
	}
	out.Run, out.State, out.Wait, out.Branch, out.Sessions = r.ID, string(r.State), string(r.Wait), r.Base.Branch, r.Agents
	if !r.Until.IsZero() {
		out.Until = &r.Until
	}
	if r.Unpriced == 0 && !bot.CostOpen(s) {
		out.CostUSD = &r.CostUSD
	}
	if r.Ended != nil {
		out.Reason, out.Exit = string(r.Ended.Reason), &r.Ended.Exit
	}
	for _, ses := range s.Project.Sessions {
		out.Task, out.Hat, out.Session = ses.Task, ses.Planned.Hat, ses.ID
	}
	return out
}

// taskJSON is one task of `nightporter tasks --json`.
type taskJSON struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Status   string `json:"status"`
	Why      string `json:"why,omitempty"`
	Question string `json:"question,omitempty"`
	Attempts int    `json:"attempts"`
	Commit   string `json:"commit,omitempty"`
}

func tasksOf(s loop.State) []taskJSON {
	out := []taskJSON{}
	for _, t := range s.Project.Tasks.All() {
		out = append(out, taskJSON{
			ID: t.Task.ID, Title: t.Task.Title, Status: string(t.Status), Why: t.Why, Question: t.Question, Attempts: t.Attempts, Commit: t.Commit,
		})
	}
	return out
}

// verify recomputes every chain, and holds it against the heads that stand in
// the task commits of each project's branches.
func (d *Service) verify(ctx context.Context) (api.Reply, error) {
	var known []store.Anchor
	for _, name := range d.Projects() {
		s, _ := d.State(name)
		if s.Project.Run == nil {
			continue
		}
		w, err := d.o.Projects.Workspace(ctx, s.Project.Run.Settings, nil)
		if err != nil {
			return api.Reply{}, err
		}
		branches, err := w.Branches(ctx)
		if err != nil { // a state folder that was rebuilt from exported entries has no repository
			d.o.Log.Warn("branches to verify against", "project", name, "error", err)
		}
		for _, branch := range branches {
			heads, err := w.Heads(ctx, branch)
			if err != nil {
				d.o.Log.Warn("heads of a branch", "branch", branch, "error", err)
				continue
			}
			for _, h := range heads {
				a, err := store.ParseAnchor(h)
				if err != nil {
					return api.Reply{Text: fmt.Sprintf("✗ a commit on %s has a footer that cannot be read: %v", branch, err)}, nil
				}
				a.Source = "a commit on " + branch
				known = append(known, a)
			}
		}
	}
	breaks, err := d.o.Store.VerifyAgainst(ctx, known)
	if err != nil {
		return api.Reply{}, err
	}
	result := struct {
		OK      bool     `json:"ok"`
		Anchors int      `json:"anchors"`
		Breaks  []string `json:"breaks"`
	}{len(breaks) == 0, len(known), []string{}}
	text := fmt.Sprintf("✓ ledger whole, checked against %d commits", len(known))
	if len(breaks) > 0 {
		text = fmt.Sprintf("✗ ledger altered: %d places", len(breaks))
		for _, b := range breaks {
			result.Breaks = append(result.Breaks, b.String())
			text += "\n  " + b.String()
		}
	}
	r, err := reply(text, result)
	r.OK = result.OK
	return r, err
}
