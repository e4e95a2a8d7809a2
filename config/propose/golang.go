package propose

// lookGo proposes what seed 001 names for Go, and the linter where the
// repository has a configuration for it.
func lookGo(f folder) (part, bool) {
	var p part
	switch {
	case f.has("go.mod"):
		p.verify = append(p.verify, f.command("go build ./...", "go.mod", false), f.command("go test ./...", "go.mod", false))
	case f.has("go.work"):
		// In a workspace without a module at its top, ./... means nothing.
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
