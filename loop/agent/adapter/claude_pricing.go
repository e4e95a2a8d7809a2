package adapter

import (
	"bytes"
	"encoding/json"
	"strings"
)

// claudePricing finds out whether the cost that Claude Code reports is a price or a guess.
// The program accepts any model and works with any server. For a model that it does not
// know it takes the price of another one, which is many times that of some vendors.
type claudePricing struct {
	marked  map[string]bool // models that the program said on standard error that it does not know
	answers map[string]bool // models that answered, by the server's word
}

// unknownModelMark begins the line on standard error that names a model which the program
// does not know: [claude-code:unrecognized_model] {"model":"glm-4.7","query_source":"sdk"}.
const unknownModelMark = "[claude-code:unrecognized_model]"

// readMark takes a line of standard error, and reports whether it was about a model.
func (p *claudePricing) readMark(line []byte) bool {
	body, ok := bytes.CutPrefix(line, []byte(unknownModelMark))
	if !ok {
		return false
	}
	var mark struct {
		Model string `json:"model"`
	}
	_ = json.Unmarshal(body, &mark) // without a name the mark is about every model
	p.marked = withName(p.marked, mark.Model)
	return true
}

// recordAnswer takes the name of the model that an answer is from.
func (p *claudePricing) recordAnswer(model string) {
	if model != "" {
		p.answers = withName(p.answers, Clean(model, longestModel))
	}
}

// withName adds a name to a set, which it makes where there is none.
func withName(set map[string]bool, name string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	set[name] = true
	return set
}

// guessed reports whether the cost of a result with these models is a guess, at least in
// part, and the one model that worked; "" where it is not known, or where there are
// several.
func (p *claudePricing) guessed(models map[string]counts) (model string, guessed bool) {
	managed := len(models) > 0 // every price is one that the user's organisation has set
	for name, m := range models {
		model = Clean(name, longestModel)
		switch basis := m.text("costBasis"); basis {
		case "managed":
			continue
		case "list":
		case "": // a release that does not say it
			guessed = guessed || p.marked[name] || p.marked[""] || !claudesOwn(name)
		default:
			guessed = true
		}
		managed = false
	}
	if len(models) != 1 {
		model = ""
	}
	if managed {
		return model, false
	}
	// A server can answer with a model of another vendor to the name of Claude's.
	for name := range p.answers {
		if _, asked := models[name]; asked || claudesOwn(name) {
			continue
		}
		guessed = true
		if model = ""; len(p.answers) == 1 && len(models) <= 1 {
			model = name
		}
	}
	return model, guessed || len(models) == 0 && len(p.marked) > 0
}

// claudesOwn reports whether the name is that of a model of the program's vendor, as all
// providers have it: us.anthropic.claude-sonnet-4-5-20250929-v1:0.
func claudesOwn(model string) bool {
	return strings.Contains(strings.ToLower(model), "claude")
}

// claudeGuesses is the Guesses of Claude Code. Its own short names ("opus") and the
// identifiers that providers make up for its models cannot be told by their form.
func claudeGuesses(model string) bool {
	return strings.Contains(model, "-") && !strings.Contains(model, ":") && !claudesOwn(model)
}
