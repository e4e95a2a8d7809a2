package jsonform

import "testing"

// TestEvaluations: each mode of wreck-it's evaluation has an effect.
func TestEvaluations(t *testing.T) {
	for evaluation, want := range map[string]struct {
		command  string
		verifier bool
	}{
		`{"mode":"command","command":"make rules"}`: {command: "make rules"},
		`{"mode":"command"}`:                        {},
		`{"mode":"semantic"}`:                       {verifier: true},
		`{"mode":"agent_file"}`:                     {verifier: true},
	} {
		s, err := Tasks{}.Parse("f.json", []byte(`[{"id":"1","description":"A","status":"pending","evaluation":`+evaluation+`}]`))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Tasks[0]; got.Evaluation != want.command || got.Verifier != want.verifier {
			t.Errorf("%s: command %q, verifier %v", evaluation, got.Evaluation, got.Verifier)
		}
	}
}
