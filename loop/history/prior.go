package history

// prior is what a session of one hat is taken for until the ledger knows better. The
// figures are rough on purpose and their spread is wide: published overnight runs took 7
// hours and $4.20 for 28 small tasks with about 93 sessions, and larger models cost many
// times as much.
type prior struct {
	minutes float64
	usd     float64 // of agents that report what they cost
}

var priors = map[string]prior{
	"planner":  {4, 0.15},
	"builder":  {9, 0.40},
	"fixer":    {6, 0.25},
	"reviewer": {4, 0.15},
	"critic":   {3, 0.12},
	"writer":   {4, 0.10},
}

var otherPrior = prior{5, 0.20}

// priorSpread has the middles of five equally likely parts of a prior, as multiples of its
// median.
var priorSpread = []float64{0.35, 0.65, 1, 1.6, 2.8}

// priorSize scales a prior by the size of the task.
var priorSize = map[Size]float64{Small: 0.6, Medium: 1, Large: 2}

// pricing are agents that report what a session costs, so that a prior in dollars can be
// right. Of others the cost is unknown until the ledger has it.
var pricing = map[string]bool{"claude": true, "opencode": true, "pi": true}

// priorSessions returns what a session of the key is taken for.
func priorSessions(k Key) []Session {
	p, ok := priors[k.Hat]
	if !ok {
		p = otherPrior
	}
	scale, ok := priorSize[k.Size]
	if !ok {
		scale = 1
	}
	list := make([]Session, 0, len(priorSpread))
	for _, f := range priorSpread {
		s := Session{Ms: int64(p.minutes * scale * f * 60_000), USD: Unknown, Tokens: Unknown}
		if pricing[k.Agent] {
			s.USD = p.usd * scale * f
		}
		list = append(list, s)
	}
	return list
}

// priorTasks returns what tasks of the size are taken for: of 15 tasks 13 are done, 2 of
// them after a fix round, as in those published runs. agent runs its sessions.
func priorTasks(size Size, agent string) []Task {
	list := make([]Task, 0, 3*len(priorSpread))
	for n := range 3 * len(priorSpread) {
		e := Effort{Attempts: 1}
		hats, outcome := []string{"planner", "builder", "reviewer"}, OutcomeDone
		switch n {
		case 1, 8:
			hats = append(hats, "fixer", "reviewer")
			e.Fixes = 1
		case 5, 12:
			outcome = OutcomeFailed
			hats = append(hats, "builder", "reviewer")
			e.Attempts = 2
		}
		for _, hat := range hats {
			s := priorSessions(Key{Hat: hat, Agent: agent, Size: size})[n%len(priorSpread)]
			e = e.Plus(Effort{Sessions: 1, Ms: s.Ms, USD: max(s.USD, 0), Untold: 1})
			if s.USD == Unknown {
				e.Unpriced++
			}
		}
		list = append(list, e.Finished(outcome))
	}
	return list
}
