package adapter

import "github.com/nightporter/nightporter/loop/ledger"

// The most that one session can have cost, in US dollars, or used. Whatever runs in a
// session can write to its output, and sums over sessions have to stay numbers.
const (
	mostUSD    = 1e6
	mostTokens = 1e12
)

// plausible makes figures unknown that no session can have.
func (v Verdict) plausible() Verdict {
	if !(v.CostUSD <= mostUSD) {
		v.CostUSD, v.Uncounted = -1, true
	}
	if v.Tokens < -1 || v.Tokens > mostTokens || v.Usage != nil && !plausibleUsage(*v.Usage) {
		v.Tokens, v.Usage, v.Uncounted = -1, nil, true
	}
	return v
}

// plausible leaves figures out that no session can have.
func (s Spending) plausible() Spending {
	if !(s.USD <= mostUSD) {
		s.USD = 0
	}
	if s.Tokens < 0 || s.Tokens > mostTokens || s.Usage != nil && !plausibleUsage(*s.Usage) {
		s.Tokens, s.Usage = 0, nil
	}
	return s
}

func plausibleUsage(u ledger.TokenUsage) bool {
	for _, n := range []int64{u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning} {
		if n < -1 || n > mostTokens { // sums of huge numbers become negative
			return false
		}
	}
	return true
}

// Spending returns a reader of the lines of an agent's output, which tells after each of
// them what the answers so far have spent. cut says that the line is only its beginning.
// It returns nil for an agent whose stream does not tell.
func (a *Agent) Spending() func(line []byte, cut bool) Spending {
	read := a.Spent()
	if read == nil {
		return nil
	}
	return func(line []byte, cut bool) Spending { return read(line, cut).plausible() }
}
