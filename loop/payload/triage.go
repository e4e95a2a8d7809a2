package payload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// maxReason limits the reason of a verdict on a report, in characters. People read it in
// lists.
const maxReason = 300

// Verdicts of a triager on a report.
const (
	verdictTake  = "take"
	verdictAside = "set_aside"
)

// triagedReport is what a triager says of one report.
type triagedReport struct {
	ID      string          `json:"id"`
	Verdict string          `json:"verdict"`
	Gate    json.RawMessage `json:"gate"` // its number, or its name
	Of      string          `json:"of"`
	Reason  string          `json:"reason"`
}

// gate returns the gate that a report fails, or "" for what is none.
func (t triagedReport) gate() ledger.Gate {
	text := strings.ToLower(strings.Trim(strings.TrimSpace(string(t.Gate)), `"`))
	gates := ledger.Gates()
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(gates) {
		return gates[n-1]
	}
	if g := ledger.Gate(text); slices.Contains(gates, g) {
		return g
	}
	return ""
}

// ReadTriage returns the verdicts in the data of an accepted triage.verdict.
func ReadTriage(data json.RawMessage) (verdicts []ledger.ReportVerdict) {
	var list []triagedReport
	_ = json.Unmarshal(Field(data, "reports"), &list)
	for _, t := range list {
		v := ledger.ReportVerdict{Task: strings.TrimSpace(t.ID), Why: oneLine(t.Reason, maxReason)}
		if t.Verdict == verdictAside {
			v.Gate = t.gate()
		}
		if v.Gate == ledger.GateDuplicate {
			v.Of = strings.TrimSpace(t.Of)
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// oneLine returns a text in one line of at most that many characters.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return strings.TrimSpace(string(runes[:most-1])) + "…"
	}
	return text
}

// maxComplaints limits what a refusal says of an answer, so that an answer that is
// wrong throughout does not fill the ledger.
const maxComplaints = 5

// Complaints joins what is wrong with an answer to one refusal; "" for nothing.
func Complaints(list []string) string {
	if n := len(list) - maxComplaints; n > 0 {
		list = append(slices.Clip(list[:maxComplaints]), fmt.Sprintf("%d more like these", n))
	}
	return strings.Join(list, "; ")
}

// checkTriage refuses verdicts that are none. Whether each report has one is for the
// core, which knows the reports.
func checkTriage(data json.RawMessage) string {
	var list []triagedReport
	if err := json.Unmarshal(Field(data, "reports"), &list); err != nil {
		return `each of "reports" is an object with strings for id, verdict, of and reason, and a number for gate`
	}
	var wrong []string
	seen := map[string]bool{}
	for n, t := range list {
		name := fmt.Sprintf("report %q", t.ID)
		id := ledger.FoldID(t.ID)
		switch {
		case strings.TrimSpace(t.ID) == "":
			wrong = append(wrong, fmt.Sprintf(`number %d of "reports" has no id`, n+1))
		case seen[id]:
			wrong = append(wrong, name+" is there twice")
		case t.Verdict != verdictTake && t.Verdict != verdictAside:
			wrong = append(wrong, fmt.Sprintf("%s has the verdict %q; it is %s or %s", name, t.Verdict, verdictTake, verdictAside))
		case t.Verdict == verdictTake:
		case t.gate() == "":
			wrong = append(wrong, name+" is set aside without the number of a gate")
		case strings.TrimSpace(t.Reason) == "":
			wrong = append(wrong, name+" is set aside without a reason")
		case t.gate() == ledger.GateDuplicate && strings.TrimSpace(t.Of) == "":
			wrong = append(wrong, name+` is set aside as a duplicate; "of" names the report that stays`)
		}
		seen[id] = true
	}
	return Complaints(wrong)
}
