package ledger

import (
	"fmt"
	"strings"
)

// Exemption says what may fail in a verification command without counting
// against a task: what failed on the start commit already (docs/spec 2.3).
type Exemption struct {
	Run      string    `json:"run"`                // the command
	Failures *Failures `json:"failures,omitempty"` // what may fail; nil = unknown, which excuses nothing
	// Whole exempts whatever fails. Only releases before failures were recorded
	// made such exemptions.
	Whole bool   `json:"whole,omitempty"`
	Task  string `json:"task,omitempty"` // the only task that it holds for; "" = all
}

// String says what is exempt: "TestA, TestB and 3 more (go test ./...)".
func (e Exemption) String() string { return failedIn(e.Run, e.Failures) }

// failedIn names the first failures of a command.
func failedIn(run string, f *Failures) string {
	names := f.Names(2)
	if names == "" {
		return run + ", what failed is not known"
	}
	return fmt.Sprintf("%s (%s)", names, run)
}

// FailedIn says what failed in a red command, as far as it is known.
func (r Result) FailedIn() string { return failedIn(r.Run, r.Failures) }

// Names lists up to most failures in one line. It returns "" if none is known. f
// may be nil.
func (f *Failures) Names(most int) string {
	if f == nil {
		return ""
	}
	return failureNames(f.Failed, f.More, most)
}

// NewNames lists up to most failures that no exemption covers, or returns "".
func (r Result) NewNames(most int) string { return failureNames(r.New, 0, most) }

func failureNames(failed []Failure, more, most int) string {
	var names []string
	for n, f := range failed {
		if n == most {
			return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), len(failed)-n+more)
		}
		names = append(names, strings.Join(strings.Fields(f.Name), " "))
	}
	if more > 0 && len(names) > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
	}
	return strings.Join(names, ", ")
}

// RedTip is a branch tip that fails verification because of the runs' own work.
type RedTip struct {
	Run     string   `json:"run"` // run whose branch it is the tip of
	Commit  string   `json:"commit"`
	Results []Result `json:"results,omitempty"` // the red ones
}

// String names the run and what fails: "what r1 left failing: TestSum (go test)".
func (t RedTip) String() string {
	text := "what " + t.Run + " left failing"
	if len(t.Results) == 0 {
		return text
	}
	res := t.Results[0]
	text += ": "
	if names := res.NewNames(2); names != "" {
		text += fmt.Sprintf("%s (%s)", names, res.Run)
	} else if res.Failures == nil {
		text += res.Run
	} else {
		text += res.FailedIn()
	}
	if n := len(t.Results) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}
