package adapter

// Rows of agents whose names are taken. Each gets a file of its own when it is
// built. Their logins are hidden from sessions already: people have these
// programs today.
var (
	codex    = reserved("codex", ".codex")
	opencode = reserved("opencode", ".local/share/opencode")
	gemini   = reserved("gemini", ".gemini")
	qwen     = reserved("qwen", ".qwen")
	pi       = reserved("pi", ".pi/agent/auth.json")
	copilot  = reserved("copilot", ".copilot", ".config/github-copilot")
)

// reserved returns the row of an agent whose program has its name.
func reserved(name string, secrets ...string) Agent {
	return Agent{Name: name, Origin: FromPath, Reserved: true, Program: name, Secrets: secrets}
}
