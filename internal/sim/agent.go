package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// emitted is one event as a session sends it.
type emitted struct {
	typ  string
	data json.RawMessage
}

// command is the life of a session without an agent. Its result is the truth about
// the tree in its folder.
func (s *session) command(x *ledger.Exit) {
	w := s.w
	d := w.between(time.Second, 90*time.Second)
	switch {
	case w.hit(checkLost):
		s.work(d)
		x.Reason, x.Code = pick(w, ledger.ExitLost, ledger.ExitMemory, ledger.ExitWall, ledger.ExitStall), -1
		return
	case w.hit(checkDisk):
		s.work(d)
		x.Reason, x.Code = ledger.ExitDisk, -1
		return
	}
	s.work(d)
	if s.launch.Kind == ledger.KindSetup {
		return
	}
	tree, _, _ := inRoom(s.launch.Work)
	failed := w.objects.failing(tree)
	if len(failed) > 0 {
		w.count(checkRed)
	} else if w.hit(checkFlaky) {
		failed = []string{"TestFlaky"}
	}
	if len(failed) == 0 {
		x.Ran = []ledger.TestCount{{Runner: "go test", Passed: len(w.objects.at(tree))}}
		return
	}
	x.Code, x.Tail = 1, "FAIL "+strings.Join(failed, "\nFAIL ")
	x.Failures = &ledger.Failures{Runners: []string{"go test"}, Passed: -1, Skipped: -1, Exit: 1}
	for _, name := range failed {
		x.Failures.Failed = append(x.Failures.Failed, ledger.Failure{Runner: "go test", Name: name, Kind: ledger.FailureAssertion})
	}
}

// agent is the life of an agent's session, of whatever temper.
func (s *session) agent(x *ledger.Exit) {
	w := s.w
	fails := func(class ledger.FailureClass) {
		s.work(w.between(time.Second, 5*time.Minute))
		x.Failure, x.Code = class, 1
	}
	switch {
	case w.hit(agentShort):
		w.machineShort()
		fallthrough
	case w.shortBurst():
		s.work(time.Second)
		x.Code, x.Turns, x.Tail = w.rnd.IntN(2), pick(w, 0, -1), "last status: 429 Too Many Requests"
		return
	case w.hit(agentLimit):
		fails(ledger.FailureLimit)
		if !w.one(3) {
			x.Until = w.wall().Add(w.between(-20*time.Minute, 3*time.Hour))
		}
		x.Unverified = w.one(4)
		return
	case w.hit(agentAuth):
		fails(ledger.FailureAuth)
		return
	case w.hit(agentNetwork):
		fails(ledger.FailureNetwork)
		return
	case w.hit(agentMissing):
		s.work(time.Second)
		x.Code, x.Turns = 127, 0
		return
	}
	s.wantsHosts()
	s.work(w.between(20*time.Second, 12*time.Minute))
	switch {
	case w.hit(agentStall):
		s.work(s.launch.Stall.D())
		x.Reason, x.Code = ledger.ExitStall, -1
		return
	case w.hit(agentWall):
		s.work(s.launch.Wall.D())
		x.Reason, x.Code = ledger.ExitWall, -1
		return
	case w.hit(agentMemory):
		x.Reason, x.Code = ledger.ExitMemory, -1
		return
	case w.hit(agentLost):
		x.Reason, x.Code = ledger.ExitLost, -1
		return
	}
	s.write()
	switch {
	case w.hit(agentCrash):
		x.Code = 1
		return
	case w.hit(agentSilent):
		return
	}
	s.speak()
	s.work(w.between(0, 100*time.Second)) // until it leaves, or the daemon's grace is over
}

// machineShort begins an hour in which every session ends at once.
func (w *world) machineShort() { w.audit.shortUntil = w.s.now.Add(time.Hour) }

func (w *world) shortBurst() bool { return !w.calm && w.s.now.Before(w.audit.shortUntil) }

// writes are the hats whose sessions change files.
var writes = map[string]bool{"builder": true, "fixer": true, "refactorer": true, "writer": true, "reproducer": true}

