package ledger

// BatchBegun records that attempts which wait with StageQueued are to be verified
// as one: their changes one on top of the other, the first on the branch's tip.
type BatchBegun struct {
	ID    string      `json:"id"`    // r14-b2
	Onto  string      `json:"onto"`  // commit at the branch's tip
	Links []BatchLink `json:"links"` // in the order of their commits
}

// BatchLink is one attempt of a batch.
type BatchLink struct {
	Task    string `json:"task"`    // id as written
	Attempt int    `json:"attempt"` // its number
	// Tree is the attempt's own tree, or in a chain that tree on top of the links
	// before it.
	Tree string `json:"tree"`
	// Proof says what the link changed of what proves. It is set in a chain, for
	// all links but the first.
	Proof *ProofFacts `json:"proof,omitempty"`
}

// BatchChained records the chain of a batch: the trees that its commits will
// have. Left names the attempts that cannot be part of it. They stay in the queue.
type BatchChained struct {
	Links []BatchLink `json:"links"`
	Left  []BatchLeft `json:"left,omitempty"`
}

// BatchLeft is an attempt that was left out of a chain.
type BatchLeft struct {
	Task      string   `json:"task"` // id as written
	Why       string   `json:"why"`  // for people
	Conflicts []string `json:"conflicts,omitempty"`
}

// BatchEnded records that a batch is over. What was not committed stays in the
// queue.
type BatchEnded struct {
	Why string `json:"why,omitempty"` // "" if it was verified to its end
}
