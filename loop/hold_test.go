package loop

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// uses lists what AgentUsable says of agents, in order.
func (d *director) uses() (all []string) {
	for _, e := range d.entries {
		if b, ok := e.Body.(ledger.AgentUsable); ok && !b.Worked {
			all = append(all, b.Agent)
		}
	}
	return all
}

// TestResumeIdle: /resume with the name of a parked agent has it tried by whatever run comes
// next, also where none is under way; other agents stay parked, and nothing else happens.
func TestResumeIdle(t *testing.T) {
	d := playing(t, "tasks 1 2", "set pattern=single verify= fallbacks=claude:codex others=codex", "go quiet", "exit limit")
	if x := d.session(); x.Planned.Agent != "codex" {
		t.Fatalf("after the limit: %+v", x.Planned)
	}
	d.play("/stop now")
	d.play("exit asked")
	if !d.s.Project.Run.Over() {
		t.Fatalf("the run is %s", d.s.Project.Run.State)
	}
	_, parked := d.s.Shared.Agents["claude"]
	for _, c := range []struct {
		agent string
		ok    bool
		want  string
	}{
		{"", false, "shop is idle; start it with"},
		{"codex", false, "codex is not parked\nParked: claude. shop is idle."},
		{"claude", true, "claude is tried again\nBy the next session that wants it, in all projects. shop is idle."},
		{"claude", false, "claude is not parked\nNo agent is. shop is idle."},
	} {
		a := d.do(Resume{Agent: c.agent}, "").Answer
		if a.OK != c.ok || !strings.Contains(a.Text, c.want) {
			t.Errorf("/resume %s: %v %q", c.agent, a.OK, a.Text)
		}
	}
	if _, still := d.s.Shared.Agents["claude"]; !parked || still || len(d.uses()) != 1 || !d.s.Project.Run.Over() {
		t.Errorf("parked %v, then %v; used again: %q", parked, still, d.uses())
	}
	d.play("go quiet")
	if x := d.session(); x.Planned.Agent != "claude" {
		t.Errorf("the next run: %+v", x.Planned)
	}
	other := Decide(State{Shared: Shared{Agents: map[string]AgentHold{"claude": {Until: d.now}}}, Project: Project{Name: "blog"}}, Input{Key: "k", Project: "blog", Actor: "console", Time: d.now, Body: Resume{Agent: "claude"}})
	if !other.Answer.OK || len(other.State.Shared.Agents) != 0 || len(other.Effects) != 0 {
		t.Errorf("of a project without any run: %+v", other)
	}
}

// TestResumeNamed: while another agent works for the parked one, naming the parked one has it
// tried by the next session.
func TestResumeNamed(t *testing.T) {
	d := playing(t, "tasks 1 2", "set pattern=single verify= fallbacks=claude:codex others=codex", "go quiet", "exit limit")
	d.play("/resume")
	if len(d.uses()) != 0 {
		t.Errorf("without a name: %q", d.uses())
	}
	d.play("/resume claude")
	d.play("build")
	if x := d.session(); len(d.uses()) != 1 || x.Planned.Agent != "claude" {
		t.Errorf("used again: %q, then %+v", d.uses(), x.Planned)
	}
}
