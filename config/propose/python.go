package propose

import (
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/nightporter/nightporter/internal/regexp"
)

// pyTool is a program that verifies Python, with the places where a repository
// can configure it.
type pyTool struct {
	name  string
	run   string
	code  bool // run only after changes of code
	files []string
	table string // of [tool] in pyproject.toml
	setup string // section of setup.cfg or tox.ini
}

// pyTools are in the order in which they run: the fast checks before the tests.
var pyTools = []pyTool{
	{"mypy", "mypy .", false, []string{"mypy.ini", ".mypy.ini"}, "mypy", "[mypy]"},
	{"ruff", "ruff check .", true, []string{"ruff.toml", ".ruff.toml"}, "ruff", ""},
	{"pytest", "pytest", false, []string{"pytest.ini", "conftest.py", "tests/conftest.py"}, "pytest", "pytest]"},
}

// lookPython proposes the tools that the repository configures or depends on.
func lookPython(f folder) (part, bool) {
	manifest := f.first("pyproject.toml", "requirements.txt", "setup.py", "setup.cfg")
	if manifest == "" {
		return part{}, false
	}
	var p part
	text := f.read("pyproject.toml")
	var project struct {
		Tool map[string]any `toml:"tool"`
	}
	if err := toml.Unmarshal([]byte(text), &project); err != nil {
		p.notes = append(p.notes, f.name("pyproject.toml")+" is not TOML, so no command was taken from it")
		text = ""
	}
	lists := []string{"requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "requirements/dev.txt", "requirements-test.txt"}
	depends := text
	for _, list := range append(lists, "setup.py", "setup.cfg") {
		depends += "\n" + f.read(list)
	}
	env := f.environment(lists, text)
	p.setup = env.setup
	for _, t := range pyTools {
		mentioned := regexp.MustCompile(`(?m)(?:^|["'\s])` + t.name + `(?:[\s"'\[<>=~!;,]|$)`).MatchString(depends)
		why := f.first(t.files...)
		_, inTool := project.Tool[t.table]
		switch ini := f.read("setup.cfg") + f.read("tox.ini"); {
		case why != "":
		case inTool:
			why = "pyproject.toml"
		case t.setup != "" && strings.Contains(ini, t.setup):
			why = f.first("setup.cfg", "tox.ini")
		case mentioned:
			why = manifest
		default:
			continue
		}
		prefix, own := env.prefix, env.own
		if own && !env.all && !mentioned { // setup would not install it
			prefix, own = "", false
		}
		c := f.command(prefix+t.run, why, own)
		if t.code {
			c = c.code()
		}
		p.verify = append(p.verify, c)
	}
	return p, true
}

// pyEnvironment describes where the repository's Python packages are installed.
type pyEnvironment struct {
	setup  []Command
	prefix string // written before a tool's name
	own    bool   // setup installs the programs, so they need not be on PATH
	all    bool   // contains all locked packages, also those that the top-level files do not mention
}

func (f folder) environment(lists []string, pyproject string) pyEnvironment {
	for _, m := range []struct{ lock, program, install string }{
		{"uv.lock", "uv", "uv sync"}, {"poetry.lock", "poetry", "poetry install"}, {"pdm.lock", "pdm", "pdm install"},
	} {
		switch {
		case !f.has(m.lock):
		case f.onPath(m.program) || !f.onPath("python3"):
			// Only the package manager itself has to be on PATH.
			return pyEnvironment{setup: []Command{f.command(m.install, m.lock, false)}, prefix: m.program + " run ", all: true}
		default:
			return f.managerInVenv(m.program, m.install, m.lock)
		}
	}
	var install []Command
	const pip = ".venv/bin/pip install --quiet "
	for _, list := range lists {
		if f.has(list) {
			install = append(install, f.command(pip+"-r "+list, list, true))
		}
	}
	if len(install) == 0 && strings.Contains(pyproject, "[build-system]") {
		install = append(install, f.command(pip+"-e .", "pyproject.toml", true))
	}
	if len(install) == 0 {
		return pyEnvironment{}
	}
	venv := f.command("python3 -m venv .venv", "a place for packages", false)
	venv.Why = "a place for the packages"
	setup := append([]Command{venv}, install...)
	if f.ignores(".venv") && venv.Off == "" {
		return pyEnvironment{setup: setup, prefix: ".venv/bin/", own: true}
	}
	for i := range setup {
		setup[i] = setup[i].off(venvVisible)
	}
	return pyEnvironment{setup: setup}
}

const venvVisible = "put .venv into .gitignore first, else it looks like work"

// managerInVenv returns an environment whose package manager is not on PATH: it is
// installed into an environment of its own within that of the packages, so that
// neither changes the other's packages.
func (f folder) managerInVenv(program, install, lock string) pyEnvironment {
	venv := f.command("python3 -m venv .venv", lock, false)
	tool := f.command("python3 -m venv .venv/"+program, lock, false)
	venv.Why, tool.Why = "a place for the packages", "a place for "+program+", which is not on PATH"
	env := pyEnvironment{
		setup: []Command{
			venv, tool,
			f.command(".venv/"+program+"/bin/pip install --quiet "+program, lock, true),
			f.command(".venv/"+program+"/bin/"+install, lock, true),
		},
		prefix: ".venv/bin/", own: true, all: true,
	}
	if !f.ignores(".venv") {
		for i := range env.setup {
			env.setup[i] = env.setup[i].off(missing(program) + "; or " + venvVisible)
		}
		return pyEnvironment{setup: env.setup}
	}
	return env
}
