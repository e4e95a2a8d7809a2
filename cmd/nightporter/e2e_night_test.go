//go:build e2e

package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/programtest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestNight: a real Claude Code works through six tasks in a real repository,
// while a person steers it through Telegram. The test's log shows the chat as
// the person sees it (go test -v).
func TestNight(t *testing.T) {
	t.Parallel()
	e := newNightFixture(t, nightOptions{telegram: telegram.Options{Rates: true}})
	before := e.checkout()
	e.up()
	e.ready()
	e.pair(mira, "admin")
	live := e.playNight(func() {}, func() {})
	e.awaitEdit(mira, live.ID, "shop idle · 6/6") // edits the same message
	if code := e.down(); code != 0 {
		t.Errorf("nightporter up ended with %d", code)
	}
	e.checkResult(before, 0)

	// Without a restart no message was sent twice.
	chat := e.far.Chat(mira.ID)
	t.Logf("the chat: %+v", chat.Count)
	e.checkOrder(chat,
		"✓ Mira, you are paired as admin",
		"● shop r1 started, 6 tasks",
		"✓ g1 addressed",
		"‖ ", "● ", // pause and resume
		"✓ q2 guided by Mira",
		"✓ q3 Pass, by Mira",
		"? shop 5/6 done, #6 is yours (q3)",
		"✓ #6 done",
	)
	for _, m := range chat.Messages {
		if strings.HasPrefix(m.Text, "↻") {
			t.Errorf("said again, though nothing had happened: %s", m.Text)
		}
	}
}

// TestNightWithKills runs the same night, but the daemon is killed twenty times
// at random moments, Telegram is unreachable for a while, and the agent reaches
// its usage limit. The result is the same: nothing is lost, and no session,
// commit or guidance happens twice.
//
// A status message that was being sent during a kill is not repeated; the
// previous one is edited further (docs/spec 6.7).
//
// The daemon uses the machine's clock, so Telegram is unreachable for seconds
// only. Tests of bot/delivery, which control the clock, cover two hours and the
// messages dropped after them.
func TestNightWithKills(t *testing.T) {
	t.Parallel()
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("again with: -kill.seed=%d", seed)
	e := newNightFixture(t, nightOptions{telegram: telegram.Options{Rates: true}})
	before := e.checkout()
	e.injectFaults("Task 5 builder", func() models.Fault {
		return models.LimitReached("five_hour", time.Now().Add(8*time.Second))
	})
	e.up()
	e.ready()
	e.pair(mira, "admin")
	const kills = 20
	chaos := e.startKiller(rand.New(rand.NewPCG(seed, 0)), kills)
	e.playNight(
		// The response to the next message, a question, is lost.
		func() { e.far.Fault("sendMessage", telegram.CutAfter()) },
		func() { chaos.waitFor(t, kills-3) },
	)
	chaos.waitFor(t, kills)
	if err := chaos.end(); err != nil {
		t.Fatal(err)
	}
	e.awaitOutboxEmpty()
	if code := e.down(); code != 0 {
		t.Errorf("nightporter up ended with %d", code)
	}
	e.checkResult(before, 1)

	e.checkQuestionsOnce()
}

// questionHead matches the first line of a question and captures its id.
var questionHead = regexp.MustCompile(`^(?:<b>)?(↻ )?[■?‖] (?:Start shop|shop #\d+ (?:blocked|manual verify)).*\((q\d+)\)`)

// checkQuestionsOnce checks that every copy of a question after the first is
// marked as a repetition.
func (e *nightFixture) checkQuestionsOnce() {
	e.t.Helper()
	copies := map[string][]string{}
	for _, c := range e.far.Calls("sendMessage") {
		first, _, _ := strings.Cut(c.Params["text"], "\n")
		if m := questionHead.FindStringSubmatch(first); m != nil && c.Code != http.StatusTooManyRequests {
			copies[m[2]] = append(copies[m[2]], first)
			if again := len(copies[m[2]]) > 1; again != (m[1] != "") {
				e.t.Errorf("copy %d of %s begins %q", len(copies[m[2]]), m[2], first)
			}
		}
	}
	if len(copies) != 3 {
		e.t.Errorf("%d questions were asked, want 3", len(copies))
	}
	e.t.Logf("questions as sent: %q", copies)
}