// write changes files in the work folder, or does not.
func (s *session) write() {
	w := s.w
	work := w.repo.work[s.launch.Work]
	if !writes[s.launch.Hat] || work == nil || strings.HasPrefix(s.launch.Work, roomOf) || w.hit(agentIdle) {
		return
	}
	w.audit.version++
	file := s.file("")
	text := fmt.Sprintf("good %d", w.audit.version)
	if w.hit(agentLies) {
		text = fmt.Sprintf("bad %d", w.audit.version)
	}
	work[file] = text
	if w.one(4) || w.lanes() > 0 && w.one(2) { // what others change, too
		work[fmt.Sprintf("src/old%d.go", w.rnd.IntN(5))] = text
	}
	if w.one(2) {
		work["test/"+strings.TrimPrefix(file, "src/")] = "test " + file
	}
	if s.launch.Task == loop.BaselineTaskID || s.launch.Task == loop.RepairTaskID || strings.HasPrefix(work["src/old0.go"], "bad") && w.one(3) {
		for path, text := range work {
			if strings.HasPrefix(text, "bad") {
				work[path] = fmt.Sprintf("good %d", w.audit.version)
			}
		}
	}
	if w.hit(agentStrays) {
		work[".github/ci.yml"] = text
	}
	if w.hit(agentSecret) {
		work["secret/key.pem"] = text
	}
	if w.hit(agentRefused) {
		work["dev/null"] = text
	}
}

// speak sends the session's event, and whatever else it sends.
func (s *session) speak() {
	w := s.w
	e := s.event()
	switch {
	case w.hit(agentFlood):
		for range 50 {
			s.emit(pick(w, "nonsense", e.typ, "plan.complete"), json.RawMessage(`{"summary":5}`))
		}
	case w.hit(agentWrong):
		s.emit(pick(w, "nonsense", e.typ), pick(w, json.RawMessage(`{"summary":5}`), json.RawMessage(`{}`), json.RawMessage(`[`), e.data))
	}
	if w.one(6) {
		s.input(loop.Remember{Session: s.launch.Session, Kind: pick(w, ledger.MemoryNote, ledger.MemoryFact, ledger.MemoryDecision), Text: "tests need a port"})
	}
	s.addsTasks()
	first := s.emit(e.typ, e.data)
	if !first.OK { // it is told what is missing, and sends it again
		if e.typ == ledger.EventPassed && s.hasty() {
			e.data = withChecks(e.data, s.checks(false))
		}
		first = s.emit(e.typ, e.data)
	}
	if w.hit(agentTwice) {
		if again := s.emit(e.typ, e.data); first.OK && (!again.OK || again.Receipt != first.Receipt) && s.alive() {
			w.fail("one event, one answer", "%s sends %s again and is answered %+v, before %+v", s.launch.Session, e.typ, again, first)
		}
		if other := s.emit(ledger.EventBlocked, json.RawMessage(`{"reason":"r","tried":"t","needs":"n"}`)); other.OK && first.OK && e.typ != ledger.EventBlocked {
			w.fail("one event a session", "%s has a second event accepted", s.launch.Session)
		}
	}
	if s.launch.Kind == ledger.KindAgent && first.OK {
		w.tell("agent", "%s emits %s", s.launch.Session, e.typ)
	}
}

// alive reports whether the daemon still knows the session as in flight.
func (s *session) alive() bool {
	if s.w.daemon == nil {
		return false
	}
	state, _ := s.w.daemon.engine.State(s.w.name)
	_, ok := state.Project.Session(s.launch.Session)
	return ok
}

// emit sends an event as hat does: where no daemon answers, again for 30 s.
func (s *session) emit(typ string, data json.RawMessage) ledger.Answer {
	return s.input(loop.Emit{Session: s.launch.Session, Type: typ, Data: data})
}

func (s *session) input(body loop.InputBody) ledger.Answer { return s.inputAs("", body) }

