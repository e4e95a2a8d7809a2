package proof

import (
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// taskFiles are the files of programs that run tasks. All of such a file
// proves: what one task runs depends on too much of it.
var taskFiles = map[string][]string{
	"just": {"justfile", "Justfile", ".justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml"},
	"tox": {"tox.ini"}, "nox": {"noxfile.py"}, "rake": {"Rakefile", "rakefile", "Rakefile.rb"}, "grunt": {"Gruntfile.js", "Gruntfile.cjs"},
	"gulp": {"gulpfile.js", "gulpfile.mjs", "gulpfile.cjs"}, "invoke": {"tasks.py", "invoke.yaml"}, "inv": {"tasks.py", "invoke.yaml"},
	"pre-commit": {".pre-commit-config.yaml"}, "ctest": {"CTestTestfile.cmake", "CTestCustom.cmake"}, "earthly": {"Earthfile"}, "dagger": {"dagger.json"}, "tilt": {"Tiltfile"},
	"bazel": {".bazelrc"}, "meson": {"meson.build"},
}

var taskLine = regexp.MustCompile(`^\s*-\s*(?:cmd:\s*|run:\s*|task:\s*)?(.+)$`)

// taskFile follows the commands of a task file, as far as its lines are
// commands.
func (f *finder) taskFile(base string, args []string, pl place) {
	if pl.outside {
		return
	}
	if base == "act" {
		for _, e := range f.below(".github/workflows") {
			f.whole(e.Path, KindScript, f.enter(e.Path, pl))
		}
		return
	}
	names := taskFiles[base]
	if v, ok := option(args, "-f", "--justfile", "--taskfile", "-c", "--file"); ok {
		names = []string{v}
	}
	found := false
	for _, n := range names {
		p, ok := pl.resolve(n)
		if !ok || !f.has(p) {
			continue
		}
		found = true
		at := f.enter("task file of "+pl.dir, pl)
		at.via = base
		if base == "tox" {
			f.part(p, KindScript, at, iniRunner...)
		} else {
			f.whole(p, KindScript, at)
		}
		at = at.unsure()
		at.via, at.name = p, p
		text, _ := f.text(p)
		f.taskLines(base, string(text), at)
	}
	if !found {
		f.need("task file of "+pl.dir, pl)
	}
}

func (f *finder) taskLines(base, text string, pl place) {
	text = strings.NewReplacer("{toxinidir}", ".", "{posargs}", "", "\\\n", " ").Replace(text)
	commands := false
	for _, line := range strings.Split(text, "\n") {
		indented := strings.TrimLeft(line, " \t") != line
		t := strings.TrimSpace(line)
		switch base {
		case "just":
			if indented && t != "" {
				if t = strings.TrimLeft(t, "@-"); !strings.Contains(t, "{{") {
					f.shellLine(t, pl)
				}
			}
		case "tox":
			key, value, ok := strings.Cut(t, "=")
			if !indented && ok {
				commands = strings.HasPrefix(strings.TrimSpace(key), "commands")
				t = value
			} else if !indented {
				commands = false
			}
			if commands {
				f.shellLine(strings.TrimLeft(strings.TrimSpace(t), "-! "), pl)
			}
		case "task", "pre-commit":
			if m := taskLine.FindStringSubmatch(line); m != nil {
				f.shellLine(strings.Trim(m[1], `"'`), pl)
			}
		default:
			f.named(pl.script, t, pl)
		}
	}
}

// shellLine follows a line that is probably a command: one that is none is not
// reported.
func (f *finder) shellLine(line string, pl place) {
	if _, ok := parseShell(line); ok {
		f.shell(line, pl.child())
	}
}

// projectScript follows scripts of pyproject.toml that hatch, pdm and pixi run
// by name.
func (f *finder) projectScript(base, name string, pl place) {
	p, ok := pl.resolve("pyproject.toml")
	if !ok || !f.has(p) {
		return
	}
	pl.via = base
	f.part(p, KindScript, f.enter(p, pl), "tool."+base)
	text, _ := f.text(p)
	doc, ok := decodeTOML(text)
	if !ok {
		return
	}
	_, name, _ = strings.Cut(":"+name, ":")
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	var search func(v any, depth int)
	search = func(v any, depth int) {
		m, ok := v.(map[string]any)
		if !ok || depth > 8 {
			return
		}
		for k, in := range m {
			if k == name {
				switch in := in.(type) {
				case string:
					f.shellLine(in, pl.unsure())
				case []any:
					for _, s := range in {
						if s, ok := s.(string); ok {
							f.shellLine(s, pl.unsure())
						}
					}
				}
			}
			search(in, depth+1)
		}
	}
	tool, _ := doc["tool"].(map[string]any)
	search(tool[base], 0)
}
