//go:build e2e

package systemd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
)

// TestBootGuard: no systemd is started in a root in which something is the
// host's.
func TestBootGuard(t *testing.T) {
	m := newMachine(t)
	m.power("/bin/sh", "-c", "cat /proc/self/uid_map; find /tmp /run /var -mindepth 1 | wc -l; touch /usr/x /etc/x; echo 1 >/proc/sys/kernel/panic")
	<-m.off
	out := m.console.String()
	for _, want := range []string{fmt.Sprint(firstID), "65536\n0\n", "'/usr/x': Read-only", "panic: Permission denied"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
	// The same folders under another name, as a mistake in makeRoot would leave them.
	host, err := identities("/tmp", "/etc")
	if err != nil {
		t.Fatal(err)
	}
	if err := checkRoot(bootOrder{Dir: m.dir}, nil, host); err == nil {
		t.Error("the host's own root passes")
	}
}

// TestUnits installs nightporter by its units on a machine with a real systemd,
// and does with it what happens to a service. Every task is done once.
func TestUnits(t *testing.T) {
	m := newMachine(t)
	p := newPorter(m)
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := m.try("journalctl", "--boot", "--no-pager", "-n", "100", "-u", "nightporter.service", "-u", "nightporter.socket")
			t.Log(out)
		}
	})
	p.configure("")
	for task := range tasks {
		p.hold(task + 1)
	}
	step := func(name string, do func(t *testing.T)) {
		began := time.Now()
		if !t.Run(name, func(t *testing.T) { m.t = t; do(t) }) {
			m.t = t
			t.FailNow()
		}
		m.t = t
		t.Logf("%s: %s", name, time.Since(began).Round(time.Millisecond))
	}
	step("start", p.start)
	step("restart", p.restart)
	step("killed", p.killed)
	step("watchdog", p.watchdog)
	step("stop and socket", p.stopAndSocket)
	step("power cut", p.powerCut)
	step("mistake", p.mistake)
	step("end", p.end)
}

func (p *porter) start(t *testing.T) {
	p.run("systemctl", "enable", "--now", "nightporter.socket", "nightporter.service")
	p.awaitHeld(1)
	p.awaitShow("StatusText", "1 project, 1 at work")
	if out := p.run("systemctl", "status", "nightporter"); !strings.Contains(out, `Status: "1 project, 1 at work"`) || !strings.Contains(out, "active (running)") {
		t.Error(out)
	}
	if out := p.run("systemctl", "is-enabled", "nightporter.socket", "nightporter.service"); out != "enabled\nenabled\n" {
		t.Error(out)
	}
	p.await("the bot, with the token of the credential", func() bool { return len(p.far.Calls("getUpdates")) > 0 })
	if out, code := p.nightporter("doctor", "--config", "/etc/nightporter/nightporter.toml"); code != 0 {
		t.Errorf("doctor: exit %d\n%s", code, out)
	}
	p.run("systemctl", "reload", "nightporter")

	// A service without a session may keep the machine awake only by a rule.
	const refused = "the machine may go to sleep while a run works"
	p.await("the refused lock in the journal", func() bool { return p.logged(refused, "4") })
	if out := p.run("systemd-inhibit", "--list"); strings.Contains(out, "nightporter") {
		t.Errorf("a lock without a right to it:\n%s", out)
	}
	rule, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", "nightporter.rules"))
	p.noError(err)
	p.write("root/nightporter.rules", string(rule), 0o644)
	p.run("install", "-m", "644", "/root/nightporter.rules", "/etc/polkit-1/rules.d/50-nightporter.rules")
	p.run("systemctl", "restart", "polkit")
}

func (p *porter) restart(t *testing.T) {
	p.run("systemctl", "restart", "nightporter")
	p.awaitShow("StatusText", "1 project, 1 at work, kept awake")
	if out := p.run("systemd-inhibit", "--list"); !regexp.MustCompile(`nightporter +\d+ nightporter +` + p.show("MainPID") + ` nightporter +sleep +a run works +block`).MatchString(out) {
		t.Errorf("no lock of the daemon:\n%s", out)
	}
	p.release(1)
	p.awaitDone(1, 1)
	exit, err := os.ReadFile(p.path("var/lib/nightporter/sessions/r1-1/exit.json"))
	if err != nil || !strings.Contains(string(exit), `"boundary":3`) {
		t.Errorf("the unit's settings cost the boundary: %v, %s", err, exit)
	}
	seen, err := os.ReadFile(p.path("srv/notes/seen-r1-1"))
	if err != nil || strings.Contains(string(seen), p.far.Token()) || strings.Contains(string(seen), "CREDENTIALS") {
		t.Errorf("the session saw the credentials: %v, %s", err, seen)
	}
}

