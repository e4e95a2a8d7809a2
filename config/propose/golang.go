package propose

// lookGo proposes to build and test the module, and to run the linter where the
// repository has a configuration for it.
func lookGo(f folder) (part, bool) {
	var p part
	switch {
	case f.has("go.mod"):
		p.verify = append(p.verify, f.command("go build ./...", "go.mod", false), f.command("go test ./...", "go.mod", false))
	case f.has("go.work"):
		// The pattern ./... matches nothing in a workspace whose top folder is
		// no module.
		const modules = `$(go list -f '{{.Dir}}/...' -m)`
		p.verify = append(p.verify, f.command("go build "+modules, "go.work", false), f.command("go test "+modules, "go.work", false))
	default:
		return part{}, false
	}
	if file := f.first(".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"); file != "" {
		p.verify = append(p.verify, f.command("golangci-lint run", file, false).code())
	}
	return p, true
}
