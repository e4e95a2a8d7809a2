package payload

import (
	"encoding/json"
	"strings"
)

// Evaluation is an evaluator's verdict on tasks that are done.
type Evaluation struct {
	OK       bool     `json:"ok"`
	Task     string   `json:"task"`     // id of the task that has to be done again; "" if OK
	Findings []string `json:"findings"` // what is wrong with it
}

// ReadEvaluation returns the verdict in the data of an accepted evaluation.verdict.
func ReadEvaluation(data json.RawMessage) (e Evaluation) {
	_ = json.Unmarshal(data, &e)
	return e
}

// checkEvaluation refuses a verdict that sends back nothing in particular.
func checkEvaluation(data json.RawMessage) string {
	e := ReadEvaluation(data)
	found := false
	for _, f := range e.Findings {
		found = found || strings.TrimSpace(f) != ""
	}
	switch {
	case e.OK:
		return ""
	case strings.TrimSpace(e.Task) == "":
		return `a verdict that is not ok names the "task" that has to be done again`
	case !found:
		return "a verdict that is not ok needs findings: what is wrong, and how you saw it"
	}
	return ""
}
