//go:build e2e

package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/internal/programtest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestEditsThroughKills: a person writes thirty directives on the phone and
// edits every third of them, some twice, while the daemon is killed repeatedly.
// The next builder receives the chat's final texts in the order in which they
// were written.
func TestEditsThroughKills(t *testing.T) {
	t.Parallel()
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("again with: -kill.seed=%d", seed)
	e := newNightFixture(t, nightOptions{project: "pattern = \"single\"\n", script: func(e *nightFixture, r models.Request) models.Turn {
		hat := r.Hat()
		turns := []models.Turn{
			models.Use(e.noteSession()),
			models.Use(models.Bash(fmt.Sprintf("echo '# %s' >> lib/legacy.sh", hat.Task))),
			models.Use(hat.Emit(map[string]any{"summary": "wrote it", "files_modified": []string{"lib/legacy.sh"}})),
		}
		turn := models.Say("Done.")
		if r.Step < len(turns) {
			turn = turns[r.Step]
		}
		if r.Step == 0 {
			turn.Before = e.gateFunc(hat.Task + " " + hat.Name)
		}
		return turn
	}})
	e.noError(os.WriteFile(e.Path("repo", planFile), []byte("- [ ] **Task 1: One**\n- [ ] **Task 2: Two**\n"), 0o644))
	e.git("commit", "--quiet", "--all", "--message=Two tasks")
	e.up()
	e.ready()
	e.pair(mira, "admin")
	e.hold("Task 1 builder")
	e.sayAndAwait(mira, "/run", "? Start shop? 2 tasks")
	e.press(mira, "Start", "? Start shop? 2 tasks")
	e.awaitHeld("Task 1 builder")

	const directives, kills = 30, 6
	chaos := e.startKiller(rand.New(rand.NewPCG(seed, 0)), kills)
	var want []string // final texts in the chat
	changes := 0
	for n := range directives {
		text := fmt.Sprintf("Directive %02d", n)
		id := e.far.Say(mira, mira.ID, "/guidance "+text)
		for again := range map[int]int{0: 1, 6: 2}[n%9] {
			text = fmt.Sprintf("Directive %02d, as changed %d", n, again+1)
			if !e.far.EditText(mira, mira.ID, id, "/guidance "+text) {
				t.Fatalf("message %d cannot be edited", id)
			}
			changes++
		}
		want = append(want, text)
		if n%10 == 9 { // some messages arrive while the daemon is down
			chaos.waitFor(t, kills*(n+1)/directives)
		}
	}
	if err := chaos.end(); err != nil {
		t.Fatal(err)
	}
	e.noError(programtest.WaitFor("all of it to be in the ledger", func() (bool, error) {
		ledgerStore := e.ledger()
		queued, changed := len(bodies[ledger.GuidanceQueued](e, ledgerStore)), len(bodies[ledger.GuidanceChanged](e, ledgerStore))
		return queued >= directives && changed >= changes, nil
	}))
	e.release("Task 1 builder")
	e.noError(programtest.WaitFor("the run to end", func() (bool, error) { return e.runState() == "ended", nil }))

	ledgerStore := e.ledger()
	texts, states := map[string]string{}, map[string][]guidance.State{}
	for _, q := range bodies[ledger.GuidanceQueued](e, ledgerStore) {
		texts[q.Item.ID] = q.Item.Text
	}
	changed := bodies[ledger.GuidanceChanged](e, ledgerStore)
	for _, c := range changed {
		texts[c.ID] = c.Text
	}
	for _, r := range bodies[ledger.GuidanceReported](e, ledgerStore) {
		states[r.ID] = append(states[r.ID], r.State)
	}
	if len(texts) != directives || len(changed) != changes {
		t.Errorf("%d directives and %d changes in the ledger, want %d and %d", len(texts), len(changed), directives, changes)
	}
	for n, text := range want {
		id := fmt.Sprintf("g%d", n+1)
		if texts[id] != text {
			t.Errorf("%s is %q, and in the chat it is %q", id, texts[id], text)
		}
		if diff := cmp.Diff([]guidance.State{guidance.Addressed}, states[id]); diff != "" {
			t.Errorf("how %s ended (-want +got):\n%s", id, diff)
		}
	}
	builders := 0
	words := regexp.MustCompile(`Directive \d\d(, as changed \d)?`)
	for _, s := range e.conversations() {
		if s.hat.Task != "Task 2" {
			continue
		}
		builders++
		if diff := cmp.Diff(want, words.FindAllString(s.hat.Parts["Guidance"], -1)); diff != "" {
			t.Errorf("what the builder of Task 2 was told (-want +got):\n%s", diff)
		}
	}
	if builders != 1 {
		t.Errorf("Task 2 had %d builders", builders)
	}
	t.Logf("%d directives, %d changes, %d kills", len(texts), len(changed), kills)
	if code := e.down(); code != 0 {
		t.Errorf("nightporter up ended with %d", code)
	}
	if out := e.runCommand("replay"); regexp.MustCompile("✗").MatchString(out) {
		t.Errorf("replay: %s", out)
	}
}
