package propose

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

var rubyFiles = []string{"Gemfile", "Rakefile", "*.gemspec", ".rspec"}

var (
	rakeTest    = regexp.MustCompile(`(?m)^\s*(?:(?:Rake|Minitest)::TestTask\b|task\s*\(?[:"']?test\b)|rails/all|load_tasks`)
	rakeDefault = regexp.MustCompile(`(?m)^\s*task\s*\(?(?::default|default:|["']default["'])`)
	// rubyGem matches a line of a Gemfile or gemspec, or of Gemfile.lock.
	rubyGem = regexp.MustCompile(`(?m)(?:^|[{;])\s*(?:(?:gem|\w+\.add_(?:development_)?dependency)\b\s*\(?\s*["'](\w[\w-]*)["']|(\w[\w-]*) \([\d.]+\)$)`)
)

// bundlePath has the gems in the work folder: sessions have a new HOME each, and
// cannot write the gems of the system.
const bundlePath = "BUNDLE_PATH=vendor/bundle "

// lookRuby proposes to install the bundle, and rubocop, rspec or the tests of the
// Rakefile.
func lookRuby(f folder) (part, bool) {
	file := f.first(rubyFiles...)
	if file == "" {
		return part{}, false
	}
	var p part
	depends := map[string]bool{}
	for _, m := range rubyGem.FindAllStringSubmatch(f.read("Gemfile")+"\n"+f.read("Gemfile.lock")+"\n"+f.read(f.first("*.gemspec")), -1) {
		depends[m[1]+m[2]] = true
	}
	depends["rspec"] = depends["rspec"] || depends["rspec-rails"] || depends["rspec-core"]
	exec := ""
	if f.has("Gemfile") {
		exec = "bundle exec "
		install := f.command(bundlePath+"bundle install", "Gemfile", false, "ruby")
		made := []string{"vendor/bundle"}
		if f.has("Gemfile.lock") && !f.ignores("Gemfile.lock") {
			install = f.command(bundlePath+"BUNDLE_FROZEN=true bundle install", "Gemfile.lock", false, "ruby")
		} else {
			install.Why += "; there is no Gemfile.lock, so each night may get other versions"
			made = append(made, "Gemfile.lock")
		}
		if f.ignores("vendor/bundle") {
			exec = bundlePath + exec
		}
		if made = slices.DeleteFunc(made, f.ignores); len(made) > 0 {
			install = install.off("put " + strings.Join(made, " and ") + " into .gitignore first, else it looks like work")
		}
		p.setup = append(p.setup, install)
	}
	add := func(run, gem, why string, code bool) {
		c := f.command(exec+run, why, false, "ruby")
		if exec != "" && !depends[gem] { // bundle exec knows no others
			c = c.off("the Gemfile does not name " + gem)
		}
		if code {
			c = c.code()
		}
		p.verify = append(p.verify, c)
	}
	if f.has("sorbet/config") {
		add("srb tc", "sorbet", "sorbet/config", false)
	}
	switch {
	case f.has(".rubocop.yml"):
		add("rubocop", "rubocop", ".rubocop.yml", true)
	case depends["standard"]:
		add("standardrb", "standard", f.first("Gemfile", "*.gemspec"), true)
	}
	rake := f.read("Rakefile")
	specs := f.first(".rspec", "spec/spec_helper.rb", "spec/rails_helper.rb")
	tests := f.hasFolder("test")
	if specs != "" {
		add("rspec", "rspec", specs, false)
	}
	switch {
	case f.has("bin/rails") && tests:
		add("bin/rails test", "rails", "bin/rails", false)
		if !f.has("db/schema.rb", "db/structure.sql") {
			break
		}
		p.notes = append(p.notes, "tests of "+f.name("bin/rails")+" may need a database: sessions reach one on this machine, and verify_env_file can name it")
	case tests && rakeTest.MatchString(rake):
		add("rake test", "rake", "Rakefile", false)
	case specs == "" && rakeDefault.MatchString(rake):
		add("rake", "rake", "Rakefile", false)
	}
	return p, true
}
