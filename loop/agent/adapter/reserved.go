package adapter

// Rows of agents with reserved names. Each moves to a file of its own when it
// is built. Sessions must not see their logins even now, because people have
// these programs installed.
var (
	gemini  = reserved("gemini", ".gemini")
	qwen    = reserved("qwen", ".qwen")
	pi      = reserved("pi", ".pi/agent/auth.json")
	copilot = reserved("copilot", ".copilot", ".config/github-copilot")
)

// reserved returns the row of an agent whose program has the agent's name.
func reserved(name string, secrets ...string) Agent {
	return Agent{Name: name, Origin: FromPath, Reserved: true, Program: name, Secrets: secrets}
}
