package workspace

import (
	"path"
	"slices"
	"strings"
)

// lockfiles maps a package manager's lockfile to the manifests that it is
// derived from. A workspace's lockfile may lie above its manifests.
var lockfiles = map[string][]string{
	"go.sum":                   {"go.mod"},
	"go.work.sum":              {"go.work", "go.mod"},
	"package-lock.json":        {"package.json"},
	"npm-shrinkwrap.json":      {"package.json"},
	"yarn.lock":                {"package.json"},
	"pnpm-lock.yaml":           {"package.json"},
	"bun.lock":                 {"package.json"},
	"bun.lockb":                {"package.json"},
	"deno.lock":                {"deno.json", "deno.jsonc", "package.json"},
	"Cargo.lock":               {"Cargo.toml"},
	"poetry.lock":              {"pyproject.toml"},
	"uv.lock":                  {"pyproject.toml"},
	"pdm.lock":                 {"pyproject.toml"},
	"Pipfile.lock":             {"Pipfile"},
	"Gemfile.lock":             {"Gemfile"},
	"composer.lock":            {"composer.json"},
	"mix.lock":                 {"mix.exs"},
	"pubspec.lock":             {"pubspec.yaml"},
	"flake.lock":               {"flake.nix"},
	"Package.resolved":         {"Package.swift"},
	"Podfile.lock":             {"Podfile"},
	"gradle.lockfile":          {"build.gradle", "build.gradle.kts"},
	"packages.lock.json":       {"*.csproj", "*.fsproj"},
	"conan.lock":               {"conanfile.py", "conanfile.txt"},
	"requirements.txt":         {"requirements.in", "pyproject.toml"},
	"vcpkg-configuration.json": {"vcpkg.json"},
}

// isSetupInput reports whether a change of the path requires the project's
// setup to run again: it is a lockfile or one of its manifests.
func isSetupInput(p string) bool {
	base := path.Base(p)
	if _, ok := lockfiles[base]; ok || isRequirements(p) {
		return true
	}
	for _, manifests := range lockfiles {
		if slices.ContainsFunc(manifests, func(m string) bool { return match(m, base) }) {
			return true
		}
	}
	return false
}

// isRequirements reports whether a path is one of pip's lists, by the usual names:
// requirements-dev.txt, test_requirements.txt, requirements/base.txt.
func isRequirements(p string) bool {
	dir, base := path.Split(p)
	return strings.HasSuffix(base, ".txt") && (strings.Contains(base, "requirements") || path.Base(dir) == "requirements")
}

// companion reports whether a path accompanies a writable one: a lockfile with
// a manifest in or below its folder, or a snapshot with its test. in reports
// whether a path is writable.
func (r *scope) companion(p string, in func(string) bool) bool {
	dir, base := path.Split(p)
	if manifests, ok := lockfiles[base]; ok {
		own := func(q string) bool {
			return strings.HasPrefix(q, dir) && slices.ContainsFunc(manifests, func(m string) bool { return match(m, path.Base(q)) }) && in(q)
		}
		if slices.ContainsFunc(r.files, own) {
			return true
		}
		// The manifest itself may be new.
		return slices.ContainsFunc(manifests, func(m string) bool { return !strings.Contains(m, "*") && own(dir+m) })
	}
	parent := path.Dir(strings.TrimSuffix(dir, "/"))
	folder := path.Base(strings.TrimSuffix(dir, "/"))
	switch {
	case folder == "__snapshots__" && path.Ext(base) == ".snap": // jest, vitest, bun
		return in(path.Join(parent, strings.TrimSuffix(base, ".snap")))
	case strings.HasSuffix(folder, "-snapshots"): // playwright
		return in(path.Join(parent, strings.TrimSuffix(folder, "-snapshots")))
	case folder == "snapshots" && path.Ext(base) == ".snap": // the Rust tool insta names a snapshot after the module, not after the file
		return slices.ContainsFunc(r.files, func(q string) bool { return path.Dir(q) == parent && path.Ext(q) == ".rs" && in(q) })
	}
	return false
}
