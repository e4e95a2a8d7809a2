package propose

import "strings"

// installs says how programs are installed that a command needs and that are not
// on PATH: a command, or a place that has one for each system.
var installs = map[string]string{
	"autoreconf":    "apt install autoconf automake libtool",
	"bun":           "npm install -g bun",
	"bundle":        "apt install ruby-bundler, or gem install bundler",
	"cargo":         "https://rustup.rs",
	"cc":            "apt install build-essential",
	"cmake":         "apt install cmake",
	"composer":      "apt install composer",
	"ctest":         "apt install cmake",
	"deno":          "npm install -g deno",
	"dotnet":        "https://dotnet.microsoft.com/download",
	"go":            "https://go.dev/dl",
	"golangci-lint": "https://golangci-lint.run/docs/welcome/install",
	"gradle":        "apt install gradle, or put a wrapper into the repository: gradle wrapper",
	"java":          "apt install default-jdk-headless",
	"make":          "apt install make",
	"meson":         "apt install meson",
	"mvn":           "apt install maven, or put a wrapper into the repository: mvn wrapper:wrapper",
	"mypy":          "pipx install mypy",
	"ninja":         "apt install ninja-build",
	"node":          "https://nodejs.org/en/download",
	"npm":           "https://nodejs.org/en/download",
	"npx":           "https://nodejs.org/en/download",
	"pdm":           "pipx install pdm",
	"php":           "apt install php-cli php-xml php-mbstring",
	"pnpm":          "npm install -g pnpm",
	"poetry":        "pipx install poetry",
	"pytest":        "pipx install pytest",
	"python3":       "apt install python3 python3-venv",
	"rake":          "apt install rake",
	"rspec":         "gem install rspec",
	"rubocop":       "gem install rubocop",
	"ruby":          "apt install ruby",
	"ruff":          "pipx install ruff",
	"swift":         "https://www.swift.org/install",
	"swiftlint":     "https://github.com/realm/SwiftLint",
	"uv":            "pipx install uv",
	"yarn":          "npm install -g yarn",
}

// missing says that none of some programs is on PATH, and how the first of them is
// installed: "mvn is not on PATH; to install it: apt install maven".
func missing(alternatives string) string {
	program, _, more := strings.Cut(alternatives, "|")
	text := program + " is not on PATH"
	if more {
		text = "none of " + strings.ReplaceAll(alternatives, "|", ", ") + " is on PATH"
	}
	if how := installs[program]; how != "" {
		text += "; to install it: " + how
	}
	return text
}