// playNight performs Mira's actions during the night. Tests can act in between:
// resumed is called after the pause, late before her last answer. It returns
// the status message that she requested in the middle.
func (e *nightFixture) playNight(resumed, late func()) (live telegram.Message) {
	e.t.Helper()
	e.hold("Task 3 planner", "Task 5 planner")

	e.sayAndAwait(mira, "/run", "? Start shop? 6 tasks")
	offer := e.press(mira, "Start", "? Start shop? 6 tasks")
	e.awaitEdit(mira, offer.ID, "● shop r1 started, 6 tasks")

	// The planner of #3 is working now.
	e.awaitHeld("Task 3 planner")
	receipt := e.sayAndAwait(mira, "/guidance "+wrapIt, "g1 queued")
	live = e.query(mira, "/status", "shop 2/6", "#3 planner")
	e.sayAndAwait(mira, "/pause", "shop pauses after #3 planner")
	e.release("Task 3 planner")
	e.noError(programtest.WaitFor("the run to be paused", func() (bool, error) { return e.runState() == "paused", nil }))
	if held := e.sessionCount("Task 3 builder"); held != 0 {
		e.t.Errorf("the builder of #3 was started although the run was paused")
	}
	e.sayAndAwait(mira, "/resume", "● ")
	resumed()
	e.awaitEdit(mira, receipt.ID, "✓ g1 addressed")

	// Task #4 is blocked until she answers.
	e.awaitHeld("Task 5 planner")
	blocked := e.press(mira, "Guide…", "■ shop #4 blocked")
	e.reply(mira, byLine, "Your words for #4")
	e.awaitEdit(mira, blocked.ID, "✓ q2 guided by Mira")
	e.release("Task 5 planner")

	// Only #6 is left, which she has to do herself.
	manual := e.awaitRecorded(mira, "? shop #6 manual verify (q3)")
	e.awaitMessage(mira, "? shop 5/6 done, #6 is yours (q3)")
	late()
	e.sayAndAwait(mira, "q3 pass", "#6 done")
	e.awaitEdit(mira, manual.ID, "✓ q3 Pass, by Mira")
	e.noError(programtest.WaitFor("the plan's last box to be ticked", func() (bool, error) {
		data, err := os.ReadFile(e.Path("repo", planFile))
		return !strings.Contains(string(data), "- [ ]"), err
	}))
	e.awaitMessage(mira, "shop idle · 6/6") // edited at most every 10 s (docs/spec 6.3)
	return live
}

// planFile is the plan's path in the repository.
const planFile = ".agents/plans/in-progress/checkout.md"

// query sends a query whose answer may be lost in a crash, and repeats it until
// the answer arrives.
func (e *nightFixture) query(who telegram.User, line string, texts ...string) telegram.Message {
	e.t.Helper()
	ctx := e.deadline()
	for ctx.Err() == nil {
		said := e.far.Say(who, who.ID, line)
		patient, cancel := context.WithTimeout(ctx, 5*time.Second)
		var found telegram.Message
		_, err := e.far.WaitFor(patient, who.ID, func(c telegram.Chat) (ok bool) {
			found, ok = c.Find(func(m telegram.Message) bool { return m.From.Bot && m.ID > said && holdsAll(m, texts) })
			return ok
		})
		cancel()
		if err == nil {
			return found
		}
	}
	e.t.Fatalf("no answer to %q with %q:\n%s", line, texts, e.far.Transcript(who.ID))
	return telegram.Message{}
}

// sessionCount returns how many sessions of a hat at a task have called the
// model.
func (e *nightFixture) sessionCount(name string) int {
	seen := map[string]bool{}
	for _, r := range e.models.Turns() {
		if h := r.Hat(); h.Task+" "+h.Name == name {
			seen[r.Session] = true
		}
	}
	return len(seen)
}

var stateField = regexp.MustCompile(`"state":"(\w+)"`)

