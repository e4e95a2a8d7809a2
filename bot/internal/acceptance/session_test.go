package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// sessions runs the script: each session takes its time, emits its event and
// ends.
type sessions struct {
	ports  *scenario.Ports
	emit   func(loop.Emit) error
	mu     sync.Mutex
	script map[string][]act // by "7 builder", in order
	red    string           // output of the next verification
	faults []string
	adds   *growingPlan // the plan, if tasks are added to it; nil = ports has it

	publisher engine.Publisher // nil: nothing is pushed
}

// act is the scripted behaviour of one session.
type act struct {
	till  string  // clock time of its end
	cost  float64 // dollars
	says  string  // type of its event; "" = it ends without one
	data  map[string]any
	files []ledger.FileChange
	red   string // output of the verification after it; "" = it passes
	limit string // clock time until which its agent reports a limit; "" = none
	wants []want // hosts that it asks for
	leaks string // host that it sends a planted value to at its end; "" = none
}

// want is a host that a session asks for at a time. It goes on whatever the answer.
type want struct{ at, host, program string }

func newSessions(plan ledger.Snapshot, script map[string][]act) *sessions {
	s := &sessions{script: script}
	s.ports = scenario.NewPorts(plan, s.run)
	s.ports.Zone = berlin
	return s
}

func (s *sessions) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// next returns the act of a session of an agent.
func (s *sessions) next(l ledger.Launch) (act, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.TrimPrefix(ledger.ShortID(l.Task), "#") + " " + l.Hat
	if len(s.script[key]) == 0 {
		s.faults = append(s.faults, l.Session+": the script has no other session of "+key)
		return act{}, false
	}
	a := s.script[key][0]
	s.script[key] = s.script[key][1:]
	return a, true
}

func (s *sessions) run(l ledger.Launch) ledger.Exit {
	x := scenario.Exited(l.Session, 0)
	x.Started = clock()
	if l.Kind != ledger.KindAgent {
		s.command(l, &x)
	} else if a, ok := s.next(l); ok {
		s.agent(l, a, &x)
	} else {
		x.Code = 1
	}
	x.Ended = clock()
	return x
}

// command runs a verification.
func (s *sessions) command(l ledger.Launch, x *ledger.Exit) {
	s.mu.Lock()
	red := s.red
	s.mu.Unlock()
	took := 38 * time.Second
	if l.Kind == ledger.KindBaseline { // so that no minute of the run coincides with an edit of live messages
		took = 25 * time.Second
	}
	time.Sleep(took)
	if red != "" && l.Kind == ledger.KindVerify {
		x.Code, x.Tail = 1, red
	}
}

// agent runs a session to its end.
func (s *sessions) agent(l ledger.Launch, a act, x *ledger.Exit) {
	for _, w := range a.wants {
		time.Sleep(time.Until(at(w.at)))
		x.Hosts = append(x.Hosts, s.reach(l.Session, w))
	}
	if now, till := clock(), at(a.till); till.After(now) {
		time.Sleep(till.Sub(now))
	} else {
		s.fault("%s %s #%s must end at %s, and began at %s", l.Session, l.Hat, l.Task, a.till, now.Format(time.TimeOnly))
	}
	s.mu.Lock()
	s.red = a.red
	s.mu.Unlock()
	s.ports.Write(a.files...)
	x.CostUSD = a.cost
	switch {
	case a.leaks != "":
		x.Reason, x.Code = ledger.ExitLeak, -1
		x.Text = "ended: it sent a value of its environment to " + a.leaks + " that nothing has a reason to send"
	case a.limit != "":
		x.Code, x.Failure, x.Turns, x.Until = 1, ledger.FailureLimit, 3, at(a.limit)
		x.Text = "You've hit your session limit · resets 4:10am (Europe/Berlin)"
	case a.says != "":
		raw, err := json.Marshal(a.data)
		if err == nil {
			err = s.emit(loop.Emit{Session: l.Session, Type: a.says, Data: raw})
		}
		if err != nil {
			s.fault("%s: %v", l.Session, err)
		}
	}
}

// reach asks for a host, as the supervisor of a session does, and waits for a minute.
func (s *sessions) reach(session string, w want) ledger.HostUse {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	use := ledger.HostUse{Host: w.host, Port: 443, Conns: 1, First: clock()}
	answer, err := s.ports.Reach(ctx, ledger.HostRequest{Session: session, Host: w.host, Port: 443, Program: w.program, At: clock()})
	switch {
	case err != nil:
		use.Refused = "nobody answered"
	case !answer.Allow:
		use.Refused = answer.Reason
	default:
		use.Sent, use.Received = 1_200, 48_000
	}
	return use
}

// project returns the ports of a project.
func (s *sessions) project(ctx context.Context, set ledger.Settings) (engine.Ports, error) {
	p, err := s.ports.Project(ctx, set)
	if s.adds != nil {
		p.Source, p.Adder = &growingSource{p.Source, s.adds}, s.adds
	}
	p.Publisher = s.publisher
	p.Source, p.Repository = slowSource{p.Source}, repository{p.Repository, s.ports}
	return p, err
}

// slowSource takes a time that differs by task, so that of two tasks marked
// together the same one is ready first every night.
type slowSource struct{ engine.Source }

func (s slowSource) Mark(ctx context.Context, marks []ledger.Marking) error {
	for _, m := range marks {
		n, err := strconv.Atoi(strings.TrimLeft(m.Task, "Task B"))
		if err != nil {
			return fmt.Errorf("mark: %w", err)
		}
		time.Sleep(time.Duration(n) * time.Millisecond)
	}
	return s.Source.Mark(ctx, marks)
}

// repository names commits as git does.
type repository struct {
	engine.Repository
	ports *scenario.Ports
}

func (r repository) Commit(context.Context, ledger.CommitTask, map[string][]byte) (ledger.Committed, error) {
	return ledger.Committed{Commit: fmt.Sprintf("%07x5e", 0x3b1f0aa+r.ports.Tree()*0x1111)}, nil
}
