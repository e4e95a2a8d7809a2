//go:build e2e

package main_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/e2e/agents"
	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/loop/ledger"
)

// threeTasks is a plan of three tasks, which modelWork has the work for.
const threeTasks = `# Checkout

- [ ] **Task 1: Extract price rules**
  - Scope: ` + "`lib`, `tests`" + `
- [ ] **Task 2: Sum the basket**
  - Scope: ` + "`lib`, `tests`" + `
- [ ] **Task 3: Move orders to the new API**
  - Scope: ` + "`lib`, `tests`" + `
`

// nightAgent is an agent of a night, with the source of its sessions' costs: "" stands
// for unknown.
type nightAgent struct {
	agents.Agent
	cost ledger.CostSource
}

// nightAgents are all agents. A price comes from the agent, from the table that has the
// model's, or from nowhere.
func nightAgents() []nightAgent {
	all := []nightAgent{{agents.Claude, ledger.PricedByAgent}}
	for _, a := range agents.All {
		switch a.Name {
		case agents.Codex.Name:
			all = append(all, nightAgent{a, ledger.PricedByTable})
		case agents.Opencode.Name:
			// Chat completions, by a model whose price opencode does not know.
			a.Env = func(url string) []string {
				return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", `OPENCODE_CONFIG_CONTENT={"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"` + url + `/v1","apiKey":"dummy"},"models":{"fake-model":{}}}}}`}
			}
			all = append(all, nightAgent{a, ""})
		default:
			all = append(all, nightAgent{a, map[bool]ledger.CostSource{true: ledger.PricedByAgent}[a.Priced]})
		}
	}
	return all
}

// section writes the agent's section of the configuration, with its file of variables.
// It skips the test where the program is not installed.
func (a nightAgent) section(e *nightFixture) string {
	e.t.Helper()
	e.noError(os.MkdirAll(e.Path("programs"), 0o755))
	program, err := a.Install(e.Path("programs"))
	e.noError(err)
	if program == "" {
		e.t.Skipf("SKIPPED: %s names no program of %s (%s)", a.Variable, a.Name, a.Origin)
	}
	e.noError(os.WriteFile(e.Path("config", "nightporter", a.Name+".env"), []byte(strings.Join(a.Env(e.models.URL()), "\n")+"\n"), 0o600))
	command, err := json.Marshal(append([]string{program}, a.Args(e.models.URL())...))
	e.noError(err)
	return fmt.Sprintf("[agents.%s]\ncommand = %s\nenv_file = %q\ntiers = {strong = %[4]q, fast = %[4]q, light = %[4]q}\n", a.Name, command, a.Name+".env", a.Model)
}

// shell returns the agent's call of a shell command that is a call of Claude Code.
func (a nightAgent) shell(bash models.Tool) models.Tool {
	return a.Tool(bash.Input.(map[string]any)["command"].(string))
}

// quickHat is a builder whose silence is short.
const quickHat = `[hat]
name = "quick"
role = "Builds, and is not waited for"
prompt = "Build it."
[hat.context]
write_allowed = ["**"]
[hat.exit]
emit_event = "build.complete"
payload = ["summary"]
[verify]
expect = "pass"
[agent]
stall_timeout = "20s"
`

const quickPattern = `name = "quick"
start = "quick"
min_rounds = 0

