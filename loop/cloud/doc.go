// Package cloud takes tasks through a coding agent that works on a machine of its
// own: an issue is opened for it, it hands in a pull request, the request is
// judged and merged (docs/spec 14).
//
//	machine.go judge.go   Step: state and view to the next state and one action
//	outcome.go            the table of reasons: what people read, what needs one
//	agent.go              Agent, the seam to agents
//	prompt.go             what an agent is told
//	state.go              State, the typed part of a state file
//	document.go edit.go   a JSON text that is edited in place
//	file.go               reading and replacing a file that others write, too
//	tick.go               Tick: one step, from file to file
//
// The agents lie below it: github (GitHub's coding agent).
//
//	needs_trigger ──dispatch──► agent_working ──poll──► needs_verification
//	   ▲    ▲                     ▲    │                  │   │       │
//	   │    └─ no request ────────┼────┘     red checks   │   │       │ finish
//	   │                          └───────────────────────┘   │       ▼
//	   ├──────────── closed by a person ──────────────────────┤   completed
//	   │                                                      ▼       │
//	   │                                            awaiting_review   │
//	   └──────────────────────────────────────────────────────────────┘
//
// The state lies in one JSON file whose format is wreck-it's, and which that
// program, or a person, may write at any time. Nothing else is remembered:
// everything that an agent is asked for has a key, and is looked for by it first.
//
// The tests hold: a file is written back byte for byte but for what a step
// changed; its memory only grows; what somebody else wrote is never overwritten;
// a step that is called twice, or killed at any point, opens one issue, asks for
// one round and merges once; and nothing that is written on a forge reaches an
// agent's prompt.
package cloud
