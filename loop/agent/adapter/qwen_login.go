package adapter

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Files of a stored login of Qwen Code: a key, the server that takes it and a model
// there. A key alone does not say whose it is.
const (
	qwenKey   = "key"
	qwenURL   = "url"
	qwenModel = "model"
)

// Server and model of a key of Alibaba Cloud's Model Studio.
const (
	modelStudio      = "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"
	modelStudioModel = "qwen3-coder-plus"
)

// qwenLogin describes the login of Qwen Code. Its accounts (Qwen OAuth) ended in
// April 2026, so a login is a key.
var qwenLogin = Login{
	Keys:      []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY"},
	Args:      func(args []string) bool { return hasOption(args, "--openai-api-key") },
	Vars:      map[string]string{qwenKey: "OPENAI_API_KEY", qwenURL: "OPENAI_BASE_URL", qwenModel: "OPENAI_MODEL"},
	Home:      map[string]string{}, // all of it are variables
	Renewed:   func([]byte, []byte) []byte { return nil },
	FromHome:  qwenFromHome,
	FromToken: qwenFromToken,
	Help: `  nightporter login qwen                           the key in your own settings of Qwen Code
  nightporter login qwen --token-file FILE         a key of Alibaba Cloud's Model Studio
  nightporter login qwen --remove                  forget it
`,
	Hint: `! The copy is the key alone, with its server and model. After a change of yours:
  nightporter login qwen
`,
}

// qwenConfig holds the fields of settings.json that a login is read from.
type qwenConfig struct {
	Env      map[string]string `json:"env"`
	Security struct {
		Auth struct {
			Type string `json:"selectedType"`
			Key  string `json:"apiKey"`
			URL  string `json:"baseUrl"`
		} `json:"auth"`
	} `json:"security"`
	Model struct {
		Name string `json:"name"`
	} `json:"model"`
	Providers map[string][]struct {
		ID     string `json:"id"`
		EnvKey string `json:"envKey"`
		URL    string `json:"baseUrl"`
	} `json:"modelProviders"`
}

// qwenFromHome reads the key that Qwen Code keeps in a person's settings.
func qwenFromHome(home string, _ time.Time) (files map[string][]byte, note string, err error) {
	path := filepath.Join(home, ".qwen", "settings.json")
	data, err := readLogin(path, "Qwen Code", home, qwenNone)
	if err != nil {
		return nil, "", err
	}
	var c qwenConfig
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, "", qwenNone(path + " is not readable as settings of Qwen Code: " + err.Error())
	}
	if auth := c.Security.Auth; auth.Type != "" && auth.Type != "openai" {
		return nil, "", qwenNone(path + " names a login of another kind: " + Clean(auth.Type, 40))
	}
	key, url, model := c.Security.Auth.Key, c.Security.Auth.URL, c.Model.Name
	for _, p := range c.Providers["openai"] {
		if found := c.Env[p.EnvKey]; found != "" && (model == "" || p.ID == model) {
			key, url, model = found, p.URL, p.ID
			break
		}
	}
	key, url, model = cmp.Or(key, c.Env["OPENAI_API_KEY"]), cmp.Or(url, c.Env["OPENAI_BASE_URL"]), cmp.Or(model, c.Env["OPENAI_MODEL"])
	if key == "" || url == "" || model == "" {
		return nil, "", qwenNone(path + " does not hold a key with its server and model")
	}
	for _, part := range []string{key, url, model} {
		if len(strings.Fields(part)) != 1 || len(part) > 4096 {
			return nil, "", qwenNone(path + " holds a key, server or model that is not one word")
		}
	}
	return map[string][]byte{qwenKey: []byte(key + "\n"), qwenURL: []byte(url + "\n"), qwenModel: []byte(model + "\n")}, "the key of " + path + " for " + Clean(url, 200), nil
}

func qwenNone(text string) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
		Text:   text,
		Remedy: "put a key of Model Studio into a file, then `nightporter login qwen --token-file FILE`; or name OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL in env_file of [agents.qwen]",
	}}}
}

// qwenFromToken makes a login from a key of Model Studio.
func qwenFromToken(text []byte) (files map[string][]byte, note string, err error) {
	fields := strings.Fields(string(text))
	bad := func(what string) error {
		return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text:   what,
			Remedy: "put a key of Alibaba Cloud's Model Studio into a file, and name it with --token-file; a key of another server goes into env_file of [agents.qwen], with OPENAI_BASE_URL and OPENAI_MODEL",
		}}}
	}
	switch {
	case len(fields) == 0:
		return nil, "", bad("the key is empty")
	case len(fields) > 1 || len(fields[0]) > 4096:
		return nil, "", bad("this is not one key")
	case !strings.HasPrefix(fields[0], "sk-"), strings.HasPrefix(fields[0], "sk-ant-"), strings.HasPrefix(fields[0], "sk-or-"), strings.HasPrefix(fields[0], "sk-proj-"):
		return nil, "", bad("this is no key of Model Studio")
	}
	return map[string][]byte{qwenKey: []byte(fields[0] + "\n"), qwenURL: []byte(modelStudio + "\n"), qwenModel: []byte(modelStudioModel + "\n")},
		"a key of Model Studio, for " + modelStudio, nil
}
