package ledger

// TokenUsage holds the tokens of a session by kind. The kinds are apart: what was read
// from a cache or written to one is not in Input. A kind that the agent does not tell is
// -1, and its tokens are in Input.
type TokenUsage struct {
	Input      int64 `json:"input"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	Output     int64 `json:"output"`    // with Reasoning
	Reasoning  int64 `json:"reasoning"` // the part of Output that the model thought; -1 = unknown
}

// Total returns the number of all tokens.
func (u TokenUsage) Total() int64 {
	return u.Input + max(u.CacheRead, 0) + max(u.CacheWrite, 0) + u.Output
}

// Read returns the tokens that the model read: a prompt counts again in each request.
func (u TokenUsage) Read() int64 { return u.Total() - u.Output }

// BytesPerToken estimates the tokens of a prompt from its length. It is an estimate:
// people are told that it is one.
const BytesPerToken = 3.5

// CostSource says what the cost of a session is from.
type CostSource string

// Sources of costs, the best first. All but the first are approximate.
const (
	PricedByAgent    CostSource = "agent"    // the agent's own output
	PricedByTable    CostSource = "table"    // its tokens and the price of its model
	PricedByEstimate CostSource = "estimate" // usd_estimate of the agent
)
