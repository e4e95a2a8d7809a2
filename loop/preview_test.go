package loop

import "testing"

func TestPreviewRefuses(t *testing.T) {
	d := playing(t, "go quiet")
	for _, c := range []struct{ task, hat, want string }{
		{"Task 7", "builder", `shop has no task "Task 7"; it has Task 1, Task 2`},
		{"Task 1", "bulder", `there is no hat "bulder"; there are arbiter, architect, builder, critic, drafter, evaluator, fixer, ideas, planner, refactorer, reproducer, reviewer, triager, verifier, writer`},
	} {
		if _, _, err := Preview(d.s, c.task, c.hat); err == nil || err.Error() != c.want {
			t.Errorf("%s %s: %v, want %s", c.task, c.hat, err, c.want)
		}
	}
	if _, _, err := Preview(State{}, "Task 1", ""); err == nil {
		t.Error("there is a prompt without a run")
	}
}
