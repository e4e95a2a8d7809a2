package ledger

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
)

// TestExitCodes checks that each reason for the end of a run has an exit code.
func TestExitCodes(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "entry_run.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Reason" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		found++
		if _, ok := exitCodes[Reason(text)]; !ok {
			t.Errorf("%s has no exit code", spec.Names[0].Name)
		}
		return true
	})
	if found == 0 || found != len(exitCodes) {
		t.Errorf("%d reasons found, %d exit codes", found, len(exitCodes))
	}
}

// TestExitCode checks the ends whose exit code is not that of their reason.
func TestExitCode(t *testing.T) {
	ok, red := true, false
	for name, c := range map[string]struct {
		end  RunEnded
		want int
	}{
		"done":                     {RunEnded{Reason: ReasonDone, FinalOK: &ok}, 0},
		"done, red tip":            {RunEnded{Reason: ReasonDone, FinalOK: &red}, 1},
		"done, something exempt":   {RunEnded{Reason: ReasonDone, FinalOK: &ok, Exempt: []Exemption{{Run: "go test"}}}, 1},
		"done, committed under it": {RunEnded{Reason: ReasonDone, FinalOK: &ok, Exempted: []string{"Task 1"}}, 1},
		"done, red since r1":       {RunEnded{Reason: ReasonDone, RedTip: &RedTip{Run: "r1"}}, 1},
		"done, tip not verified":   {RunEnded{Reason: ReasonDone, FinalCut: true}, ExitLimit},
		"done, not all pushed":     {RunEnded{Reason: ReasonDone, FinalOK: &ok, Unpushed: []string{"b1"}}, ExitLimit},
		"blocked, not verified":    {RunEnded{Reason: ReasonBlocked, FinalCut: true}, 1},
		"limit, red tip":           {RunEnded{Reason: ReasonUntil, FinalOK: &red}, ExitLimit},
		"stopped by a person":      {RunEnded{Reason: ReasonStopped}, ExitLimit},
		"stopped by a signal":      {RunEnded{Reason: ReasonStopped, Signal: "SIGTERM"}, 143},
		"stopped by Ctrl-C, red":   {RunEnded{Reason: ReasonStopped, Signal: "SIGINT", FinalOK: &red}, 130},
		"stopped by other signals": {RunEnded{Reason: ReasonStopped, Signal: "SIGHUP"}, ExitLimit},
	} {
		if got := c.end.ExitCode(); got != c.want {
			t.Errorf("%s: exit code %d, want %d", name, got, c.want)
		}
	}
}
