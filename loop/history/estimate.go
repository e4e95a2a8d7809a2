package history

import (
	"cmp"
	"slices"
)

// Enough is the number of samples that an estimate is made of. With fewer, it is made of
// the samples of more keys.
const Enough = 5

// Basis says what an estimate was made of.
type Basis string

// Bases, the best first.
const (
	FromProject Basis = "project" // sessions of this project
	FromHouse   Basis = "house"   // sessions of other projects of this machine
	FromPrior   Basis = "prior"   // what nightporter assumes until there are any
	FromNothing Basis = "unknown" // nothing says it
)

// Estimate is what a session probably costs. USD and Tokens are what it stays under in four
// of five cases, and Unknown where nothing says it; an agent that reports no cost has none.
type Estimate struct {
	USD     float64 `json:"usd"`
	Tokens  int64   `json:"tokens"`
	Basis   Basis   `json:"basis"`
	Samples int     `json:"samples,omitempty"` // sessions that USD was made of; with Tokens alone, those
}

// Lookup is the histories that an estimate is looked for in, in order. Own is the
// project's.
type Lookup struct {
	Own   History
	House []History // of the other projects; none if the caller knows only the own one
}

// quantile of an Estimate's USD and Tokens: what is reserved for a session is enough for
// four of five.
const reserved = 0.8

// Cost returns what a session probably costs.
func (l Lookup) Cost(hat, agent, model string, size Size) Estimate {
	k := Key{Hat: hat, Agent: agent, Model: model, Size: size}
	e := Estimate{USD: Unknown, Tokens: Unknown, Basis: FromNothing}
	list, basis := l.pick(k, func(s Session) bool { return s.USD != Unknown })
	if len(list) > 0 {
		e.USD, e.Basis, e.Samples = Quantile(costs(list), reserved), basis, len(list)
	}
	list, from := l.pick(k, func(s Session) bool { return s.Tokens != Unknown })
	if len(list) > 0 {
		var all []int64
		for _, s := range list {
			all = append(all, s.Tokens)
		}
		e.Tokens = Quantile(all, reserved)
		if e.Basis == FromNothing {
			e.Basis, e.Samples = from, len(list)
		}
	}
	if e.Basis == FromPrior {
		e.Samples = 0
	}
	return e
}

// Sessions returns sessions like the one with the key, and where they come from. There is
// always one.
func (l Lookup) Sessions(k Key) ([]Session, Basis) {
	return l.pick(k, func(Session) bool { return true })
}

// pick returns the sessions that tell what usable asks for: of the first history that has
// Enough for the key, for any size of task, or for any hat of the agent and model. The
// agent and its model are always the key's, because prices are theirs. Where none has
// Enough, the priors are asked, and then the longest of these lists.
func (l Lookup) pick(k Key, usable func(Session) bool) ([]Session, Basis) {
	like := []func(Key) bool{
		func(o Key) bool { return o == k },
		func(o Key) bool { return o.Agent == k.Agent && o.Model == k.Model && o.Hat == k.Hat },
		func(o Key) bool { return o.Agent == k.Agent && o.Model == k.Model },
	}
	var best []Session
	basis, seen := FromNothing, false
	for from, house := range [][]History{{l.Own}, l.House} {
		for _, alike := range like {
			var list []Session
			for _, h := range house {
				for _, r := range h.Sessions {
					if !alike(r.Key) {
						continue
					}
					for _, s := range r.Last {
						seen = true
						if usable(s) {
							list = append(list, s)
						}
					}
				}
			}
			where := []Basis{FromProject, FromHouse}[from]
			if len(list) >= Enough {
				return list, where
			}
			if len(list) > len(best) {
				best, basis = list, where
			}
		}
	}
	var assumed []Session
	if !seen || len(best) > 0 { // an agent of which no session told it will not tell it next time
		for _, s := range priorSessions(k) {
			if usable(s) {
				assumed = append(assumed, s)
			}
		}
	}
	if len(assumed) > 0 {
		return assumed, FromPrior
	}
	return best, basis
}

// Tasks returns finished tasks like one of the kind, whose sessions the agent has, and
// where they come from. There is always one.
func (l Lookup) Tasks(k Kind, agent string) ([]Task, Basis) {
	like := []func(Kind) bool{
		func(o Kind) bool { return o == k },
		func(o Kind) bool { return o.Pattern == k.Pattern },
		func(o Kind) bool { return o.Size == k.Size },
		func(Kind) bool { return true },
	}
	for from, house := range [][]History{{l.Own}, l.House} {
		for _, alike := range like {
			var list []Task
			for _, h := range house {
				for _, r := range h.Tasks {
					if alike(r.Kind) {
						list = append(list, r.Last...)
					}
				}
			}
			if len(list) >= Enough {
				return list, []Basis{FromProject, FromHouse}[from]
			}
		}
	}
	return priorTasks(k.Size, agent), FromPrior
}

// costs returns what the sessions cost, those whose cost is known.
func costs(list []Session) []float64 {
	var all []float64
	for _, s := range list {
		if s.USD != Unknown {
			all = append(all, s.USD)
		}
	}
	return all
}

// Quantile returns the smallest of the values that is not less than the part q of them,
// from 0 to 1, and the zero value for no values. It does not change the list.
func Quantile[T cmp.Ordered](values []T, q float64) T {
	var none T
	if len(values) == 0 {
		return none
	}
	sorted := slices.Sorted(slices.Values(values))
	n := int(q * float64(len(sorted)))
	if float64(n) == q*float64(len(sorted)) && n > 0 {
		n--
	}
	return sorted[min(max(n, 0), len(sorted)-1)]
}
