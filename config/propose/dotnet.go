package propose

import (
	"slices"
	"strings"
)

var (
	solutionFiles = []string{"*.sln", "*.slnx"}
	projectFiles  = []string{"*.csproj", "*.fsproj", "*.vbproj"}
)

// lookDotnet proposes to restore the packages, and to build and test the solution,
// or the project of a folder without one.
func lookDotnet(f folder) (part, bool) {
	var files []string
	for _, patterns := range [][]string{solutionFiles, projectFiles} {
		for _, p := range patterns {
			files = append(files, f.all(p)...)
		}
		if len(files) > 0 {
			break
		}
	}
	if len(files) == 0 {
		return part{}, false
	}
	p := part{makes: []string{"bin", "obj"}}
	// dotnet refuses to choose among several files.
	of, file := "", files[0]
	if len(files) > 1 {
		i := slices.IndexFunc(files, plain)
		if i < 0 {
			p.notes = append(p.notes, "several solutions or projects, with names that a shell would change; no command was taken from them")
			return p, true
		}
		file = files[i]
		of = " " + file
		p.notes = append(p.notes, "left out besides "+f.name(file)+": "+strings.Join(slices.Delete(files, i, i+1), ", "))
	}
	if f.has(".config/dotnet-tools.json") {
		p.setup = append(p.setup, f.command("dotnet tool restore", ".config/dotnet-tools.json", false))
	}
	restore := f.command("dotnet restore"+of, file, false)
	if f.has("packages.lock.json") {
		restore = f.command("dotnet restore"+of+" --locked-mode", "packages.lock.json", false)
	}
	p.setup = append(p.setup, f.fills(restore, "obj"))
	p.verify = append(p.verify, f.command("dotnet test"+of, file, false))
	p.verify[0].Why += "; builds it first"
	return p, true
}
