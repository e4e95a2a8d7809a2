//go:build e2e

package main_test

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/internal/fake/models"
)

// What the people of the night say, word for word.
const (
	wrapIt     = "Wrap the existing code, don't replace it"
	byLine     = "Refund by line, never the whole order"
	twoRefunds = `The plan says "refund the order" and "refund the line"`
)

// built is what the model writes for each task: a file and its test.
var built = map[string]struct{ file, text, test string }{
	"Task 1": {"lib/price.sh", `price() { printf '%d.%02d\n' $(($1 / 100)) $(($1 % 100)); }`, `[ "$(price 1205)" = 12.05 ]`},
	"Task 2": {"lib/sum.sh", `sum() { t=0; for n; do t=$((t + n)); done; echo $t; }`, `[ "$(sum 120 130)" = 250 ]`},
	"Task 3": {"lib/order.sh", `. lib/legacy.sh
order() { place "$2" "$1"; }`, `[ "$(order 2 tea)" = "order: 2 x tea" ]`},
	"Task 4": {"lib/refund.sh", `refund() { echo "refund of line $1"; }`, `[ "$(refund 3)" = "refund of line 3" ]`},
	"Task 5": {"lib/mail.sh", `mail() { echo "Your order $1"; }`, `[ "$(mail 7)" = "Your order 7" ]`},
}

// sixTasks is the model that works through the plan: it answers what each hat
// of each task would. What it does depends on the prompt alone, so that a
// session that is done over does the same. On its way it makes the mistakes
// that a night has: a first tree that is red though it says that tests pass
// (Task 1), a fault that only the reviewer sees (Task 2), a task that it
// cannot do without a person's word (Task 4).
func (e *e2eFixture) sixTasks(r models.Request) models.Turn {
	hat := r.Hat()
	name := hat.Task + " " + hat.Name
	turns := append([]models.Turn{models.Use(e.note())}, e.work(hat)...)
	turn := models.Say("Done.")
	if r.Step < len(turns) {
		turn = turns[r.Step]
	}
	if r.Step == 0 {
		turn.Before = e.before(name)
		if f := e.fault(name, r.Session); f != nil {
			turn.Fault = f
		}
	}
	return turn
}

// note leaves a line about the session beside its work folder: which it is,
// and of which process it had its variables.
func (e *e2eFixture) note() models.Tool {
	return models.Bash(`echo "$HAT_SESSION $HAT_TASK $HAT_NAME" | tee -a ` + e.Path("notes", "sessions"))
}

// strike makes the first turn of a hat's next sessions at a task go wrong, one
// session for each fault: each is made when the model is asked, so that it can
// name a time.
func (e *e2eFixture) strike(name string, faults ...func() models.Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults[name] = append(e.faults[name], faults...)
}

// fault is what goes wrong in a session: the same whenever it asks again.
func (e *e2eFixture) fault(name, session string) *models.Fault {
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

func (e *e2eFixture) work(hat models.Hat) []models.Turn {
	b := built[hat.Task]
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

// prompt is all that the hat was told.
func prompt(h models.Hat) string {
	var b strings.Builder
	for _, text := range h.Parts {
		b.WriteString(text + "\n")
	}
	return b.String()
}
