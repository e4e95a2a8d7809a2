package crash

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/programtest"
	"github.com/nightporter/nightporter/internal/statelock"
	"github.com/nightporter/nightporter/loop/ledger"
)

var guideCount = flag.Int("guide.count", 60, "how many directives are sent while a run is killed at random")

// guideTasks is the number of tasks in the run. Each has one builder.
const guideTasks = 10

// sentDirective is one directive with the daemon's acknowledgement.
type sentDirective struct {
	text    string
	id      string // acknowledged id, such as g12
	task    string // the task it is addressed to, "" = the next session
	sticky  bool
	noHat   bool // addressed to a hat without a task in this run
	dropped bool // its removal was acknowledged
}

// guidedRun is a run of several tasks whose daemon is killed repeatedly while a
// person sends guidance through the operator's socket.
type guidedRun struct {
	programtest.TwoTasks
	random *rand.Rand

	p     *programtest.Process
	kills int
}

func newGuidedRun(t *testing.T, random *rand.Rand) *guidedRun {
	t.Helper()
	g := &guidedRun{TwoTasks: programtest.NewTwoTasks(t), random: random}
	plan := "# Plan\n\n"
	for n := range guideTasks {
		plan += fmt.Sprintf("- [ ] **Task %d: Number %d**\n", n+1, n+1)
	}
	if err := os.WriteFile(g.Path("repo", "plan.md"), []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	g.Out("git", "-C", "repo", "commit", "--quiet", "--all", "--message=More tasks")
	// Two builders end without an event, and others replace them.
	for _, name := range []string{"notes/die-2", "notes/die-5"} {
		if err := os.MkdirAll(g.Path("notes"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(g.Path("notes"), 0o777); err != nil { // sessions write here as their own user
			t.Fatal(err)
		}
		if err := os.WriteFile(g.Path(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// start starts or resumes the run. It retries: a child forked just before the
// kill keeps the state folder's lock until it executes its program.
func (g *guidedRun) start() {
	g.T.Helper()
	if err := programtest.WaitFor("the state folder to be free", func() (bool, error) {
		_, held, err := statelock.Held(g.State())
		return !held, err
	}); err != nil {
		g.T.Fatal(err)
	}
	p, err := g.Machine.Start(nil, "run", "--agent", "guided", "--pattern", "single")
	if err != nil {
		g.T.Fatal(err)
	}
	g.T.Cleanup(p.Kill)
	g.p = p
}

// killAfter kills the daemon after the given time and restarts it.
func (g *guidedRun) killAfter(after time.Duration) {
	g.T.Helper()
	select {
	case <-g.p.Done:
	case <-time.After(after):
	}
	g.p.Kill()
	code, err := g.p.Wait()
	if err != nil || code != -9 {
		g.T.Fatalf("it had ended with %d, %v\n%s", code, err, g.p.Out)
	}
	g.kills++
	g.start()
}

// sendUntilAcknowledged repeats a line with its key until it is acknowledged,
// like a client that does not know whether the line has arrived.
func (g *guidedRun) sendUntilAcknowledged(key, line string) (reply api.Reply, err error) {
	err = programtest.WaitFor("an answer to "+line, func() (bool, error) {
		token, err := os.ReadFile(filepath.Join(g.State(), "operator.key"))
		if err == nil {
			err = api.Call(context.Background(), filepath.Join(g.State(), "nightporter.sock"), strings.TrimSpace(string(token)),
				api.PathCommand, api.Command{Key: key, Project: "shop", Text: line, Actor: "console"}, &reply)
		}
		if errors.Is(err, api.ErrLater) || errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", line, err)
	}
	return reply, err
}

var gID = regexp.MustCompile(`\bg\d+\b`)

// sendDirective sends directive number n while the builder of a task is
// working.
func (g *guidedRun) sendDirective(random *rand.Rand, n, task int) (sentDirective, error) {
	s := sentDirective{text: fmt.Sprintf("Directive %03d of the night", n)}
	line := "/guidance "
	kind := random.IntN(10)
	if n == 50 {
		kind = 3 // at least one has no matching hat, whatever the seed
	}
	switch kind {
	case 0:
		line += "@builder "
	case 1: // for this task or a later one; it may be too late for this one
		s.task = fmt.Sprintf("Task %d", task+random.IntN(guideTasks-task+1))
		line += "#" + strings.TrimPrefix(s.task, "Task ") + " "
	case 2:
		if n%3 == 0 {
			s.sticky, line = true, line+"!sticky "
		}
	case 3: // for a hat that this run does not use
		if n%5 == 0 {
			s.noHat, line = true, line+"@reviewer "
		}
	}
	key := fmt.Sprintf("test:%d", n)
	reply, err := g.sendUntilAcknowledged(key, line+s.text)
	if err != nil {
		return s, err
	}
	s.id = gID.FindString(reply.Text)
	if !reply.OK || s.id == "" {
		return s, fmt.Errorf("%s%s: %+v", line, s.text, reply)
	}
	if random.IntN(4) == 0 { // simulates a lost answer: the client repeats the line
		again, err := g.sendUntilAcknowledged(key, line+s.text)
		if err != nil || !again.OK || gID.FindString(again.Text) != s.id {
			return s, fmt.Errorf("the same key again: %+v, %w; the first answer was %+v", again, err, reply)
		}
	}
	if random.IntN(8) == 0 && n != 50 { // removed again; too late if a session has it
		reply, err := g.sendUntilAcknowledged("drop"+key, "/drop "+s.id)
		if err != nil {
			return s, err
		}
		s.dropped = reply.OK
	}
	return s, nil
}

// sendAll sends all directives and returns them with their acknowledgements.
func (g *guidedRun) sendAll() []sentDirective {
	g.T.Helper()
	g.start()
	all := make([]sentDirective, 0, *guideCount)
	for task := 1; task <= guideTasks; task++ {
		var batch []int
		for n := len(all); n < *guideCount*task/guideTasks; n++ {
			batch = append(batch, n+1)
		}
		// Each goroutine has its own source of random numbers, so that the seed
		// fixes them regardless of scheduling.
		random := rand.New(rand.NewPCG(g.random.Uint64(), 0))
		type result struct {
			sent []sentDirective
			err  error
		}
		results := make(chan result, 1)
		send := func() {
			var r result
			for _, n := range batch {
				s, err := g.sendDirective(random, n, task)
				r.sent = append(r.sent, s)
				if r.err = err; err != nil {
					break
				}
			}
			results <- r
		}
		err := programtest.WaitFor(fmt.Sprintf("the builder of task %d", task), func() (bool, error) {
			select {
			case <-g.p.Done:
				return false, errors.New("the run has ended")
			default:
			}
			_, err := os.Stat(g.Path("notes", fmt.Sprintf("at-go-%d", task)))
			return err == nil, nil
		})
		if err != nil {
			g.T.Fatalf("%v\n%s", err, g.p.Out)
		}
		// The directives arrive either while the builder works, or while its
		// work is captured, verified and committed and the next session is
		// planned. The run must not end before all of them are sent.
		early := task%2 == 0 && task < guideTasks
		if early {
			g.releaseBuilder(task)
		}
		go send()
		for range 2 {
			g.killAfter(time.Duration(g.random.Int64N(int64(400 * time.Millisecond))))
		}
		r := <-results
		if r.err != nil {
			g.T.Fatalf("%v\n%s", r.err, g.p.Out)
		}
		all = append(all, r.sent...)
		if !early {
			g.releaseBuilder(task)
		}
	}
	g.awaitEnd()
	// Directives that no session took wait for the next run, which one more
	// task starts.
	g.releaseBuilder(guideTasks + 1)
	plan, err := os.OpenFile(g.Path("repo", "plan.md"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		g.T.Fatal(err)
	}
	if _, err := fmt.Fprintf(plan, "- [ ] **Task %d: One more**\n", guideTasks+1); err != nil {
		g.T.Fatal(err)
	}
	if err := plan.Close(); err != nil {
		g.T.Fatal(err)
	}
	g.start()
	g.awaitEnd()
	return all
}

// awaitEnd waits for the end of the run.
func (g *guidedRun) awaitEnd() {
	g.T.Helper()
	if code, err := g.p.Wait(); err != nil || code != 0 {
		g.T.Fatalf("exit %d, %v\n%s", code, err, g.p.Out)
	}
}

// releaseBuilder lets the builder of a task continue.
func (g *guidedRun) releaseBuilder(task int) {
	g.T.Helper()
	if err := os.WriteFile(g.Path("notes", fmt.Sprintf("go-%d", task)), nil, 0o644); err != nil {
		g.T.Fatal(err)
	}
}

// line is one entry of the exported ledger.
type line struct {
	Type    string          `json:"type"`
	Task    string          `json:"task"`
	Session string          `json:"session"`
	Body    json.RawMessage `json:"body"`
}

func (g *guidedRun) lines() []line {
	g.T.Helper()
	file := g.Path("ledger.jsonl")
	g.Out("nightporter", "replay", "--export", file)
	data, err := os.ReadFile(file)
	if err != nil {
		g.T.Fatal(err)
	}
	var out []line
	for text := range strings.Lines(string(data)) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			g.T.Fatalf("%v in %.200s", err, text)
		}
		out = append(out, l)
	}
	return out
}

func bodyOf[B ledger.Body](t *testing.T, l line) (b B, is bool) {
	t.Helper()
	if l.Type != b.EntryType() {
		return b, false
	}
	if err := json.Unmarshal(l.Body, &b); err != nil {
		t.Fatalf("%s: %v", l.Type, err)
	}
	return b, true
}

// directiveRecord collects the ledger's entries about one directive.
type directiveRecord struct {
	queued   int
	text     string
	sessions []string // sessions that it was bound to, in order
	states   []guidance.State
}

// TestGuidanceThroughKills sends a hundred directives through the operator's
// socket while the daemon is killed repeatedly. Every acknowledged directive is
// in the ledger once, reaches one session or its replacements in the order of
// sending, and is settled in the end.
func TestGuidanceThroughKills(t *testing.T) {
	t.Parallel()
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("again with: -kill.seed=%d -guide.count=%d", seed, *guideCount)
	g := newGuidedRun(t, rand.New(rand.NewPCG(seed, 0)))
	all := g.sendAll()

	type planned struct{ hat, task, replaces string }
	sessions := map[string]planned{}
	items := map[string]*directiveRecord{}
	bound := map[string][]string{}
	var order []string // session ids
	for _, l := range g.lines() {
		if b, is := bodyOf[ledger.GuidanceQueued](t, l); is {
			if items[b.Item.ID] == nil {
				items[b.Item.ID] = &directiveRecord{text: b.Item.Text}
			}
			items[b.Item.ID].queued++
		}
		if b, is := bodyOf[ledger.SessionPlanned](t, l); is && b.Kind == ledger.KindAgent {
			if _, twice := sessions[l.Session]; twice {
				t.Errorf("%s was planned twice", l.Session)
			}
			sessions[l.Session] = planned{b.Hat, l.Task, b.Replaces}
			order = append(order, l.Session)
			bound[l.Session] = b.Guidance.Bound
			for _, id := range b.Guidance.Bound {
				items[id].sessions = append(items[id].sessions, l.Session)
			}
		}
		if b, is := bodyOf[ledger.GuidanceReported](t, l); is {
			items[b.ID].states = append(items[b.ID].states, b.State)
		}
		if b, is := bodyOf[ledger.GuidanceDropped](t, l); is {
			items[b.ID].states = append(items[b.ID].states, guidance.Dropped)
		}
		if b, is := bodyOf[ledger.GuidanceExpired](t, l); is {
			items[b.ID].states = append(items[b.ID].states, guidance.Expired)
		}
		if b, is := bodyOf[ledger.InputPoisoned](t, l); is {
			t.Errorf("poisoned: %+v", b)
		}
	}
	if len(items) != len(all) {
		t.Errorf("%d directives in the ledger, %d were acknowledged", len(items), len(all))
	}

	ends := map[guidance.State]int{}
	last := -1 // session of the newest directive for the next session
	sticky := map[string]bool{}
	for n, s := range all {
		if want := fmt.Sprintf("g%d", n+1); s.id != want {
			t.Errorf("directive %d was acknowledged as %s", n+1, s.id)
		}
		i := items[s.id]
		if i == nil {
			t.Errorf("%s, %q, is lost", s.id, s.text)
			continue
		}
		if i.queued != 1 || i.text != s.text {
			t.Errorf("%s is %d times in the ledger, as %q, want %q", s.id, i.queued, i.text, s.text)
		}
		if len(i.states) == 0 && s.sticky {
			t.Errorf("%s is for every session, and none took it", s.id)
			continue
		}
		if len(i.states) == 0 {
			t.Errorf("%s has no end; it was bound to %v", s.id, i.sessions)
			continue
		}
		end := i.states[len(i.states)-1]
		ends[end]++
		if s.dropped != (end == guidance.Dropped) {
			t.Errorf("%s ended as %s; whether dropping it was acknowledged: %v", s.id, end, s.dropped)
		}
		for k, id := range i.sessions {
			p := sessions[id]
			if p.hat != "builder" || s.task != "" && p.task != s.task {
				t.Errorf("%s is for %q and was bound to %s, %s of %s", s.id, s.task, id, p.hat, p.task)
			}
			if k > 0 && !s.sticky && p.replaces != i.sessions[k-1] {
				t.Errorf("%s was bound to %v, and %s does not take the place of the one before", s.id, i.sessions, id)
			}
		}
		if s.sticky {
			sticky[s.id] = true
			continue
		}
		if len(i.states) != 1 {
			t.Errorf("%s has several ends: %v", s.id, i.states)
		}
		if expired := end == guidance.Expired; (expired || s.dropped) != (len(i.sessions) == 0) {
			t.Errorf("%s ended as %s, bound to %v", s.id, end, i.sessions)
		}
		if s.noHat != (end == guidance.Expired && s.task == "") && !s.dropped {
			t.Errorf("%s ended as %s; whether there was anybody for it: %v", s.id, end, !s.noHat)
		}
		if s.task == "" && len(i.sessions) > 0 {
			at := slices.Index(order, i.sessions[0])
			if at < last {
				t.Errorf("%s was bound to %s, a session before that of an earlier one", s.id, i.sessions[0])
			}
			last = max(last, at)
		}
	}
	t.Logf("%d directives in %d sessions through %d kills; how they ended: %v", len(all), len(sessions), g.kills, ends)
	for _, state := range []guidance.State{guidance.Addressed, guidance.SetAside, guidance.NotReported, guidance.Expired} {
		if ends[state] == 0 && *guideCount >= 100 {
			t.Errorf("none ended as %s: this night shows too little", state)
		}
	}
	for session, ids := range bound {
		// Directives inherited from a replaced session come first, all others
		// in the order of sending.
		once := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return sticky[id] })
		if !slices.IsSortedFunc(once, func(a, b string) int { return directiveNumber(a) - directiveNumber(b) }) {
			t.Errorf("%s has guidance out of order: %v", session, ids)
		}
		g.checkPrompt(session, ids, items)
	}
	if out := g.Out("nightporter", "verify"); !strings.Contains(out, "ledger whole") {
		t.Errorf("verify: %s", out)
	}
	if out := g.Out("nightporter", "replay"); strings.Contains(out, "✗") {
		t.Errorf("replay: %s", out)
	}
}

// checkPrompt compares a session's prompt with the directives that the ledger
// bound to it.
func (g *guidedRun) checkPrompt(session string, bound []string, items map[string]*directiveRecord) {
	g.T.Helper()
	prompt, err := os.ReadFile(g.Path("notes", "prompt-"+session))
	if errors.Is(err, os.ErrNotExist) {
		return // the session was lost before its agent read the prompt
	}
	if err != nil {
		g.T.Fatal(err)
	}
	var want []string
	for _, id := range bound {
		want = append(want, items[id].text)
	}
	got := regexp.MustCompile(`Directive \d+ of the night`).FindAllString(string(prompt), -1)
	if diff := cmp.Diff(want, got); diff != "" {
		g.T.Errorf("guidance in the prompt of %s (-bound +told):\n%s", session, diff)
	}
}

// directiveNumber returns 12 for "g12".
func directiveNumber(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "g"))
	return n
}
