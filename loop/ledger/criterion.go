package ledger

// CriterionVerdict says what became of an acceptance criterion.
type CriterionVerdict string

// Verdicts. Only CriterionHeld says that the criterion was tried and is true.
const (
	CriterionHeld    CriterionVerdict = "held"
	CriterionFailed  CriterionVerdict = "failed"
	CriterionUntried CriterionVerdict = "untried"  // the verdict does not name it
	CriterionLeftOut CriterionVerdict = "left_out" // a person said that it need not be tried
	CriterionDropped CriterionVerdict = "dropped"  // it was ruled that it counts no more
)

// CriterionResult is what a verifier's or tester's verdict says of one criterion.
type CriterionResult struct {
	Number    int              `json:"number,omitempty"` // in the list that the session was given, from 1; 0 = a check that the list does not have
	Criterion string           `json:"criterion"`        // as the list has it; of a check that it does not have, as the session wrote it
	Verdict   CriterionVerdict `json:"verdict"`
	How       string           `json:"how,omitempty"` // what was run and seen, in one line
	By        string           `json:"by,omitempty"`  // who said that it need not be tried
}
