package stats

import "github.com/nightporter/nightporter/loop/ledger"

// Figures are sums over a part of a ledger. The zero value is of nothing.
type Figures struct {
	Sessions  int     // of agents, that ended
	Failed    int     // of them, those that count as failed
	USD       float64 // of the sessions whose cost is known
	Unpriced  int     // sessions whose cost is unknown
	Estimated int     // sessions whose cost is computed from their tokens, or the configuration's estimate
	Tokens    int64   // of the sessions that reported any
	Untold    int     // sessions whose tokens are unknown
	Read      int64   // of Tokens, those that models read, cached ones too; of the sessions that reported kinds of tokens
	Unsplit   int     // sessions whose kinds of tokens are unknown
	Prompt    int64   // length in bytes of the prompts that sessions were given, as far as it is known
	Unsized   int     // sessions the length of whose prompt is unknown
	Ms        int64   // length of all sessions

	Finished  int // tasks that an agent worked on and that are done or blocked
	Done      int // of Finished
	FirstPass int // of Done, those of which nothing failed (Flawed)

	FixRounds    int // reviews and tests that sent the work to another hat
	Reviews      int // verdicts on the work
	Judged       int // of Reviews, those whose issues all say what they contradict
	Contradicted int // of Judged, those with an issue against a plan or a decision
}

// Plus returns the sum of both.
func (f Figures) Plus(g Figures) Figures {
	f.Sessions += g.Sessions
	f.Failed += g.Failed
	f.USD += g.USD
	f.Unpriced += g.Unpriced
	f.Estimated += g.Estimated
	f.Tokens += g.Tokens
	f.Untold += g.Untold
	f.Read += g.Read
	f.Unsplit += g.Unsplit
	f.Prompt += g.Prompt
	f.Unsized += g.Unsized
	f.Ms += g.Ms
	f.Finished += g.Finished
	f.Done += g.Done
	f.FirstPass += g.FirstPass
	f.FixRounds += g.FixRounds
	f.Reviews += g.Reviews
	f.Judged += g.Judged
	f.Contradicted += g.Contradicted
	return f
}

// IsZero reports whether nothing was counted.
func (f Figures) IsZero() bool { return f == Figures{} }

// CostATask returns what a task that was done cost, failed ones paid along, and false if
// that is unknown: a session did not report its cost, or nothing was done.
func (f Figures) CostATask() (usd float64, known bool) {
	if f.Done == 0 || f.Unpriced > 0 || f.Sessions == 0 {
		return 0, false
	}
	return f.USD / float64(f.Done), true
}

// TokensASession returns the mean of the sessions that reported their tokens, and their
// number; 0 of 0 is unknown.
func (f Figures) TokensASession() (mean int64, of int) {
	if of = f.Sessions - f.Untold; of <= 0 {
		return 0, 0
	}
	return f.Tokens / int64(of), of
}

// ReadASession returns how many tokens a model read in a session, the mean of the sessions
// that reported it, and their number; 0 of 0 is unknown.
func (f Figures) ReadASession() (mean int64, of int) {
	if of = f.Sessions - f.Unsplit; of <= 0 {
		return 0, 0
	}
	return f.Read / int64(of), of
}

// PromptASession returns the tokens of the prompt that a session was given, the mean of the
// sessions whose prompt is known, and their number; 0 of 0 is unknown. It is an estimate
// from the length: no agent reports its prompt apart from what it adds itself.
func (f Figures) PromptASession() (mean int64, of int) {
	if of = f.Sessions - f.Unsized; of <= 0 {
		return 0, 0
	}
	return int64(float64(f.Prompt) / ledger.BytesPerToken / float64(of)), of
}

// sessionFigures counts the end of an agent's session.
func sessionFigures(b ledger.SessionEnded) Figures {
	f := Figures{Sessions: 1, Ms: b.Exit.Took().Milliseconds()}
	if b.Counts == ledger.CountsAsFailed {
		f.Failed = 1
	}
	switch usd := b.Exit.CostUSD; {
	case !(usd >= 0): // also not a number
		f.Unpriced = 1
	default:
		f.USD = usd
		if b.Exit.Estimated {
			f.Estimated = 1
		}
	}
	if b.Exit.Tokens < 0 {
		f.Untold = 1
	} else {
		f.Tokens = b.Exit.Tokens
	}
	if u := b.Exit.Usage; u != nil && b.Exit.Tokens >= 0 {
		f.Read = u.Read()
	} else {
		f.Unsplit = 1
	}
	if f.Prompt = max(b.Exit.Prompt, 0); f.Prompt == 0 {
		f.Unsized = 1
	}
	return f
}

// reviewFigures counts a reviewer's verdict.
func reviewFigures(issues []ledger.Issue) Figures {
	f := Figures{Reviews: 1, Judged: 1}
	for _, i := range issues {
		switch i.Contradicts {
		case ledger.ContradictsPlan, ledger.ContradictsDecision:
			f.Contradicted = 1
		case "":
			f.Judged = 0
		}
	}
	f.Contradicted = min(f.Contradicted, f.Judged)
	return f
}
