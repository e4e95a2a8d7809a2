package loop

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// crew are a project's agents. How long they take and how often they fail differs from
// project to project, and from task to task: an outlook knows neither, and its model has
// nothing like it.
type crew struct {
	*director
	rnd      *rand.Rand
	minutes  float64            // of a session of the project, at the median
	slips    float64            // chance that a session ends without an event
	finds    float64            // chance that a review has an issue
	hopeless float64            // chance that a task can't be done
	harder   map[string]float64 // by task: how much longer its sessions take; negative = it can't be done
	spent    float64
	account  *account // of its agent; nil = one without a limit
	watch    func()   // after each session
}

func newCrew(t *testing.T, seed uint64) *crew {
	d := newDirector(t, fmt.Sprint("crew ", seed))
	d.trusts, d.unread = true, true // TestSchedules holds that decisions are pure and fold to their state
	c := &crew{director: d, rnd: rand.New(rand.NewPCG(seed, 3)), harder: map[string]float64{}}
	c.plan.Tasks = nil
	c.minutes = 6 * math.Exp(0.5*c.rnd.NormFloat64())
	c.slips, c.finds, c.hopeless = 0.1*c.rnd.Float64(), 0.4*c.rnd.Float64(), 0.2*c.rnd.Float64()
	return c
}

// begin starts a run of a night on as many new tasks, and what earlier nights left.
func (c *crew) begin(night, tasks int) {
	var names []string
	c.spent = 0
	for n := range tasks {
		name := fmt.Sprint(100*night + n)
		names = append(names, name)
		c.harder["Task "+name] = math.Exp(0.5 * c.rnd.NormFloat64())
		if c.rnd.Float64() < c.hopeless {
			c.harder["Task "+name] *= -1
		}
	}
	before := c.plan.Tasks
	c.play("tasks " + strings.Join(names, " "))
	c.plan.Tasks = append(before, c.plan.Tasks...)
	c.settings.Until = c.now.Add(8 * time.Hour)
	c.play("go quiet")
}

// night carries the run to its end and returns the number of tasks that got done.
func (c *crew) night() int {
	before := c.done()
	for steps := 0; !c.s.Project.Run.Over(); steps++ {
		if steps > 5000 {
			c.t.Fatalf("the run does not end: %+v", c.s.Project.Run)
		}
		if len(c.s.Project.Sessions) > 0 {
			c.work()
			if c.watch != nil {
				c.watch()
			}
			continue
		}
		due := Due(c.s)
		if due.IsZero() {
			c.t.Fatalf("nothing is due: %+v", c.s.Project.Run)
		}
		if due.After(c.now) {
			c.now = due
		}
		c.input(Tick{})
	}
	return c.done() - before
}

// done returns the number of tasks that are done.
func (c *crew) done() (n int) {
	for id := range c.harder {
		if t, ok := c.s.Project.Find(id); ok && t.Status == ledger.Done {
			n++
		}
	}
	return n
}

// work lets the session in flight run to its end, or to that of the night.
func (c *crew) work() {
	s, began := c.session(), c.now
	hard := c.harder[s.Task]
	minutes := 1.0
	if s.Planned.Kind == ledger.KindAgent {
		minutes = min(c.minutes*math.Abs(hard)*math.Exp(0.4*c.rnd.NormFloat64()), 55)
	}
	var told []ledger.UsageWindow
	limited := false
	if c.account != nil && s.Planned.Kind == ledger.KindAgent {
		w, cut := c.account.use(began, minutes)
		if told, limited = []ledger.UsageWindow{w}, cut >= 0; limited {
			minutes = cut
		}
	}
	ends := began.Add(time.Duration(minutes * float64(time.Minute)))
	if until := c.settings.Until; began.Before(until) && ends.After(until) {
		c.now = until
		c.input(Tick{})
		if _, ok := c.s.Project.Session(s.ID); !ok {
			return
		}
	}
	c.now = ends
	if s.Planned.Kind != ledger.KindAgent {
		c.exit(nil)
		return
	}
	usd := 0.04 * minutes * math.Exp(0.4*c.rnd.NormFloat64())
	c.spent += usd
	if limited {
		c.exit(func(x *ledger.Exit) {
			x.Started, x.Ended, x.CostUSD, x.Windows = began, c.now, usd, told
			x.Failure, x.Until, x.Text = ledger.FailureLimit, told[0].Resets, "You've hit your session limit"
		})
		return
	}
	if c.rnd.Float64() >= c.slips {
		switch s.Planned.Hat {
		case "planner":
			c.emit("plan.complete", fmt.Sprintf(planned, ""))
		case "builder":
			c.emit("build.complete", fmt.Sprintf(built, ""))
		case "fixer":
			c.emit("fix.complete", fmt.Sprintf(fixed, ""))
		case "reviewer":
			issues := ""
			if hard < 0 || c.rnd.Float64() < c.finds {
				issues = fmt.Sprintf(`{"severity":"major","file":"a.go","line":3,"rule":"r%d","text":"wrong"}`, c.rnd.IntN(1000))
			}
			c.emit("review.verdict", `{"summary":"look","issues":[`+issues+`]}`)
		}
	}
	c.exit(func(x *ledger.Exit) { x.Started, x.Ended, x.CostUSD, x.Windows = began, c.now, usd, told })
}

// foretold plays three nights of a project and returns whether the outlook at the third
// one's beginning held, for tasks and for dollars.
func foretold(t *testing.T, seed uint64) (tasks, dollars bool, text string) {
	c := newCrew(t, seed)
	for night := range 2 {
		c.begin(night+1, 16)
		c.night()
		c.now = c.now.Add(16 * time.Hour)
	}
	c.begin(3, 16)
	o := OutlookOf(c.s, c.now)
	came := c.night()
	return o.Holds(came), o.USDLow <= c.spent && c.spent <= o.USDHigh, fmt.Sprintf("%d: said %d of %d (%d-%d, %s) $%.2f-%.2f, came %d $%.2f", seed, o.Done, o.Total, o.Low, o.High, o.Basis, o.USDLow, o.USDHigh, came, c.spent)
}

// TestOutlookHolds: of 100 projects, whose nights the core plays, the interval of four
// nights in five holds in 70 to 90, for tasks and for dollars.
func TestOutlookHolds(t *testing.T) {
	tasks, dollars := 0, 0
	for seed := range uint64(100) {
		did, cost, text := foretold(t, seed)
		t.Log(text)
		if did {
			tasks++
		}
		if cost {
			dollars++
		}
	}
	t.Logf("of 100 nights: tasks %d, dollars %d", tasks, dollars)
	if tasks < 70 || tasks > 90 || dollars < 70 || dollars > 90 {
		t.Errorf("of 100 nights: tasks %d, dollars %d", tasks, dollars)
	}
}