// runState returns the run's state, or "" while no daemon answers.
func (e *nightFixture) runState() string {
	out, err := e.tryCommand("status", "--json")
	if m := stateField.FindStringSubmatch(out); err == nil && m != nil {
		return m[1]
	}
	return ""
}

// awaitOutboxEmpty waits until the bot has sent all pending messages.
func (e *nightFixture) awaitOutboxEmpty() {
	e.t.Helper()
	last, since := -1, time.Now()
	e.noError(programtest.WaitFor("the chat to be quiet", func() (bool, error) {
		c := e.far.Chat(mira.ID).Count
		if n := c.Messages + c.Edits + c.Deletes; n != last {
			last, since = n, time.Now()
		}
		return time.Since(since) > 3*time.Second, nil
	}))
}

// checkOrder checks that the chat contains messages with these beginnings in
// this order.
func (e *nightFixture) checkOrder(c telegram.Chat, firsts ...string) {
	e.t.Helper()
	at := 0
	for _, first := range firsts {
		n := slices.IndexFunc(c.Messages[at:], func(m telegram.Message) bool {
			// Guidance sent within seconds of other has one receipt with it.
			return m.From.Bot && strings.Contains("\n"+m.Text, "\n"+first)
		})
		if n < 0 {
			e.t.Errorf("no message %q behind the ones before it", first)
			continue
		}
		at += n + 1
	}
}

// checkout returns all files of the person's checkout except those of git.
func (e *nightFixture) checkout() map[string]string {
	e.t.Helper()
	seen, err := e.Look(e.Path("repo"))
	e.noError(err)
	return seen
}

// checkResult compares the result of the night with the expected one. limits is
// the number of sessions that the usage limit cut off.
func (e *nightFixture) checkResult(before map[string]string, limits int) {
	e.t.Helper()
	e.t.Logf("$ git log main..nightporter/shop/r1\n%s", e.git("log", "--format=%h %an: %s", "main..nightporter/shop/r1"))
	want := []string{
		"feat: Task 4 - Refund flow", "feat: Task 5 - Order mails", "feat: Task 3 - Move orders to the new API",
		"feat: Task 2 - Sum the basket", "feat: Task 1 - Extract price rules",
	}
	if diff := cmp.Diff(want, strings.Split(e.git("log", "--format=%s", "main..nightporter/shop/r1"), "\n")); diff != "" {
		e.t.Errorf("commits (-want +got):\n%s", diff)
	}
	for task, b := range modelWork {
		if got := e.git("show", "nightporter/shop/r1:"+b.file); got != b.text {
			e.t.Errorf("%s: %s is\n%s\nwant\n%s", task, b.file, got, b.text)
		}
	}

	// Only the plan's marks and its progress log may change in the checkout.
	const plan, progress = planFile, ".agents/plans/in-progress/checkout.progress.md"
	after := e.checkout()
	wantPlan := strings.NewReplacer("- [ ] (manual-verify)", "- [x]", "- [ ]", "- [x]").Replace(before[plan])
	if diff := cmp.Diff(wantPlan, after[plan]); diff != "" {
		e.t.Errorf("plan (-want +got):\n%s", diff)
	}
	for n := 1; n <= 5; n++ {
		if got := strings.Count(after[progress], fmt.Sprintf("## Task %d: ", n)); got != map[bool]int{true: 2, false: 1}[n == 4] {
			e.t.Errorf("the progress log tells %d times of Task %d", got, n)
		}
	}
	for _, name := range []string{plan, progress} {
		delete(before, name)
		delete(after, name)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		e.t.Errorf("the checkout was changed (-before +after):\n%s", diff)
	}

	if out := e.runCommand("verify"); !strings.Contains(out, "ledger whole, checked against 5 commits") {
		e.t.Errorf("verify: %s", out)
	}
	e.t.Logf("$ nightporter verify\n%s", e.runCommand("verify"))
	if out := e.runCommand("replay"); strings.Contains(out, "✗") {
		e.t.Errorf("replay: %s", out)
	}
	e.checkSessionsOnce(limits)
	e.checkGuidanceOnce()
}

