package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// piAccounts is the file of a stored login of pi with accounts, which the program
// renews, and keys. A login made from a key has a file named after the variable for it.
const piAccounts = "auth.json"

// piKeys are the variables of providers' keys, by what the keys begin with; the longer
// beginnings come first.
var piKeys = []struct{ prefix, variable, provider string }{
	{"sk-ant-oat", "ANTHROPIC_OAUTH_TOKEN", "Anthropic"},
	{"sk-ant-", "ANTHROPIC_API_KEY", "Anthropic"},
	{"sk-or-", "OPENROUTER_API_KEY", "OpenRouter"},
	{"sk-", "OPENAI_API_KEY", "OpenAI"},
	{"AIza", "GEMINI_API_KEY", "Google"},
	{"gsk_", "GROQ_API_KEY", "Groq"},
	{"xai-", "XAI_API_KEY", "xAI"},
}

// piLogin describes the login of pi, which holds those of any number of providers.
var piLogin = Login{
	Keys: append(piVariables(), "AZURE_OPENAI_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY", "CEREBRAS_API_KEY", "ZAI_API_KEY",
		"AI_GATEWAY_API_KEY", "COPILOT_GITHUB_TOKEN", "PI_CODING_AGENT_DIR"),
	Args:      func(args []string) bool { return hasOption(args, "--api-key") },
	Vars:      piFiles(),
	Home:      map[string]string{piAccounts: filepath.Join(".pi", "agent", "auth.json")},
	Renewed:   piRenewed,
	FromHome:  piFromHome,
	FromToken: piFromToken,
	Help: `  nightporter login pi                             your own logins of pi
  nightporter login pi --token-file FILE           a key of Anthropic, OpenAI, Google, OpenRouter, Groq or xAI
  nightporter login pi --remove                    forget it
`,
	Hint: `! A copied account and your own are one, and a session that renews the one may
  log out the other. Sessions with the copy run one at a time. A key of an API has
  neither problem: nightporter login pi --token-file FILE
`,
}

func piVariables() []string {
	var names []string
	for _, k := range piKeys {
		names = append(names, k.variable)
	}
	return names
}

// piFiles returns the stored files of keys: each has the name of its variable.
func piFiles() map[string]string {
	files := map[string]string{}
	for _, k := range piKeys {
		files[k.variable] = k.variable
	}
	return files
}

// piRenewed returns the logins with the accounts that a session renewed, nil for none.
// The file has the form of opencode's.
func piRenewed(began, left []byte) []byte { return opencodeRenewed(began, left) }

// piFromHome reads the logins that pi keeps in a person's home.
func piFromHome(home string, _ time.Time) (files map[string][]byte, note string, err error) {
	path := filepath.Join(home, ".pi", "agent", "auth.json")
	data, err := readLogin(path, "pi", home, piNone)
	if err != nil {
		return nil, "", err
	}
	_, providers, err := parseOpencodeLogin(data)
	if err != nil {
		return nil, "", piNone(path + " is not a login of pi: " + err.Error())
	}
	if len(providers) == 0 {
		return nil, "", piNone(path + " holds no login")
	}
	var names []string
	for name := range providers {
		names = append(names, Clean(name, 40))
	}
	slices.Sort(names)
	var kept bytes.Buffer
	if err := json.Compact(&kept, data); err != nil {
		return nil, "", fmt.Errorf("login: %w", err)
	}
	return map[string][]byte{piAccounts: kept.Bytes()}, "the logins of " + path + " (" + strings.Join(names, ", ") + ")", nil
}

func piNone(text string) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
		Text:   text,
		Remedy: "run `pi` and /login there; or put a key of your provider into a file, then `nightporter login pi --token-file FILE`",
	}}}
}

// piFromToken makes a login from a provider's key, which is known by its beginning.
func piFromToken(text []byte) (files map[string][]byte, note string, err error) {
	fields := strings.Fields(string(text))
	if len(fields) == 1 && len(fields[0]) <= 4096 {
		for _, k := range piKeys {
			if strings.HasPrefix(fields[0], k.prefix) {
				return map[string][]byte{k.variable: []byte(fields[0] + "\n")}, "a key of " + k.provider, nil
			}
		}
	}
	return nil, "", &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
		Text:   "this is not one key of a provider that is known by its beginning",
		Remedy: "name the key in env_file of [agents.pi], in the variable that pi has for it",
	}}}
}