[[route]]
from = "quick"
on = "build.complete"
to = "converged"
`

// TestAgents: each agent works through a plan of three tasks, in a night of the released
// program. In the first attempt at Task 2 the model says that its tests pass, and they do
// not; in the first at Task 3 its answer never ends. Three verified commits come of it,
// and a cost that is either known or said to be unknown.
//
// make e2e-agents has the agents that make e2e does not install.
func TestAgents(t *testing.T) {
	t.Parallel()
	for _, a := range nightAgents() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			e := newNightFixture(t, nightOptions{script: func(_ *nightFixture, r models.Request) models.Turn { return a.threeTasks(r) }})
			e.configure(a.section(e), "agent = \""+a.Name+"\"\n")
			e.noError(os.MkdirAll(e.Path("config", "nightporter", "hats"), 0o755))
			e.noError(os.MkdirAll(e.Path("config", "nightporter", "patterns"), 0o755))
			e.noError(os.WriteFile(e.Path("config", "nightporter", "hats", "quick.toml"), fmt.Appendf(nil, "%smodel = %q\n", quickHat, a.Model), 0o644))
			e.noError(os.WriteFile(e.Path("config", "nightporter", "patterns", "quick.toml"), []byte(quickPattern), 0o644))
			out := e.runNight("--pattern", "quick")
			e.checkThreeCommits()
			e.checkCosts(out, a)
		})
	}
}

// threeTasks is the model of TestAgents. What it does depends on the prompt alone, as
// agents without an id of the conversation need it.
func (a nightAgent) threeTasks(r models.Request) models.Turn {
	hat := r.Hat()
	work := modelWork[hat.Task]
	again := hat.Parts["Note well"] != "" || hat.Parts["Verification"] != ""
	text := work.text
	if hat.Task == "Task 2" && !again {
		text = "sum() { echo 0; }"
	}
	test := "tests/" + strings.TrimPrefix(work.file, "lib/")
	turns := []models.Turn{
		models.Use(a.Tool(writes(work.file, text) + " && " + writes(test, ". "+work.file+"\n"+work.test))),
		models.Use(a.shell(hat.Emit(map[string]any{"summary": "All tests pass", "files_modified": []string{work.file, test}}))),
		models.Say("Done."),
	}
	turn := turns[min(r.Step, len(turns)-1)]
	if hat.Task == "Task 3" && r.Step == 1 && !again {
		turn.Text = "Now I run the tests, and then I send the event."
		turn.Fault = new(models.HangAfterHalf())
	}
	return turn
}

// writes returns a shell command that writes a file. Gemini CLI refuses a command in which
// a command substitution stands, be it in a quoted text.
func writes(file, text string) string {
	return fmt.Sprintf("echo %s | base64 -d >%s", base64.StdEncoding.EncodeToString([]byte(text+"\n")), file)
}

// configure replaces the fixture's agent and project by others.
func (e *nightFixture) configure(sections, project string) {
	e.t.Helper()
	e.noError(os.WriteFile(e.Path("repo", "three.md"), []byte(threeTasks), 0o644))
	e.git("add", "--all")
	e.git("commit", "--quiet", "--message=A plan")
	e.noError(os.WriteFile(e.Path("config", "nightporter", "nightporter.toml"), []byte("timezone = \"UTC\"\n"+sections+`
