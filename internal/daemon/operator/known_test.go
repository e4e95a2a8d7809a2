package operator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/daemon/operator"
)

// TestKnownBeforeRun checks that /tasks, /status, /digest and /projects know the source
// before any run, that they follow its changes, and that they say why it cannot be read.
// A run is offered only where it could begin something.
func TestKnownBeforeRun(t *testing.T) {
	cfg := daemontest.Config(t, "manual")
	plan := filepath.Join(cfg.Projects[0].Repo, "plan.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("- [x] **Task 1: One**\n- [ ] **Task 2: Two**\n- [ ] **Task 3: Three**\n  - Depends on: Task 2\n")
	p, _ := daemontest.Open(t, cfg)
	go p.Readings.Run(t.Context(), p.Changes.Next)
	host, n := p.Operator.Host(), 0
	type view struct{ text, buttons string }
	ask := func(line string) view {
		t.Helper()
		n++
		m := chatAnswer(t, host, line, n)
		var buttons []string
		for _, b := range m.Buttons {
			buttons = append(buttons, b.Command)
		}
		return view{m.Text(0), strings.Join(buttons, " · ")}
	}
	until := func(line, want string) view {
		t.Helper()
		late := time.After(daemontest.Patience)
		for {
			rung := p.Changes.Next()
			got := ask(line)
			if strings.Contains(got.text, want) {
				return got
			}
			select {
			case <-rung:
			case <-late:
				t.Fatalf("%s never says %q:\n%s", line, want, got.text)
			}
		}
	}
	until("/tasks", "shop tasks · 1/3 done")
	for line, want := range map[string]string{
		"/tasks": "○ #3 Three, waits for #2", "/status": "shop idle · 1/3", "/digest": "One of three tasks is done.", "/projects": "idle, no run yet · 1/3",
	} {
		if got := ask(line); !strings.Contains(got.text, want) {
			t.Errorf("%s does not say %q:\n%s", line, want, got.text)
		}
	}
	for _, line := range []string{"/status", "/digest", "/resume"} {
		if got := ask(line); !strings.Contains(got.buttons, "/run shop") {
			t.Errorf("%s offers no run: %s\n%s", line, got.buttons, got.text)
		}
	}
	r, err := p.Operator.View(t.Context(), api.View{Name: "status", Project: "shop"})
	if err != nil || !strings.Contains(r.Text, "idle · 1/3") || !strings.Contains(string(r.Data), `"done":1,"total":3`) {
		t.Errorf("nightporter status: %s %s, %v", r.Text, r.Data, err)
	}
	if s, _ := p.Engine.State("shop"); s.Project.Run != nil || s.Project.Tasks.Len() > 0 {
		t.Errorf("looks have made entries: %+v", s.Project)
	}

	write("- [x] **Task 1: One**\n- [x] **Task 2: Two**\n- [ ] **Task 3: Three**\n  - Depends on: Task 2\n- [ ] **Task 4: Four**\n")
	until("/tasks", "· 2/4 done")
	write("- [x] **Task 1: One**\n- [ ] (blocked) **Task 2: Two**\n")
	until("/tasks", "#2 Two, blocked")
	for _, line := range []string{"/status", "/digest", "/resume", "/run"} {
		if got := ask(line); strings.Contains(got.buttons, "/run") {
			t.Errorf("%s offers a run that could begin nothing: %s\n%s", line, got.buttons, got.text)
		}
	}
	write("- [ ] **Task 1: One**\n  - Depends on: Task 7\n")
	until("/status", "The plan cannot be read as it is:")
	for _, line := range []string{"/status", "/tasks"} {
		if got := ask(line); !strings.Contains(got.text, "Task 7") {
			t.Errorf("%s does not say why:\n%s", line, got.text)
		}
	}
	if got := strings.Join(p.Projects.WarningsOf("shop"), "\n"); !strings.Contains(got, "Task 7") {
		t.Errorf("nightporter status does not say why: %q", got)
	}
	write("- [ ] **Task 1: One**\n")
	until("/tasks", "· 0/1 done")
	if got := ask("/status"); strings.Contains(got.text, "cannot be read") || len(p.Projects.WarningsOf("shop")) > 0 {
		t.Errorf("mended:\n%s\n%q", got.text, p.Projects.WarningsOf("shop"))
	}
}

// chatAnswer is what a person's line is answered with in a chat.
func chatAnswer(t *testing.T, host operator.Host, line string, n int) bot.Message {
	t.Helper()
	m, err := bot.Handle(t.Context(), host, bot.Request{Key: fmt.Sprintf("tg:%d", n), Actor: daemontest.Admin, Name: "Mira", Project: "shop", Text: line, Time: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
