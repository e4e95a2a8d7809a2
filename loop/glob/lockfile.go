package glob

// Lockfiles maps a package manager's lockfile to the manifests that it is
// derived from. A workspace's lockfile may lie above its manifests.
var Lockfiles = map[string][]string{
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
