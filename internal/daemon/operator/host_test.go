package operator_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestOffer checks that an offer contains the requested settings. An overnight
// offer also shows the limits of profile review.
func TestOffer(t *testing.T) {
	cfg := daemontest.Config(t, "manual")
	p, _ := daemontest.Open(t, cfg)
	repo := cfg.Projects[0].Repo
	if err := os.WriteFile(filepath.Join(repo, "plan.md"), []byte("- [x] **Task 1: One**\n- [ ] **Task 2: Two**\n- [ ] **Task 3: Three**\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := p.Operator.Host()
	for _, c := range []struct {
		flags         bot.RunFlags
		profile, from string
		tasks         int
		first         string
		review        *ledger.Limits
	}{
		{bot.RunFlags{}, "review", "", 2, "Task 2", nil},
		{bot.RunFlags{Profile: "review", From: "3"}, "review", "3", 1, "Task 3", nil},
		{bot.RunFlags{Only: "task 2"}, "review", "", 1, "Task 2", nil},
		{bot.RunFlags{Profile: "overnight"}, "overnight", "", 2, "Task 2", &ledger.Limits{Profile: "review", OnBlocked: ledger.OnBlockedStop, MaxTasks: 5, MaxIterations: 100}},
	} {
		o, err := h.Offer(t.Context(), "shop", c.flags)
		if err != nil {
			t.Fatal(err)
		}
		if o.Settings.Profile != c.profile || o.Settings.From != c.from || o.Tasks != c.tasks || o.First != c.first {
			t.Errorf("%+v: %s from %q, %d tasks, first %s", c.flags, o.Settings.Profile, o.Settings.From, o.Tasks, o.First)
		}
		if (o.Review == nil) != (c.review == nil) || o.Review != nil && *o.Review != *c.review {
			t.Errorf("%+v: as review %+v, want %+v", c.flags, o.Review, c.review)
		}
	}
	if _, err := h.Offer(t.Context(), "shop", bot.RunFlags{From: "70"}); err == nil {
		t.Error("a task that is not there is offered")
	}
	for _, plan := range []string{"- [x] **Task 1: One**\n- [ ] (blocked) **Task 2: Two**\n", "- [x] **Task 1: One**\n"} {
		if err := os.WriteFile(filepath.Join(repo, "plan.md"), []byte(plan), 0o600); err != nil {
			t.Fatal(err)
		}
		if o, err := h.Offer(t.Context(), "shop", bot.RunFlags{}); err != nil || !o.Idle {
			t.Errorf("%q: a run that can begin no task is offered: %+v, %v", plan, o, err)
		}
	}
}