[[project]]
name = "shop"
repo = "`+e.Path("repo")+`"
source = "plan:three.md"
profile = "overnight"
verify = ["sh ./test.sh"]
`+project), 0o600))
}

// runNight runs nightporter in the foreground to the end of the plan, and returns what it
// printed.
func (e *nightFixture) runNight(args ...string) string {
	e.t.Helper()
	p, err := e.Start(e.Env(), append([]string{"run"}, args...)...)
	e.noError(err)
	e.t.Cleanup(p.Kill)
	code, err := p.Wait()
	e.noError(err)
	e.t.Logf("$ nightporter run %s\n%s", strings.Join(args, " "), p.Out)
	if code != 0 {
		e.t.Errorf("exit %d", code)
	}
	return p.Out.String()
}

// checkThreeCommits checks that each task of the plan is one commit that the daemon
// verified, and that the ledger says so.
func (e *nightFixture) checkThreeCommits() {
	e.t.Helper()
	want := []string{"feat: Task 3 - Move orders to the new API", "feat: Task 2 - Sum the basket", "feat: Task 1 - Extract price rules"}
	if diff := cmp.Diff(want, strings.Split(e.git("log", "--format=%s", "main..nightporter/shop/r1"), "\n")); diff != "" {
		e.t.Errorf("commits (-want +got):\n%s", diff)
	}
	for _, task := range []string{"Task 1", "Task 2", "Task 3"} {
		if work := modelWork[task]; e.git("show", "nightporter/shop/r1:"+work.file) != work.text {
			e.t.Errorf("%s: %s is %q", task, work.file, e.git("show", "nightporter/shop/r1:"+work.file))
		}
	}
	if out := e.runCommand("verify"); !strings.Contains(out, "ledger whole, checked against 3 commits") {
		e.t.Errorf("verify: %s", out)
	}
}

// checkCosts checks that the sessions whose conversation ended have a cost from the
// expected source, that no other has one, and that people read so.
func (e *nightFixture) checkCosts(out string, a nightAgent) {
	e.t.Helper()
	outcomes := map[ledger.SessionOutcome]int{}
	red := 0
	for _, b := range bodies[ledger.SessionEnded](e, e.ledger()) {
		if b.Kind != ledger.KindAgent {
			if b.Kind == ledger.KindVerify && !b.OK {
				red++
			}
			continue
		}
		outcomes[b.End]++
		e.t.Logf("%s: %d tokens, $%.5f %q, %s", b.Exit.Session, b.Exit.Tokens, b.Exit.CostUSD, b.Exit.PricedBy, b.End)
		known := b.End == ledger.EndedEvent && a.cost != ""
		if (b.Exit.CostUSD > 0) != known || !known && b.Exit.CostUSD != -1 || known && b.Exit.PricedBy != a.cost {
			e.t.Errorf("%s cost $%.5f by %q, want it by %q", b.Exit.Session, b.Exit.CostUSD, b.Exit.PricedBy, a.cost)
		}
	}
	if outcomes[ledger.EndedEvent] < 4 || outcomes[ledger.EndedStall] == 0 || red == 0 {
		e.t.Errorf("sessions ended %v, and %d verifications were red", outcomes, red)
	}
	want := map[ledger.CostSource]string{"": "cost unknown", ledger.PricedByAgent: "$0.0", ledger.PricedByTable: "≈$0.0"}[a.cost]
	if !strings.Contains(out, want) || !strings.Contains(out, "unknown") || strings.Contains(out, "$0.00 ") || a.cost == "" && strings.Contains(out, "$") {
		e.t.Errorf("the run does not say %q, or it says a cost that nobody knows", want)
	}
}

// TestTakeover: Claude Code reaches its limit at the second task and is parked until the
// limit ends. The first of its fallbacks cannot be started, and Codex, the next one, does
// the rest. While it works, the status says so in one line.
func TestTakeover(t *testing.T) {
	t.Parallel()
	claude, codex := nightAgent{agents.Claude, ledger.PricedByAgent}, nightAgent{agents.Codex, ledger.PricedByTable}
	reset := time.Now().Add(3 * time.Hour).Truncate(time.Minute)
	var once sync.Once
	working, seen := make(chan struct{}), make(chan struct{})
	e := newNightFixture(t, nightOptions{script: func(_ *nightFixture, r models.Request) models.Turn {
		if !strings.HasPrefix(r.Model, "claude") {
			turn := codex.threeTasks(r)
			turn.Fault = nil
			turn.Before = func() {
				once.Do(func() { close(working) })
				select {
				case <-seen:
				case <-t.Context().Done():
				}
			}
			return turn
		}
		if r.Hat().Task == "Task 1" {
			return claude.threeTasks(r)
		}
		return models.Fail(models.LimitReached("five_hour", reset))
	}})
	e.configure(claude.section(e)+"fallback = [\"missing\", \"codex\"]\n"+codex.section(e)+"[agents.missing]\ncommand = [\"a-program-that-is-not-here\"]\n", "agent = \"claude\"\n")
	p, err := e.Start(e.Env(), "run", "--pattern", "single")
	e.noError(err)
	t.Cleanup(p.Kill)
	select {
	case <-working:
	case <-p.Done:
		t.Fatalf("the run ended:\n%s", p.Out)
	case <-e.deadline().Done():
		t.Fatalf("Codex did not take over:\n%s", p.Out)
	}
	status := e.runCommand("status")
	t.Logf("$ nightporter status\n%s", status)
	if want := "claude parked until " + reset.UTC().Format("15:04"); !strings.Contains(status, want) || !strings.Contains(status, "; codex works meanwhile\n") {
		t.Errorf("the status does not say %q, and who works meanwhile", want)
	}
	close(seen)
	code, err := p.Wait()
	e.noError(err)
	t.Logf("$ nightporter run --pattern single\n%s", p.Out)
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	e.checkThreeCommits()
	entries := e.ledger()
	for _, b := range bodies[ledger.AgentParked](e, entries) {
		if b.Agent != "claude" || !b.Until.Equal(reset) || b.Why != ledger.FailureLimit {
			t.Errorf("parked: %+v", b)
		}
	}
	did := map[string]string{}
	for _, x := range entries {
		for _, b := range bodies[ledger.SessionPlanned](e, []entry{x}) {
			if b.Kind == ledger.KindAgent {
				did[x.Task] += b.Agent + " "
			}
		}
	}
	if diff := cmp.Diff(map[string]string{"Task 1": "claude ", "Task 2": "claude missing codex ", "Task 3": "codex "}, did); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
}
