package adapter

import (
	"bytes"
	"encoding/json"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Spending is what the answers of a session have cost so far: what its stream tells, and
// never more. Requests that the stream leaves out are missing.
type Spending struct {
	USD   float64            // by the program itself; 0 = it told none
	Usage *ledger.TokenUsage // of the same answers; nil = unknown
	Model string             // the model that Usage is of; "" = the one that the session was started with

	Tokens int64 // of the same answers, also where Usage is unknown
}

// LongestLine is the longest line of a stream that a reader of Spent can use, in bytes.
const LongestLine = longestLine

// opencodeSpent adds the figures of steps.
func opencodeSpent() func(line []byte, cut bool) Spending {
	var s opencodeStream
	return func(line []byte, cut bool) Spending {
		if !cut && bytes.HasPrefix(line, []byte(`{"type":"step_finish"`)) {
			s.readLine(line, false)
		}
		return Spending{USD: s.usd, Usage: s.usage, Tokens: total(s.usage)}
	}
}

// piSpent adds the figures of answers. Most lines repeat what came before, and are not
// looked at.
func piSpent() func(line []byte, cut bool) Spending {
	var s piStream
	return func(line []byte, cut bool) Spending {
		if !cut && bytes.HasPrefix(line, []byte(`{"type":"message_end"`)) {
			s.readLine(line, false)
		}
		sp := Spending{USD: s.usd, Usage: s.usage, Tokens: total(s.usage)}
		switch len(s.models) {
		case 0:
		case 1:
			for sp.Model = range s.models {
			}
		default:
			sp.Usage = nil
		}
		return sp
	}
}

// qwenSpent adds the figures of answers. One answer has several events, of which the last
// has its figures, and ends where something is sent to the model.
func qwenSpent() func(line []byte, cut bool) Spending {
	sp := Spending{Usage: &ledger.TokenUsage{}}
	before, answer := sp.Usage, &ledger.TokenUsage{}
	return func(line []byte, cut bool) Spending {
		if cut || len(line) == 0 || line[0] != '{' {
			return sp
		}
		var e qwenEvent
		if json.Unmarshal(line, &e) != nil {
			return sp
		}
		switch e.Type {
		case "system":
			if e.Model != "" {
				sp.Model = Clean(e.Model, longestModel)
			}
		case "user":
			before, answer = sp.Usage, &ledger.TokenUsage{}
		case "assistant":
			if u := e.Message.Usage.usage(qwenKinds); u != nil && u.Total() > answer.Total() {
				answer = u
				sp.Usage = addUsage(before, answer)
				sp.Tokens = sp.Usage.Total()
			}
		}
		return sp
	}
}

// claudeSpent adds the tokens of answers, of which each event has those that the answer
// began with: what the model writes in it is in the stream's end alone. Their cost is not
// told, because the program keeps to its limit in money by itself, and more exactly.
func claudeSpent() func(line []byte, cut bool) Spending {
	var sp Spending
	answers := map[string]int64{}
	return func(line []byte, cut bool) Spending {
		if cut || !bytes.HasPrefix(line, []byte(`{"type":"assistant"`)) {
			return sp
		}
		var e struct {
			Message struct {
				ID    string `json:"id"`
				Model string `json:"model"`
				Usage counts `json:"usage"`
			} `json:"message"`
		}
		if json.Unmarshal(line, &e) != nil || e.Message.ID == "" || e.Message.Model == syntheticModel {
			return sp
		}
		if n, ok := e.Message.Usage.sumFields(claudeUsage); ok && n > answers[e.Message.ID] {
			sp.Tokens += n - answers[e.Message.ID]
			answers[e.Message.ID] = n
		}
		return sp
	}
}

// total returns all tokens, 0 where they are unknown.
func total(u *ledger.TokenUsage) int64 {
	if u == nil {
		return 0
	}
	return u.Total()
}
