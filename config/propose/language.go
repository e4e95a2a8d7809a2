package propose

import (
	"slices"

	"github.com/nightporter/nightporter/internal/regexp"
)

// language is one of the languages that init knows (docs/spec 16).
type language struct {
	name      string
	manifests []string // names and patterns of the files that show it
	// look returns the commands for a folder. It reports false for a folder
	// without that language.
	look func(folder) (part, bool)
	// parts are the ways in which a folder says that its commands run the parts in
	// its subfolders too.
	parts []parts
}

// parts is a file with a form: where a folder has such a file, its commands run
// the parts below it too.
type parts struct {
	files []string
	form  *regexp.Regexp // nil = whatever is in the file
}

func (p parts) in(f folder) bool {
	return slices.ContainsFunc(p.files, func(name string) bool {
		file := f.first(name)
		return file != "" && (p.form == nil || p.form.MatchString(f.read(file)))
	})
}

// languages are in the order of their commands. A folder may have several.
var languages = []language{
	{
		name: "Go", manifests: []string{"go.mod", "go.work"}, look: lookGo,
		parts: []parts{{files: []string{"go.work"}}},
	},
	{
		name: "Node", manifests: []string{"package.json"}, look: lookNode,
		parts: []parts{{files: []string{"package.json"}, form: regexp.MustCompile(`"workspaces"\s*:`)}, {files: []string{"pnpm-workspace.yaml", "lerna.json", "nx.json", "turbo.json", "rush.json"}}},
	},
	{
		name: "Deno", manifests: denoFiles, look: lookDeno,
		parts: []parts{{files: denoFiles, form: regexp.MustCompile(`"workspace"\s*:`)}},
	},
	{
		name: "Python", manifests: []string{"pyproject.toml", "requirements.txt", "setup.py", "setup.cfg"}, look: lookPython,
		parts: []parts{{files: []string{"pyproject.toml"}, form: regexp.MustCompile(`(?m)^\[tool\.uv\.workspace\]`)}},
	},
	{
		name: "Rust", manifests: []string{"Cargo.toml"}, look: lookRust,
		parts: []parts{{files: []string{"Cargo.toml"}, form: regexp.MustCompile(`(?m)^\[workspace\]`)}},
	},
	{
		name: "Java", manifests: slices.Concat(gradleFiles, []string{"pom.xml"}), look: lookJava,
		parts: []parts{
			{files: []string{"settings.gradle", "settings.gradle.kts"}, form: regexp.MustCompile(`\b(?:include|includeBuild)\b`)},
			{files: []string{"pom.xml"}, form: regexp.MustCompile(`<module>`)},
		},
	},
	{
		name: ".NET", manifests: slices.Concat(solutionFiles, projectFiles), look: lookDotnet,
		parts: []parts{{files: solutionFiles}},
	},
	{name: "PHP", manifests: []string{"composer.json"}, look: lookPHP},
	{name: "Ruby", manifests: rubyFiles, look: lookRuby},
	{name: "Swift", manifests: []string{"Package.swift"}, look: lookSwift},
	{
		name: "C/C++", manifests: []string{"CMakeLists.txt", "meson.build", "configure.ac", "configure.in"}, look: lookNative,
		parts: []parts{
			{files: []string{"CMakeLists.txt"}, form: regexp.MustCompile(`(?i)\badd_subdirectory\s*\(`)},
			{files: []string{"meson.build"}, form: regexp.MustCompile(`\bsubdir\s*\(`)},
			{files: []string{"configure.ac", "configure.in"}},
		},
	},
}
