package loop

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// TestClaimingBranches: which branches of a remote are work at a report.
func TestClaimingBranches(t *testing.T) {
	report := func(id string, status ledger.Status) TaskState {
		return TaskState{Task: ledger.Task{ID: id, Report: &ledger.Report{}}, Status: status}
	}
	asked := report("B9", ledger.Ready)
	asked.Asked = "mira"
	s := State{Project: Project{Name: "shop", Tasks: NewTaskList(
		report("B37", ledger.Ready), report("#12", ledger.Ready), report("cart-total", ledger.Ready), report("label", ledger.Ready), report("B4", ledger.Done), asked,
	)}}
	s.Project.Run = &Run{ID: "r3", Base: ledger.Base{Branch: "nightporter/shop/r3"}}
	s.Project.Requests.Branches = []request.Branch{{Name: "nightporter/shop/r2-b37-total"}}
	want := map[string][]string{
		"B37":        {"fix/B37", "nightporter/shop/r9-b37-total", "u/b37_wip"},
		"#12":        {"12-total-is-wrong", "copilot/fix-12-1", "feature/12-x", "issue-12", "nightporter/shop/r9-12-total"},
		"cart-total": {"nightporter/other/r1-cart-total-x"},
		"label":      {"nightporter/shop/r9-label-b"},
	}
	got := s.ClaimingBranches([]string{
		"main", "fix/B37", "u/b37_wip", "fix/B371", "B4", "fix/B9", "nightporter/shop/r2-b37-total", "nightporter/shop/r3", "nightporter/shop/r3-b37-total", "nightporter/shop/r9-b37-total",
		"12-total-is-wrong", "copilot/fix-12-1", "issue-12", "release-12", "12", "2024-12", "v1.12", "feature/12-x", "nightporter/shop/r9-12-total",
		"cart-total", "fix-label", "nightporter/other/r1-cart-total-x", "nightporter/shop/r9-label-b",
	})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
