//go:build e2e

package main_test

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/internal/fake/models"
)

// Texts that the people of these tests write.
const (
	wrapIt     = "Wrap the existing code, don't replace it"
	byLine     = "Refund by line, never the whole order"
	twoRefunds = `The plan says "refund the order" and "refund the line"`
)

// modelWork holds the model's work for each task: a file and its test.
var modelWork = map[string]struct{ file, text, test string }{
	"Task 1": {"lib/price.sh", `price() { printf '%d.%02d\n' $(($1 / 100)) $(($1 % 100)); }`, `[ "$(price 1205)" = 12.05 ]`},
	"Task 2": {"lib/sum.sh", `sum() { t=0; for n; do t=$((t + n)); done; echo $t; }`, `[ "$(sum 120 130)" = 250 ]`},
	"Task 3": {"lib/order.sh", `. lib/legacy.sh
order() { place "$2" "$1"; }`, `[ "$(order 2 tea)" = "order: 2 x tea" ]`},
	"Task 4": {"lib/refund.sh", `refund() { echo "refund of line $1"; }`, `[ "$(refund 3)" = "refund of line 3" ]`},
	"Task 5": {"lib/mail.sh", `mail() { echo "Your order $1"; }`, `[ "$(mail 7)" = "Your order 7" ]`},
}

// sixTasks is the model for the plan of six tasks: it returns the answer of
// each hat for each task. It depends on the prompt alone, so that a repeated
// session does the same. It includes typical mistakes: a first version that
// fails although it claims that tests pass (Task 1), a fault that only the
// reviewer finds (Task 2), and a task that needs a person's decision (Task 4).
func (e *nightFixture) sixTasks(r models.Request) models.Turn {
	hat := r.Hat()
	name := hat.Task + " " + hat.Name
	turns := append([]models.Turn{models.Use(e.noteSession())}, e.workOf(hat)...)
	turn := models.Say("Done.")
	if r.Step < len(turns) {
		turn = turns[r.Step]
	}
	if r.Step == 0 {
		turn.Before = e.gateFunc(name)
		if f := e.fault(name, r.Session); f != nil {
			turn.Fault = f
		}
	}
	return turn
}

// noteSession returns a tool call that records the session's id and variables
// in a file outside the work folder.
func (e *nightFixture) noteSession() models.Tool {
	return models.Bash(`echo "$HAT_SESSION $HAT_TASK $HAT_NAME" | tee -a ` + e.Path("notes", "sessions"))
}

// injectFaults makes the first turns of a hat's next sessions at a task fail,
// one session per fault. Each fault is created at the model's request, so that
// it can contain a time.
func (e *nightFixture) injectFaults(name string, faults ...func() models.Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults[name] = append(e.faults[name], faults...)
}

// fault returns the fault of a session. A repeated request of the session gets
// the same one.
func (e *nightFixture) fault(name, session string) *models.Fault {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f, is := e.struck[session]; is {
		return f
	}
	var f *models.Fault
	if next := e.faults[name]; len(next) > 0 {
		made := next[0]()
		f, e.faults[name] = &made, next[1:]
	}
	e.struck[session] = f
	return f
}

func (e *nightFixture) workOf(hat models.Hat) []models.Turn {
	b := modelWork[hat.Task]
	test := "tests/" + strings.TrimPrefix(b.file, "lib/")
	files := []string{b.file, test}
	write := func(text string) models.Turn {
		return models.Use(models.Bash(fmt.Sprintf("cat > %s <<'END'\n%s\nEND\ncat > %s <<'END'\n. %s\n%s\nEND", b.file, text, test, b.file, b.test)))
	}
	again := hat.Parts["Note well"] != "" || hat.Parts["Verification"] != ""
	switch hat.Name {
	case "planner":
		return []models.Turn{
			models.Use(models.Bash("cat lib/*.sh")),
			models.Use(hat.Emit(map[string]any{"summary": "One function, one test", "steps": []string{"Write " + b.file, "Write " + test}})),
		}
	case "builder":
		done := hat.Emit(map[string]any{"summary": "Wrote " + b.file + "; all tests pass", "files_modified": files})
		switch {
		case hat.Task == "Task 1" && !again:
			return []models.Turn{write(`price() { printf '%d.%d\n' $(($1 / 100)) $(($1 % 100)); }`), models.Use(done)}
		case hat.Task == "Task 2":
			return []models.Turn{write(`sum() { t=0; for n; do t=$((t + n / 10 * 10)); done; echo $t; }`), models.Use(models.Bash("sh ./test.sh")), models.Use(done)}
		case hat.Task == "Task 4" && !strings.Contains(prompt(hat), byLine):
			return []models.Turn{models.Use(models.Emit("task.blocked", map[string]any{
				"reason": twoRefunds + "; can't tell which.", "tried": "by line; by order", "needs": "which of the two",
			}))}
		}
		return []models.Turn{write(b.text), models.Use(models.Bash("sh ./test.sh")), models.Use(done)}
	case "reviewer":
		var issues []any
		if strings.Contains(hat.Parts["Changes so far"], "+sum() { t=0; for n; do t=$((t + n / 10 * 10))") {
			issues = append(issues, map[string]any{"severity": "major", "file": b.file, "line": 1, "rule": "rounding", "text": "cents are lost"})
		}
		if issues == nil {
			issues = []any{}
		}
		return []models.Turn{models.Use(models.Bash("sh ./test.sh")), models.Use(hat.Emit(map[string]any{"summary": "Read it all", "issues": issues}))}
	case "fixer":
		return []models.Turn{write(b.text), models.Use(hat.Emit(map[string]any{"summary": "No rounding any more", "files_modified": files, "resolved": []string{"rounding"}}))}
	}
	return nil
}

// prompt returns the complete text that the hat received.
func prompt(h models.Hat) string {
	var b strings.Builder
	for _, text := range h.Parts {
		b.WriteString(text + "\n")
	}
	return b.String()
}
