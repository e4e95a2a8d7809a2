package propose

// lookSwift proposes to fetch the packages that the lock file names, and to build
// and test.
func lookSwift(f folder) (part, bool) {
	const file = "Package.swift"
	if !f.has(file) {
		return part{}, false
	}
	p := part{makes: []string{".build"}}
	if f.has("Package.resolved") {
		p.setup = append(p.setup, f.fills(f.command("swift package resolve", "Package.resolved", false), ".build"))
	}
	p.verify = append(p.verify, f.command("swift build", file, false))
	if lint := f.first(".swiftlint.yml", ".swiftlint.yaml"); lint != "" {
		p.verify = append(p.verify, f.command("swiftlint lint --quiet", lint, false).code())
	}
	if f.hasFolder("Tests") {
		p.verify = append(p.verify, f.command("swift test", "Tests", false))
	}
	return p, true
}
