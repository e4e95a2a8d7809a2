package propose

import (
	"encoding/json"
	"strings"
)

var denoFiles = []string{"deno.json", "deno.jsonc"}

// lookDeno proposes the tasks of deno.json that check, lint and test, and deno's
// own commands where there is no such task.
func lookDeno(f folder) (part, bool) {
	file := f.first(denoFiles...)
	if file == "" {
		return part{}, false
	}
	var p part
	var m struct {
		Tasks map[string]json.RawMessage `json:"tasks"`
		Lint  json.RawMessage            `json:"lint"`
	}
	if err := json.Unmarshal([]byte(plainJSON(f.read(file))), &m); err != nil {
		p.notes = append(p.notes, f.name(file)+" cannot be read ("+jsonProblem(err)+"), so no task was taken from it")
	}
	deno := "deno"
	if !f.onPath("deno") && f.onPath("npx") {
		deno = "npx --yes deno"
		p.notes = append(p.notes, "deno is not on PATH: npx fetches and runs it")
	}
	if f.has("deno.lock") {
		p.setup = append(p.setup, f.command(deno+" install --frozen", "deno.lock", false))
	}
	for _, c := range []struct {
		task, own string
		always    bool
		code      bool
	}{
		{task: "check"}, {task: "lint", own: "lint", always: m.Lint != nil, code: true}, {task: "test", own: "test --allow-all", always: true},
	} {
		var command Command
		switch text := string(m.Tasks[c.task]); {
		case text != "":
			command = f.command(deno+" task "+c.task, file, false)
			command.Why += ", task " + c.task
			if strings.Contains(text, "--watch") {
				command = command.off("it watches files and does not end")
			}
			if strings.Contains(text, "--fix") {
				command = command.off("it changes files: name one that only looks")
			}
		case c.always:
			command = f.command(deno+" "+c.own, file, false)
		default:
			continue
		}
		if c.code {
			command = command.code()
		}
		p.verify = append(p.verify, command)
	}
	return p, true
}

// plainJSON replaces by spaces what JSONC has besides JSON: comments, and commas
// behind a last element.
func plainJSON(text string) string {
	s := []byte(text)
	comma := -1 // a comma with nothing but space and comments behind it
	for i := 0; i < len(s); i++ {
		end := i
		switch rest := text[i:]; {
		case s[i] == '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			comma = -1
			continue
		case strings.HasPrefix(rest, "//"):
			end = i + len(rest)
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				end = i + n
			}
		case strings.HasPrefix(rest, "/*"):
			end = i + len(rest)
			if n := strings.Index(rest[2:], "*/"); n >= 0 {
				end = i + n + 4
			}
		case s[i] == ',':
			comma = i
		case (s[i] == '}' || s[i] == ']') && comma >= 0:
			s[comma], comma = ' ', -1
		case s[i] > ' ':
			comma = -1
		}
		if end > i {
			copy(s[i:end], strings.Repeat(" ", end-i))
			i = end - 1
		}
	}
	return string(s)
}