// checkSessionsOnce checks that every session of the ledger is one process of
// the agent with one conversation, and that there are no others.
func (e *nightFixture) checkSessionsOnce(limits int) {
	e.t.Helper()
	data, err := os.ReadFile(e.Path("notes", "sessions"))
	e.noError(err)
	noted := map[string]int{}
	for line := range strings.Lines(string(data)) {
		noted[strings.Fields(line)[0]]++
	}
	for id, n := range noted {
		if n != 1 {
			e.t.Errorf("session %s ran %d times", id, n)
		}
	}
	conversations := map[string]bool{}
	for _, r := range e.models.Turns() {
		conversations[r.Session] = true
	}
	if len(conversations) != len(noted)+limits {
		e.t.Errorf("%d conversations with the model, %d sessions and %d at the limit", len(conversations), len(noted), limits)
	}
	ledgerStore := e.ledger()
	planned, ended := map[string]bool{}, map[string]int{}
	counts := map[ledger.Accounting]int{}
	for _, x := range ledgerStore {
		switch {
		case x.Type == (ledger.SessionPlanned{}).EntryType():
			for _, b := range bodies[ledger.SessionPlanned](e, []entry{x}) {
				planned[x.Session] = planned[x.Session] || b.Kind == ledger.KindAgent
			}
		case x.Type == (ledger.SessionEnded{}).EntryType():
			for _, b := range bodies[ledger.SessionEnded](e, []entry{x}) {
				if ended[x.Session]++; b.Kind == ledger.KindAgent {
					counts[b.Counts]++
				}
			}
		}
	}
	agents := 0
	for id, agent := range planned {
		if ended[id] != 1 {
			e.t.Errorf("session %s ended %d times", id, ended[id])
		}
		if agent {
			agents++
		}
	}
	if agents < len(noted) {
		e.t.Errorf("%d agent sessions were planned and %d ran", agents, len(noted))
	}
	e.t.Logf("%d agent sessions, %d entries of the ledger, sessions by what they counted as: %v", agents, len(ledgerStore), counts)
	for _, p := range bodies[ledger.InputPoisoned](e, ledgerStore) {
		e.t.Errorf("poisoned input: %+v", p)
	}
	if n := len(bodies[ledger.TaskCommitted](e, ledgerStore)); n != 5 {
		e.t.Errorf("%d commits in the ledger", n)
	}
}

// checkGuidanceOnce checks that her guidance was queued once, bound to the
// builder of #3, and included once in each prompt.
func (e *nightFixture) checkGuidanceOnce() {
	e.t.Helper()
	ledgerStore := e.ledger()
	said := map[string]int{}
	for _, q := range bodies[ledger.GuidanceQueued](e, ledgerStore) {
		said[q.Item.Text]++
	}
	if diff := cmp.Diff(map[string]int{wrapIt: 1, byLine: 1}, said); diff != "" {
		e.t.Errorf("guidance that was queued (-want +got):\n%s", diff)
	}
	reported := map[string][]guidance.State{}
	for _, r := range bodies[ledger.GuidanceReported](e, ledgerStore) {
		reported[r.ID] = append(reported[r.ID], r.State)
	}
	e.t.Logf("guidance as reported: %v", reported)
	prompts := map[string]int{} // by task and hat
	seen := map[string]bool{}
	for _, r := range e.models.Turns() {
		if seen[r.Session] {
			continue
		}
		seen[r.Session] = true
		h := r.Hat()
		for _, words := range []string{wrapIt, byLine} {
			switch strings.Count(h.Parts["Guidance"], words) {
			case 0:
			case 1:
				prompts[h.Task+" "+h.Name]++
			default:
				e.t.Errorf("%q is several times in a prompt of %s %s", words, h.Task, h.Name)
			}
		}
	}
	e.t.Logf("prompts with guidance: %v", prompts)
	if prompts["Task 3 builder"] != 1 || prompts["Task 4 builder"] != 1 {
		e.t.Errorf("the guidance is in these prompts: %v", prompts)
	}
	for name := range prompts {
		if !strings.HasPrefix(name, "Task 3 ") && !strings.HasPrefix(name, "Task 4 ") {
			e.t.Errorf("%s has guidance that was for another task", name)
		}
	}
}
