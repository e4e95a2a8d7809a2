package agents

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/loop/agent/adapter"
)

// Agent is a real program, connected to a scripted model by its own settings.
type Agent struct {
	Name      string
	Variable  string // environment variable with the program's path
	Origin    string // command that gets it and sets Variable
	Model     string // of a launch
	Effort    string // of a launch; "" where the program has none
	Priced    bool   // its stream has the cost, at the prices of Sonnet: $3 and $15 for a million tokens
	Uncounted bool   // its stream has no tokens
	Prepare   string // shell commands before it starts, "" for none
	Tool      func(command string) models.Tool
	Args      func(url string) []string // of the configured command; url is the model server's
	Env       func(url string) []string // lines of env_file
}

// Install makes the program callable by its name in the folder dir, which decides whose
// output it is. It returns the path, and "" where Variable is not set.
func (a Agent) Install(dir string) (path string, err error) {
	program := os.Getenv(a.Variable)
	if program == "" {
		return "", nil
	}
	path = filepath.Join(dir, a.Name)
	if a.Prepare == "" {
		return path, os.Symlink(program, path)
	}
	return path, os.WriteFile(path, []byte("#!/bin/sh\n"+a.Prepare+"\nexec '"+program+"' \"$@\"\n"), 0o755)
}

// Claude is Claude Code, which has tests of its own for everything but whole nights. Its
// login is a made-up token.
var Claude = Agent{
	Name: adapter.Claude, Variable: "NIGHTPORTER_CLAUDE",
	Origin: "make e2e", Model: "claude-sonnet-4-5", Priced: true,
	Tool: models.Bash,
	Args: func(string) []string { return nil },
	Env: func(url string) []string {
		return []string{"ANTHROPIC_BASE_URL=" + url, "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-made-up"}
	},
}

// Codex is Codex, with the Responses API of a provider of its own.
var Codex = Agent{
	Name: adapter.Codex, Variable: "NIGHTPORTER_CODEX",
	Origin: "make e2e", Model: "gpt-5-codex", Effort: "high",
	Tool: func(command string) models.Tool {
		return models.Tool{Name: "exec_command", Input: map[string]any{"cmd": command}}
	},
	Args: func(url string) []string {
		return []string{"-c", `model_provider="fake"`, "-c", fmt.Sprintf(`model_providers.fake={name="fake",base_url=%q,env_key="FAKE_API_KEY",wire_api="responses",request_max_retries=1,stream_max_retries=1}`, url+"/v1")}
	},
	Env: func(string) []string { return []string{"FAKE_API_KEY=dummy"} },
}

// Opencode is opencode, with the Messages API.
var Opencode = Agent{
	Name: adapter.Opencode, Variable: "NIGHTPORTER_OPENCODE",
	Origin: "make e2e", Model: "fake/fake-model", Effort: "high", Priced: true,
	Tool: shellTool("bash"),
	Args: func(string) []string { return nil },
	Env: func(url string) []string {
		return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", `OPENCODE_CONFIG_CONTENT={"provider":{"fake":{"npm":"@ai-sdk/anthropic","options":{"baseURL":"` + url + `/v1","apiKey":"dummy"},"models":{"fake-model":{"cost":{"input":3,"output":15,"cache_read":0.3,"cache_write":3.75},"limit":{"context":200000,"output":8000}}}}}}`}
	},
}

// All holds the agents without Claude, those of make e2e first.
var All = []Agent{
	Codex,
	Opencode,
	{
		Name: adapter.Gemini, Variable: "NIGHTPORTER_GEMINI",
		Origin: "make e2e-agents", Model: "gemini-2.5-flash",
		Tool: shellTool("run_shell_command"),
		Args: func(string) []string { return nil },
		Env: func(url string) []string {
			return []string{"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL=" + url}
		},
	},
	{
		Name: adapter.Qwen, Variable: "NIGHTPORTER_QWEN",
		Origin: "make e2e-agents", Model: "fake-model",
		Tool: shellTool("run_shell_command"),
		Args: func(string) []string { return nil },
		Env: func(url string) []string {
			return []string{"OPENAI_API_KEY=dummy", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=fake-model"}
		},
	},
	{
		Name: adapter.Copilot, Variable: "NIGHTPORTER_COPILOT",
		Origin: "make e2e-agents", Model: "fake-model", Effort: "high", Uncounted: true,
		Tool: shellTool("bash"),
		Args: func(string) []string { return nil },
		Env: func(url string) []string {
			return []string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_API_KEY=dummy"}
		},
	},
	{
		Name: adapter.Pi, Variable: "NIGHTPORTER_PI",
		Origin: "make e2e-agents", Model: "fake/fake-model", Effort: "high", Priced: true,
		Tool: shellTool("bash"),
		Args: func(string) []string { return nil },
		Env:  func(url string) []string { return []string{"OPENAI_API_KEY=dummy", "FAKE_URL=" + url} },
		Prepare: `mkdir -p ~/.pi/agent && cat >~/.pi/agent/models.json <<E
{"providers":{"fake":{"baseUrl":"$FAKE_URL/v1","api":"openai-completions","apiKey":"dummy","models":[{"id":"fake-model","name":"fake","reasoning":true,"input":["text"],"cost":{"input":3,"output":15,"cacheRead":0.3,"cacheWrite":3.75},"contextWindow":200000,"maxTokens":8000}]}}}
E`,
	},
}

// shellTool returns a shell command as a call of the tool with that name.
func shellTool(name string) func(command string) models.Tool {
	return func(command string) models.Tool {
		return models.Tool{Name: name, Input: map[string]any{"command": command, "description": "works"}}
	}
}
