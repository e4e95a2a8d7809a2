//go:build e2e

package systemd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/programtest"
)

// porter is a machine on which nightporter was installed as the comments of its
// units say, with one project, an agent that is a script, and a bot.
type porter struct {
	*machine
	far *telegram.Server
}

// stateDir is the state folder of the units.
const stateDir = "/var/lib/nightporter"

// tasks is how many tasks the plan has.
const tasks = 6

// inquisitive is the agent: it writes down what it sees of the service around it,
// and does its work.
const inquisitive = `#!/bin/sh
. /opt/agents/lib.sh
{ env; cat /run/credentials/*/* /proc/1/environ; } >"$notes/seen-$HAT_SESSION" 2>&1
honest
`

// newPorter boots a machine and installs nightporter on it.
func newPorter(m *machine) *porter {
	m.t.Helper()
	p := &porter{machine: m}
	var err error
	p.far, err = telegram.Start(telegram.Options{})
	m.noError(err)
	m.t.Cleanup(p.far.Close)
	m.bot = strings.TrimPrefix(p.far.URL(), "http://")
	m.noError((programtest.Machine{Dir: m.path("opt")}).Furnish())
	m.write("opt/agents/inquisitive.sh", inquisitive, 0o755)
	m.giveAway()
	m.boot()

	m.run("useradd", "--system", "--create-home", "nightporter")
	m.run("install", "-d", "-o", "nightporter", "/etc/nightporter")
	m.run("install", "-d", "-m", "755", "-o", "nightporter", "/srv/shop", "/srv/shop/src")
	m.run("install", "-d", "-m", "777", "/srv/notes")
	var plan strings.Builder
	for n := range tasks {
		fmt.Fprintf(&plan, "- [ ] **Task %d: Write it**\n  - Scope: `src`\n", n+1)
	}
	m.write("srv/shop/plan.md", plan.String(), 0o666)
	m.write("srv/shop/verify.sh", "exit 0\n", 0o644)
	m.write("srv/shop/src/a.txt", "a\n", 0o644)
	m.run("sh", "-ec", `chown -R nightporter:nightporter /srv/shop; cd /srv/shop; u() { runuser -u nightporter -- "$@"; }
		u git init -q -b main; u git config user.name Mira; u git config user.email mira@example.com; u git add --all; u git commit -qm First`)
	m.write("etc/credstore/telegram-token", p.far.Token()+"\n", 0o600)
	m.installUnits()
	return p
}

// installUnits copies the units as their comments say.
func (m *machine) installUnits() {
	m.t.Helper()
	for _, name := range []string{"nightporter.service", "nightporter.socket"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", name))
		m.noError(err)
		m.write("etc/systemd/system/"+name, string(text), 0o644)
	}
	m.run("systemctl", "daemon-reload")
}

// dropIn writes settings of one's own for a unit.
func (m *machine) dropIn(unit, text string) {
	m.t.Helper()
	m.write("etc/systemd/system/"+unit+".d/own.conf", text, 0o644)
	m.run("systemctl", "daemon-reload")
}

// configure writes the configuration; extra are lines at its end.
func (p *porter) configure(extra string) {
	p.t.Helper()
	p.write("etc/nightporter/nightporter.toml", `timezone = "UTC"
[telegram]
api = "http://`+botAddress+`"
[agents.inquisitive]
command = ["/opt/agents/inquisitive.sh", "/srv/notes"]
[[project]]
name = "shop"
repo = "/srv/shop"
source = "plan:plan.md"
agent = "inquisitive"
pattern = "single"
verify = ["sh ./verify.sh"]
shared = ["/srv/notes"]
start = "auto"
max_tasks = 0
`+extra, 0o644)
}

// show returns a property of the service.
func (m *machine) show(property string) string {
	m.t.Helper()
	return strings.TrimSpace(m.run("systemctl", "show", "--value", "--property="+property, "nightporter.service"))
}

// awaitShow waits until a property of the service has a value.
func (m *machine) awaitShow(property, want string) {
	m.t.Helper()
	m.await(property+"="+want, func() bool { return m.show(property) == want })
}

// nightporter runs a command as the service's account.
func (p *porter) nightporter(args ...string) (string, int) {
	p.t.Helper()
	return p.try(append([]string{"runuser", "-u", "nightporter", "--", "nightporter"}, append(args, "--state", stateDir)...)...)
}

// note tells an agent something.
func (p *porter) note(name string) {
	p.t.Helper()
	p.noError(os.WriteFile(p.path("srv/notes/"+name), nil, 0o666))
}

// awaitNote waits for something that an agent tells.
func (p *porter) awaitNote(name string) {
	p.t.Helper()
	p.await("the agent's "+name, func() bool { _, err := os.Stat(p.path("srv/notes/" + name)); return err == nil })
}

// hold makes the session of a task wait, until release.
func (p *porter) hold(task int) { p.t.Helper(); p.note(fmt.Sprintf("hold-builder-%d", task)) }

func (p *porter) awaitHeld(task int) {
	p.t.Helper()
	p.awaitNote(fmt.Sprintf("at-go-builder-%d", task))
}

func (p *porter) release(task int) { p.t.Helper(); p.note(fmt.Sprintf("go-builder-%d", task)) }

// awaitDone waits until a task is committed, and checks that it was done once, by
// so many sessions.
func (p *porter) awaitDone(task, sessions int) {
	p.t.Helper()
	subject := fmt.Sprintf("Task %d - ", task)
	p.await("the commit of task "+fmt.Sprint(task), func() bool { return strings.Contains(p.commits(), subject) })
	if n := strings.Count(p.commits(), subject); n != 1 {
		p.t.Errorf("%d commits of task %d:\n%s", n, task, p.commits())
	}
	if n := p.sessions(task); n != sessions {
		p.t.Errorf("%d sessions of task %d, want %d", n, task, sessions)
	}
}

// commits returns the subjects of all commits.
func (p *porter) commits() string {
	out, _ := p.try("runuser", "-u", "nightporter", "--", "git", "-C", "/srv/shop", "log", "--all", "--format=%s")
	return out
}

// sessions returns how often a session of a task was started.
func (p *porter) sessions(task int) int {
	data, err := os.ReadFile(p.path("srv/notes/log"))
	p.noError(err)
	n := 0
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 4 && f[1] == "start" && f[3] == fmt.Sprint(task) {
			n++
		}
	}
	return n
}

// journal returns the messages of the service in the journal of this boot, each
// with its priority.
func (p *porter) journal() []struct{ Message, Priority string } {
	p.t.Helper()
	var all []struct{ Message, Priority string }
	for line := range strings.Lines(p.run("journalctl", "--boot", "--output=json", "--no-pager", "_SYSTEMD_UNIT=nightporter.service")) {
		var x struct {
			Message  any    `json:"MESSAGE"`
			Priority string `json:"PRIORITY"`
		}
		p.noError(json.Unmarshal([]byte(line), &x))
		all = append(all, struct{ Message, Priority string }{fmt.Sprint(x.Message), x.Priority})
	}
	return all
}