// inputAs is input with a key, by which a repetition is known as one.
func (s *session) inputAs(key string, body loop.InputBody) ledger.Answer {
	w := s.w
	for range 30 {
		s.work(w.between(0, 2*time.Second))
		d := w.daemon
		if d == nil {
			continue
		}
		var a ledger.Answer
		var err error
		answered := make(chan struct{})
		d.life.Go(func() { // the socket's handler dies with its daemon
			a, err = d.engine.Do(background, loop.Input{Key: key, Project: w.name, Actor: "agent", Body: body})
			close(answered)
		})
		_ = w.all.Wait(background, 30*time.Second, answered)
		if err == nil && closed(answered) {
			return a
		}
	}
	return ledger.Answer{}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// event is what the session has to say in the end.
func (s *session) event() emitted {
	w := s.w
	data := map[string]any{
		"summary": "did it", "steps": []string{"one"}, "files_modified": []string{"src/a.go"}, "issues": []ledger.Issue{}, "resolved": []string{},
	}
	typ := ledger.EventBlocked
	if hat, ok := w.settings.Hats[s.launch.Hat]; ok {
		typ = hat.Emits[0]
	}
	switch typ {
	case ledger.EventPlan:
		if w.divides() && w.one(2) {
			data["sections"] = s.sections()
		} else if w.settings.ReplanAfter > 0 && w.one(2) {
			data["sections"] = []map[string]any{
				{"id": "a", "title": "First", "tasks": []string{"It is there"}, "files": []string{"src/a.go"}, "steps": []string{"one"}},
				{"id": "b", "title": "Then", "tasks": []string{"It works"}, "files": []string{"src/a.go"}, "steps": []string{"two"}},
			}
		}
	case ledger.EventReview:
		if w.hit(agentRejects) {
			data["issues"] = []ledger.Issue{{Severity: pick(w, ledger.Critical, ledger.Major, ledger.Minor), File: "src/a.go", Rule: fmt.Sprintf("r%d", w.rnd.IntN(6)), Text: "wrong"}}
		}
	case ledger.EventPassed:
		data["checks"] = s.checks(s.hasty())
		if w.settings.Pattern.DistinctFiles && w.hit(agentRejects) {
			typ, data["checks"] = ledger.EventFailed, s.faults()
		}
	case ledger.EventUpheld:
		typ, data["rulings"] = s.rulings()
	case ledger.EventRepro:
		data = map[string]any{"command": "go test -run TestBug", "root_cause": "off by one", "affected_files": []string{}, "strategy": "count from 0"}
	case ledger.EventCritique:
		data = map[string]any{"verdict": payload.VerdictOkay, "sections": []any{}}
	case ledger.EventDraft:
		data = s.draft()
	case ledger.EventAdvice:
		data["advice"] = "smaller steps"
	}
	if writes[s.launch.Hat] && w.one(12) {
		data["no_change"] = "it is there already"
	}
	if s.launch.Hat == "builder" && w.one(25) {
		data["manual_verify"] = "look at the page"
	}
	switch {
	case w.hit(agentAsks):
		typ, data = ledger.EventQuestion, map[string]any{"text": "which?", "options": []string{"this", "that"}}
		if w.one(2) {
			data["choice"] = "that"
		}
	case w.hit(agentBlocks):
		typ, data = ledger.EventBlocked, map[string]any{"reason": "no key", "tried": "all", "needs": "a key"}
	}
	if reports := s.reports(); reports != nil {
		data["guidance"] = reports
	}
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return emitted{typ, raw}
}

// reports says what became of the guidance in the session's prompt.
func (s *session) reports() []map[string]any {
	w := s.w
	if w.daemon == nil {
		return nil
	}
	state, _ := w.daemon.engine.State(w.name)
	ses, _ := state.Project.Session(s.launch.Session)
	var out []map[string]any
	for _, id := range ses.Planned.Guidance.Bound {
		if w.calm || !w.one(4) {
			out = append(out, map[string]any{"id": id, pick(w, "done", "done", "set_aside"): true, "note": "so"})
		}
	}
	return out
}
