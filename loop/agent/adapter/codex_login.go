package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Files of a stored login of Codex. A login has one of them.
const (
	codexAccount = "auth.json" // a ChatGPT account's tokens, which the program renews
	codexKey     = "key"       // a key of the API
)

// codexLogin describes the login of Codex. The program reads OPENAI_API_KEY only
// at its own login, so that variable is none of Keys.
var codexLogin = Login{
	Keys:      []string{"CODEX_API_KEY", "CODEX_ACCESS_TOKEN"},
	Args:      codexOwnModels,
	Vars:      map[string]string{codexKey: "CODEX_API_KEY"},
	Home:      map[string]string{codexAccount: filepath.Join(".codex", "auth.json")},
	Renewed:   codexRenewed,
	FromHome:  codexFromHome,
	FromToken: codexFromToken,
	Help: `  nightporter login codex                          your own login of Codex
  nightporter login codex --token-file FILE        a key of OpenAI's API
  nightporter login codex --remove                 forget it
`,
	Hint: `! The copy and your own login belong to one account, and a session that renews
  the one may log out the other. If that happens, log in once more for the
  sessions alone: CODEX_HOME=/a/home/.codex codex login, then
  nightporter login codex --from /a/home
`,
}

// codexAuth holds the parts of auth.json that are copied.
type codexAuth struct {
	Mode      string          `json:"auth_mode,omitempty"`
	Key       *string         `json:"OPENAI_API_KEY"`
	Tokens    json.RawMessage `json:"tokens,omitempty"`
	Refreshed time.Time       `json:"last_refresh,omitzero"`
}

// codexTokens holds the tokens that are read.
type codexTokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// parseCodexLogin reads an auth.json.
func parseCodexLogin(data []byte) (codexAuth, codexTokens, error) {
	var auth codexAuth
	var tokens codexTokens
	if err := json.Unmarshal(data, &auth); err != nil {
		return auth, tokens, err
	}
	if len(auth.Tokens) == 0 || string(auth.Tokens) == "null" {
		return auth, tokens, nil
	}
	return auth, tokens, json.Unmarshal(auth.Tokens, &tokens)
}

// codexRenewed returns the login that a session left if it is newer than the one
// it began with, else nil.
func codexRenewed(began, left []byte) []byte {
	old, _, err := parseCodexLogin(began)
	if err != nil {
		return nil
	}
	auth, tokens, err := parseCodexLogin(left)
	if err != nil || tokens.Access == "" || tokens.Refresh == "" || !auth.Refreshed.After(old.Refreshed) || auth.Refreshed.After(time.Now().Add(time.Hour)) || bytes.Equal(left, began) {
		return nil
	}
	auth.Key = nil
	data, err := json.Marshal(auth)
	if err != nil {
		return nil
	}
	return data
}

// codexFromHome reads the login that Codex keeps in a person's home.
func codexFromHome(home string, _ time.Time) (files map[string][]byte, note string, err error) {
	path := filepath.Join(home, ".codex", "auth.json")
	data, err := readLogin(path, "Codex", home, codexNone)
	if err != nil {
		return nil, "", err
	}
	auth, tokens, err := parseCodexLogin(data)
	switch {
	case err != nil:
		return nil, "", codexNone(path + " is not a login of Codex: " + err.Error())
	case tokens.Access != "":
		auth.Key = nil
		kept, err := json.Marshal(auth)
		if err != nil {
			return nil, "", fmt.Errorf("login: %w", err)
		}
		return map[string][]byte{codexAccount: kept}, "the account of " + path, nil
	case auth.Key != nil && *auth.Key != "":
		return map[string][]byte{codexKey: []byte(*auth.Key + "\n")}, "the API key of " + path, nil
	}
	return nil, "", codexNone(path + " holds neither an account nor a key")
}

func codexNone(text string) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
		Text:   text,
		Remedy: "run `codex login` (it must keep its login in a file: cli_auth_credentials_store = \"file\"); or put a key of OpenAI's API into a file, then `nightporter login codex --token-file FILE`",
	}}}
}

// codexFromToken makes a login from an API key; note names the kind.
func codexFromToken(text []byte) (files map[string][]byte, note string, err error) {
	fields := strings.Fields(string(text))
	bad := func(what string) error {
		return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: what, Remedy: "put a key of OpenAI's API into a file, and name it with --token-file"}}}
	}
	switch {
	case len(fields) == 0:
		return nil, "", bad("the key is empty")
	case len(fields) > 1 || len(fields[0]) > 4096:
		return nil, "", bad("this is not one key")
	case strings.HasPrefix(fields[0], "sk-ant-"), !strings.HasPrefix(fields[0], "sk-"):
		return nil, "", bad("this is no key of OpenAI's API: those begin with sk-")
	}
	return map[string][]byte{codexKey: []byte(fields[0] + "\n")}, "an API key", nil
}
