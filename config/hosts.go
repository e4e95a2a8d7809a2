package config

import "path/filepath"

// HostsAsOf is the day on which the tables of this file were compared with what the
// vendors document. Hosts change: a session that lacks one asks for it.
const HostsAsOf = "2026-11-26"

// agentHosts are the hosts that agents need to work with their vendor's models, by
// the name of the program: the models, and renewing a login. Hosts of telemetry and
// updates are left out.
var agentHosts = map[string][]string{
	"claude":   {"api.anthropic.com", "claude.ai", "platform.claude.com", "console.anthropic.com"},
	"codex":    {"api.openai.com", "chatgpt.com", "auth.openai.com"},
	"opencode": {"opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com", "openrouter.ai"},
	"gemini":   {"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"},
	"qwen":     {"dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "coding.dashscope.aliyuncs.com", "coding-intl.dashscope.aliyuncs.com", "chat.qwen.ai", "portal.qwen.ai"},
	"pi":       {"api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "openrouter.ai"},
	"copilot":  {"api.github.com", "api.githubcopilot.com", "api.individual.githubcopilot.com", "api.business.githubcopilot.com", "api.enterprise.githubcopilot.com"},
}

// knownHosts returns the hosts of an agent by its name, or by its program's.
func knownHosts(name string, command []string) []string {
	if len(command) > 0 {
		if hosts, ok := agentHosts[filepath.Base(command[0])]; ok {
			return hosts
		}
	}
	return agentHosts[name]
}

// Manager is a package manager, or several that share their registry.
type Manager struct {
	Name     string
	Hosts    []string // serve files; nothing is published at them
	ReadOnly []string // take packages, too; sessions only read from them (egress.ReadOnlyVars)

	files []string // globs of files that show its use
}

// managers has every package manager whose registry is known. Hosts that store what
// anybody sends, such as a forge, are in none of them: a session asks for those.
var managers = []Manager{
	{"npm", nil, []string{"registry.npmjs.org", "registry.yarnpkg.com"}, []string{"package.json"}},
	{"Go", []string{"proxy.golang.org", "sum.golang.org"}, nil, []string{"go.mod", "go.work"}},
	{"PyPI", []string{"pypi.org", "files.pythonhosted.org"}, nil, []string{"pyproject.toml", "requirements*.txt", "setup.py", "Pipfile"}},
	{"Cargo", []string{"index.crates.io", "static.crates.io"}, nil, []string{"Cargo.toml"}},
	{"RubyGems", []string{"index.rubygems.org"}, []string{"rubygems.org"}, []string{"Gemfile", "*.gemspec"}},
	{"Maven", []string{"repo.maven.apache.org", "repo1.maven.org"}, nil, []string{"pom.xml", "build.gradle", "build.gradle.kts", "build.sbt"}},
	{"Gradle", []string{"services.gradle.org", "downloads.gradle.org", "plugins.gradle.org", "plugins-artifacts.gradle.org"}, nil, []string{"build.gradle", "build.gradle.kts", "gradlew"}},
	{"NuGet", []string{"api.nuget.org", "globalcdn.nuget.org"}, nil, []string{"*.csproj", "*.fsproj", "*.sln"}},
	{"Composer", []string{"repo.packagist.org", "codeload.github.com"}, nil, []string{"composer.json"}},
	{"Deno", []string{"deno.land", "jsr.io", "npm.jsr.io"}, []string{"registry.npmjs.org"}, []string{"deno.json", "deno.jsonc"}},
	{"Swift", []string{"codeload.github.com"}, nil, []string{"Package.swift"}},
	{"Hex", []string{"repo.hex.pm", "builds.hex.pm"}, nil, []string{"mix.exs", "rebar.config"}},
}
