//go:build e2e

package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/models"
)

// teamFiles are what each member of the team writes first: the back end answers with a
// field that the front end does not know.
var teamFiles = map[string][2]string{
	"web": {"web/client.mjs", "export const page = async (at) => 'Hello, ' + (await (await fetch(at + '/greet')).json()).greeting;\n"},
	"api": {"api/server.mjs", "import http from 'node:http';\nexport const server = http.createServer((q, s) => s.end(JSON.stringify({ message: 'Mira' })));\n"},
	"ops": {"ops/start.mjs", "import { server } from '../api/server.mjs';\nimport { page } from '../web/client.mjs';\n" +
		"server.listen(0, '127.0.0.1', async () => {\n  console.log(await page('http://127.0.0.1:' + server.address().port));\n  server.close();\n});\n"},
}

// TestTeam: a lead divides a feature among front end, back end and infrastructure, and
// three real Claude Codes build them, each with files of its own. A tester starts the
// whole and sees that two do not agree; the one at fault mends its section, the other one
// disputes what nobody asked for, and an arbiter drops that. The task becomes one commit.
func TestTeam(t *testing.T) {
	t.Parallel()
	const start, greets, dark = "node ops/start.mjs", "The start prints: Hello, Mira", "The page is dark"
	var mu sync.Mutex
	prompts := map[string]string{}
	tested := 0
	e := newNightFixture(t, nightOptions{script: func(_ *nightFixture, r models.Request) models.Turn {
		hat := r.Hat()
		_, part, _ := strings.Cut(hat.Task, "/")
		mu.Lock()
		defer mu.Unlock()
		if r.Step == 0 {
			prompts[strings.TrimSpace(hat.Name+" "+part)] = hat.Parts["Task"] + hat.Parts["Plan"] + hat.Parts["Issues"]
		}
		check := func(criterion string, ok bool, section string) map[string]any {
			return map[string]any{"criterion": criterion, "ok": ok, "how": "ran " + start, "section": section}
		}
		var turns []models.Turn
		switch hat.Name {
		case "lead":
			var sections []map[string]any
			for _, id := range []string{"web", "api", "ops"} {
				sections = append(sections, map[string]any{
					"id": id, "title": "The " + id, "tasks": []string{"it is there"}, "files": []string{id + "/**"}, "steps": []string{"write it"}, "depends_on": []string{},
				})
			}
			turns = []models.Turn{models.Use(hat.Emit(map[string]any{
				"summary": "Three pieces", "sections": sections, "requirements": []string{"GET /greet answers {greeting}"}, "acceptance": []string{greets},
			}))}
		case "builder":
			f := teamFiles[part]
			turns = []models.Turn{
				models.Use(models.Bash("mkdir -p " + part + " && printf '%s' '" + strings.ReplaceAll(f[1], "'", `'\''`) + "' >" + f[0])),
				models.Use(hat.Emit(map[string]any{"summary": "Wrote " + f[0], "files_modified": []string{f[0]}})),
			}
		case "tester":
			if r.Step == 0 {
				tested++
				turns = []models.Turn{models.Use(models.Bash(start))}
				break
			}
			ok := slices.ContainsFunc(r.Results(), func(p models.Part) bool { return strings.Contains(p.Text, "Hello, Mira") })
			end := models.Emit("verification.failed", map[string]any{"checks": []any{check(greets, ok, "api"), check(dark, false, "web")}})
			turns = []models.Turn{{}, models.Use(end)}
		case "fixer":
			if strings.HasPrefix(part, "web") {
				turns = []models.Turn{models.Use(hat.Emit(map[string]any{
					"summary": "Left it", "files_modified": []string{}, "resolved": []string{}, "no_change": "nobody asked for it",
					"disputed": []any{map[string]any{"issue": dark, "reason": "nobody asked for it"}},
				}))}
				break
			}
			turns = []models.Turn{
				models.Use(models.Bash("sed -i 's/message:/greeting:/' api/server.mjs && " + start)),
				models.Use(hat.Emit(map[string]any{"summary": "The field is greeting", "files_modified": []string{"api/server.mjs"}, "resolved": []string{greets}})),
			}
		case "arbiter":
			turns = []models.Turn{models.Use(models.Emit("ruling.dismissed", map[string]any{
				"summary": "Not asked for", "rulings": []any{map[string]any{"criterion": dark, "holds": false, "reason": "neither task nor plan asks for it"}},
			}))}
		case "reviewer":
			turns = []models.Turn{models.Use(hat.Emit(map[string]any{"summary": "Fine", "issues": []any{}}))}
		}
		if r.Step >= len(turns) {
			return models.Say("Done.")
		}
		return turns[r.Step]
	}})
	e.noError(os.WriteFile(filepath.Join(e.Path("repo"), "greet.md"), []byte("- [ ] **Task 1: A greeting across the house**\n  - Scope: `web/`, `api/`, `ops/`\n  - Acceptance: "+greets+"\n"), 0o644))
	p, err := e.Start(e.Env(), "run", "--pattern", "team", "--parallel", "3", "--source", "plan:greet.md", "--profile", "overnight")
	e.noError(err)
	t.Cleanup(p.Kill)
	code, err := p.Wait()
	e.noError(err)
	t.Logf("$ nightporter run --pattern team --parallel 3 --source plan:greet.md\n%s", p.Out)
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	if got := e.git("log", "--format=%s", "main..nightporter/shop/r1"); strings.TrimSpace(got) != "feat: Task 1 - A greeting across the house" {
		t.Errorf("commits: %q", got)
	}
	if got := e.git("show", "nightporter/shop/r1:api/server.mjs"); !strings.Contains(got, "greeting:") {
		t.Errorf("the back end is as it was:\n%s", got)
	}
	if tested != 2 {
		t.Errorf("tested %d times, want before and after the fix", tested)
	}
	for _, c := range []struct{ session, has string }{
		{"builder web", "GET /greet answers {greeting}"}, {"fixer api.2", greets}, {"fixer web.2", dark},
		{"tester", "nobody asked for it"}, {"arbiter", "Rule on each"}, {"reviewer", "counts no more: " + dark},
	} {
		if !strings.Contains(prompts[c.session], c.has) {
			t.Errorf("the prompt of %s does not have %q:\n%s", c.session, c.has, prompts[c.session])
		}
	}
	t.Logf("$ nightporter hats draw team\n%s\n$ nightporter log\n%s", e.runCommand("hats", "draw", "team"), e.runCommand("log"))
	if out := e.runCommand("verify"); !strings.Contains(out, "ledger whole") {
		t.Errorf("verify: %s", out)
	}
}