func (p *porter) killed(t *testing.T) {
	p.awaitHeld(2)
	p.run("kill", "-KILL", p.show("MainPID"))
	p.awaitShow("NRestarts", "1")
	p.awaitShow("ActiveState", "active")
	p.release(2)
	p.awaitDone(2, 1)
}

func (p *porter) watchdog(t *testing.T) {
	p.dropIn("nightporter.service", "[Service]\nWatchdogSec=4s\n")
	p.run("systemctl", "restart", "nightporter")
	p.awaitHeld(3)
	pid := p.show("MainPID")
	p.run("kill", "-STOP", pid)
	p.await("another process after the watchdog's time", func() bool { now := p.show("MainPID"); return now != pid && now != "0" })
	p.awaitShow("ActiveState", "active")
	if out := p.run("journalctl", "--boot", "--no-pager", "UNIT=nightporter.service"); !strings.Contains(out, "Watchdog timeout (limit 4s)!") {
		t.Errorf("not for the watchdog:\n%s", out)
	}
	p.dropIn("nightporter.service", "")
	p.run("systemctl", "restart", "nightporter")
	p.release(3)
	p.awaitDone(3, 1)
}

func (p *porter) stopAndSocket(t *testing.T) {
	p.awaitHeld(4)
	began := time.Now()
	p.run("systemctl", "stop", "nightporter.socket", "nightporter.service")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s to stop", took)
	}
	if got := p.show("Result") + " " + p.show("ExecMainStatus"); got != "success 0" {
		t.Errorf("stopped with %s", got)
	}
	p.run("pgrep", "-f", "^/bin/sh /opt/agents/inquisitive.sh") // the session goes on

	p.run("systemctl", "start", "nightporter.socket")
	if got := p.show("ActiveState"); got != "inactive" {
		t.Errorf("the socket alone started it: %s", got)
	}
	if out, code := p.nightporter("status", "--json"); code != 0 || !strings.Contains(out, `"daemon":true`) {
		t.Errorf("the first command: exit %d, %s", code, out)
	}
	p.awaitShow("ActiveState", "active")
	p.release(4)
	p.awaitDone(4, 1)
}

func (p *porter) powerCut(t *testing.T) {
	p.awaitHeld(5)
	p.kill()
	p.release(5)
	p.boot()
	p.awaitShow("ActiveState", "active") // it is enabled
	p.awaitDone(5, 2)                    // the first one is lost
}

func (p *porter) mistake(t *testing.T) {
	p.awaitHeld(6)
	p.configure("typo = 1\n")
	if out, code := p.try("systemctl", "restart", "nightporter"); code == 0 {
		t.Errorf("started with a mistake in the configuration: %s", out)
	}
	for n := range 8 { // none of them starts it in a circle, or ends the socket
		out, code := p.nightporter("status")
		if code != 3 || !strings.Contains(out, `unknown key "typo"`) {
			t.Errorf("command %d: exit %d, %s", n, code, out)
		}
	}
	p.awaitShow("ActiveState", "failed")
	if got := p.show("ExecMainStatus") + " " + p.show("NRestarts"); got != "3 0" {
		t.Errorf("%s", got)
	}
	if out, _ := p.try("systemctl", "is-active", "nightporter.socket"); out != "active\n" {
		t.Errorf("the socket is %s", out)
	}
	if !p.logged(`unknown key "typo"`, "3") {
		t.Error("no error in the journal")
	}
	// What may come later stops nothing else.
	p.configure("[[project]]\nname = \"late\"\nrepo = \"/srv/late\"\nsource = \"plan:plan.md\"\nagent = \"inquisitive\"\nunproved = \"allow\"\n")
	p.run("systemctl", "restart", "nightporter")
	p.release(6)
	p.awaitDone(6, 1)
}

func (p *porter) end(t *testing.T) {
	p.await("the end of the run", func() bool {
		out, _ := p.nightporter("status", "--json")
		return strings.Contains(out, `"reason":"all tasks done"`)
	})
	p.awaitShow("StatusText", "2 projects, 0 at work")
	if out := p.run("systemd-inhibit", "--list"); strings.Contains(out, "nightporter") {
		t.Errorf("kept awake without a run:\n%s", out)
	}
	memory := p.run("grep", "VmRSS", "/proc/"+p.show("MainPID")+"/status")
	t.Log(memory)
	var kb int
	if _, err := fmt.Sscanf(memory, "VmRSS: %d kB", &kb); err != nil || kb > 80_000 {
		t.Errorf("it takes %s, %v", memory, err)
	}
}

// logged reports whether the journal of this boot has a message with a text and
// priority.
func (p *porter) logged(text, priority string) bool {
	p.t.Helper()
	for _, x := range p.journal() {
		if strings.Contains(x.Message, text) && x.Priority == priority {
			return true
		}
	}
	return false
}
