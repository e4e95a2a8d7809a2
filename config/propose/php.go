package propose

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// phpRole is what a command of a PHP project proves: the scripts of composer.json
// that do it, and else the tools.
type phpRole struct {
	scripts []string
	code    bool // run only after changes of code
	tools   []phpTool
}

// phpTool is a program that composer installs.
type phpTool struct {
	run   string
	files []string // its configuration
	pack  string   // the package that has it
}

// phpRoles are in the order in which they run: the fast checks before the tests.
var phpRoles = []phpRole{
	{
		scripts: []string{"check", "analyse", "analyze", "phpstan", "stan", "psalm", "static-analysis", "types"},
		tools: []phpTool{
			{"vendor/bin/phpstan analyse --no-progress", []string{"phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"}, "phpstan/phpstan"},
			{"vendor/bin/psalm --no-progress", []string{"psalm.xml", "psalm.xml.dist"}, "vimeo/psalm"},
		},
	},
	{
		scripts: []string{"lint", "cs", "phpcs", "check-style", "cs-check", "cs:check", "style"}, code: true,
		tools: []phpTool{
			{"vendor/bin/phpcs -q", []string{"phpcs.xml", "phpcs.xml.dist", ".phpcs.xml", ".phpcs.xml.dist"}, "squizlabs/php_codesniffer"},
			{"vendor/bin/php-cs-fixer fix --dry-run", []string{".php-cs-fixer.php", ".php-cs-fixer.dist.php"}, "friendsofphp/php-cs-fixer"},
			{"vendor/bin/pint --test", []string{"pint.json"}, "laravel/pint"},
		},
	},
	{
		scripts: []string{"test", "tests", "phpunit", "pest"},
		tools: []phpTool{
			{"vendor/bin/pest", []string{"tests/Pest.php"}, "pestphp/pest"},
			{"vendor/bin/phpunit", []string{"phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"}, "phpunit/phpunit"},
		},
	},
}

// phpFixers are programs that change files, with the option by which they only
// look.
var phpFixers = [][2]string{{"phpcbf", ""}, {"php-cs-fixer fix", "--dry-run"}, {"rector process", "--dry-run"}, {"pint", "--test"}}

// lookPHP proposes to install composer's packages, and the scripts or tools that
// check and test.
func lookPHP(f folder) (part, bool) {
	const file = "composer.json"
	if !f.has(file) {
		return part{}, false
	}
	var p part
	var m struct {
		Scripts map[string]json.RawMessage `json:"scripts"`
		Require map[string]json.RawMessage `json:"require"`
		Dev     map[string]json.RawMessage `json:"require-dev"`
	}
	if err := json.Unmarshal([]byte(f.read(file)), &m); err != nil {
		p.notes = append(p.notes, fmt.Sprintf("%s cannot be read (%s), so no command was taken from it", f.name(file), jsonProblem(err)))
		return p, true
	}
	composer := "composer"
	if f.has("composer.phar") {
		composer = "php composer.phar"
	}
	if len(m.Require)+len(m.Dev) > 0 {
		install, made := f.command(composer+" install --no-interaction --no-progress", file, false, "php"), []string{"vendor"}
		if f.has("composer.lock") && !f.ignores("composer.lock") {
			install.Why = f.name("composer.lock")
		} else {
			install.Why += "; there is no composer.lock, so each night may get other versions"
			made = append(made, "composer.lock")
		}
		install = f.fills(install, made...)
		p.setup = append(p.setup, install)
		if made = slices.DeleteFunc(made, f.ignores); len(made) > 0 {
			p.notes = append(p.notes, "setup makes "+strings.Join(made, ", ")+": put that into "+f.name(".gitignore")+", else it would look like work")
		}
	}
	for _, role := range phpRoles {
		c, ok := f.phpScript(composer, role, m.Scripts)
		if !ok {
			c, ok = f.phpTool(composer, role, func(pack string) bool { return m.Require[pack] != nil || m.Dev[pack] != nil })
		}
		if !ok {
			continue
		}
		if role.code {
			c = c.code()
		}
		p.verify = append(p.verify, c)
	}
	return p, true
}

func (f folder) phpScript(composer string, role phpRole, scripts map[string]json.RawMessage) (Command, bool) {
	i := slices.IndexFunc(role.scripts, func(name string) bool { return len(scripts[name]) > 0 })
	if i < 0 {
		return Command{}, false
	}
	name := role.scripts[i]
	// run-script, because a script may have the name of a command of composer.
	c := f.command(composer+" run-script "+name, "composer.json", false, "php")
	c.Why += ", script " + name
	for _, fixer := range phpFixers {
		if text := string(scripts[name]); strings.Contains(text, fixer[0]) && (fixer[1] == "" || !strings.Contains(text, fixer[1])) {
			c = c.off("it changes files: name one that only looks")
		}
	}
	return c, true
}

func (f folder) phpTool(composer string, role phpRole, depends func(pack string) bool) (Command, bool) {
	for _, t := range role.tools {
		if !depends(t.pack) {
			continue
		}
		why := f.first(t.files...)
		if why == "" {
			why = "composer.json"
		}
		needs := []string{"php"}
		if composer == "composer" { // setup has it install the tool
			needs = append(needs, composer)
		}
		return f.command(t.run, why, true, needs...), true
	}
	return Command{}, false
}
