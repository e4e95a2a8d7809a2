package markdown

import (
	"path"
	"strings"
)

// Beside implements form.Companions: the documents that tools write beside a list of
// tasks, as patterns relative to the repository, in the order in which they are read.
func (Any) Beside(file string) []string {
	dir, base := path.Split(path.Clean(strings.ReplaceAll(file, `\`, "/")))
	name := strings.TrimSuffix(base, path.Ext(base))
	var found []string
	add := func(names ...string) {
		for _, n := range names {
			found = append(found, dir+n)
		}
	}
	switch strings.ToLower(strings.TrimPrefix(name, "@")) {
	case "tasks": // spec-kit, Kiro, OpenSpec
		add("requirements.md", "bugfix.md", "proposal.md", "spec.md", "design.md", "plan.md", "research.md", "data-model.md", "quickstart.md",
			"contracts/*", "specs/*/spec.md")
	case "fix_plan", "implementation_plan":
		add("specs/*.md")
	case "roadmap": // GSD
		add("PROJECT.md", "REQUIREMENTS.md")
	default: // superpowers: a plan and its design in folders side by side
		if parent, ok := strings.CutSuffix(dir, "plans/"); ok {
			found = append(found, parent+"specs/"+name+"-design.md", parent+"specs/"+name+".md")
		}
	}
	return found
}
