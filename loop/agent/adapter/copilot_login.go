package adapter

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// copilotToken is the only file of a stored login of Copilot CLI.
const copilotToken = "token"

// copilotLogin describes the login of Copilot CLI, which is a token that it does not
// renew.
var copilotLogin = Login{
	Keys:      []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"},
	Args:      NoLoginArgs,
	Vars:      map[string]string{copilotToken: "COPILOT_GITHUB_TOKEN"},
	Home:      map[string]string{}, // the token is a variable
	Renewed:   func([]byte, []byte) []byte { return nil },
	FromHome:  copilotFromHome,
	FromToken: copilotFromToken,
	Help: `  nightporter login copilot                        your own login of Copilot CLI
  nightporter login copilot --token-file FILE      a GitHub token that may use Copilot
  nightporter login copilot --remove               forget it
`,
	Hint: `! The copy can do at GitHub what your own login can. A fine-grained token with the
  permission "Copilot Requests" alone can do less: --token-file FILE
`,
}

// copilotFromHome reads the token that Copilot CLI keeps in a person's home, where
// there is no keychain.
func copilotFromHome(home string, _ time.Time) (files map[string][]byte, note string, err error) {
	path := filepath.Join(home, ".copilot", "config.json")
	data, err := readLogin(path, "Copilot CLI", home, copilotNone)
	if err != nil {
		return nil, "", err
	}
	var config struct {
		Tokens map[string]string `json:"copilotTokens"`
		Old    map[string]string `json:"copilot_tokens"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return nil, "", copilotNone(path + " is not a configuration of Copilot CLI: " + err.Error())
	}
	for _, tokens := range []map[string]string{config.Tokens, config.Old} {
		for _, account := range slices.Sorted(maps.Keys(tokens)) {
			if token := strings.TrimSpace(tokens[account]); token != "" && len(strings.Fields(token)) == 1 {
				return map[string][]byte{copilotToken: []byte(token + "\n")}, "the account " + Clean(account, 80) + " of " + path, nil
			}
		}
	}
	return nil, "", copilotNone(path + " holds no token")
}

func copilotNone(text string) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
		Text:   text,
		Remedy: "put a fine-grained token of GitHub with the permission \"Copilot Requests\" into a file, then `nightporter login copilot --token-file FILE` (most machines keep the login of `copilot login` in a keychain)",
	}}}
}

// copilotFromToken makes a login from a GitHub token; note names the kind.
func copilotFromToken(text []byte) (files map[string][]byte, note string, err error) {
	fields := strings.Fields(string(text))
	bad := func(what string) error {
		return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: what, Remedy: "put a fine-grained token of GitHub with the permission \"Copilot Requests\" into a file, and name it with --token-file"}}}
	}
	switch {
	case len(fields) == 0:
		return nil, "", bad("the token is empty")
	case len(fields) > 1 || len(fields[0]) > 4096:
		return nil, "", bad("this is not one token")
	case strings.HasPrefix(fields[0], "ghp_"):
		return nil, "", bad("Copilot CLI takes no classic token (ghp_…)")
	case !strings.HasPrefix(fields[0], "github_pat_") && !strings.HasPrefix(fields[0], "gho_") && !strings.HasPrefix(fields[0], "ghu_"):
		return nil, "", bad("this is no token of GitHub that may use Copilot: those begin with github_pat_, gho_ or ghu_")
	}
	return map[string][]byte{copilotToken: []byte(fields[0] + "\n")}, "a token of GitHub", nil
}
