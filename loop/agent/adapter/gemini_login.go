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

// Files of a stored login of Gemini CLI: a key, or an account with the settings that
// name it.
const (
	geminiAccount = "oauth_creds.json" // an account's tokens, which the program renews
	geminiMode    = "settings.json"    // geminiSettings for the account
	geminiKey     = "key"              // a key of the API
)

// geminiLogin describes the login of Gemini CLI.
var geminiLogin = Login{
	Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_APPLICATION_CREDENTIALS", "GEMINI_CLI_SYSTEM_SETTINGS_PATH"},
	Args: NoLoginArgs,
	Vars: map[string]string{geminiKey: "GEMINI_API_KEY"},
	Home: map[string]string{
		geminiAccount: filepath.Join(".gemini", "oauth_creds.json"),
		geminiMode:    filepath.FromSlash(geminiSettingsPath),
	},
	Renewed:   geminiRenewed,
	FromHome:  geminiFromHome,
	FromToken: geminiFromToken,
	Help: `  nightporter login gemini                         your own Google account in Gemini CLI
  nightporter login gemini --token-file FILE       a key of the Gemini API
  nightporter login gemini --remove                forget it
`,
	Hint: `! Sessions of a copied account run one at a time. A key of the Gemini API does not
  have this limit: nightporter login gemini --token-file FILE
`,
}

// geminiTokens holds the fields of oauth_creds.json that are read.
type geminiTokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Expires int64  `json:"expiry_date"` // milliseconds since 1970
}

// geminiRenewed returns the login that a session left if it is newer than the one it
// began with, else nil. The settings are never taken back.
func geminiRenewed(began, left []byte) []byte {
	var old, tokens geminiTokens
	if json.Unmarshal(began, &old) != nil || old.Refresh == "" || json.Unmarshal(left, &tokens) != nil {
		return nil
	}
	if tokens.Access == "" || tokens.Refresh == "" || tokens.Expires <= old.Expires || time.UnixMilli(tokens.Expires).After(time.Now().Add(maxLoginValidity)) || bytes.Equal(left, began) {
		return nil
	}
	return left
}

// geminiFromHome reads the login that Gemini CLI keeps in a person's home.
func geminiFromHome(home string, _ time.Time) (files map[string][]byte, note string, err error) {
	path := filepath.Join(home, ".gemini", "oauth_creds.json")
	data, err := readLogin(path, "Gemini CLI", home, geminiNone)
	if err != nil {
		return nil, "", err
	}
	var tokens geminiTokens
	switch err := json.Unmarshal(data, &tokens); {
	case err != nil:
		return nil, "", geminiNone(path + " is not a login of Gemini CLI: " + err.Error())
	case tokens.Refresh == "":
		return nil, "", geminiNone(path + " holds no refresh_token, so it could not be renewed")
	}
	var kept bytes.Buffer
	if err := json.Compact(&kept, data); err != nil {
		return nil, "", fmt.Errorf("login: %w", err)
	}
	return map[string][]byte{geminiAccount: kept.Bytes(), geminiMode: []byte(geminiSettings("oauth-personal"))}, "the account of " + path, nil
}

func geminiNone(text string) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
		Text:   text,
		Remedy: "run `gemini` and log in with Google there; or put a key of the Gemini API (aistudio.google.com) into a file, then `nightporter login gemini --token-file FILE`",
	}}}
}

// geminiFromToken makes a login from an API key; note names the kind.
func geminiFromToken(text []byte) (files map[string][]byte, note string, err error) {
	fields := strings.Fields(string(text))
	bad := func(what string) error {
		return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: what, Remedy: "put a key of the Gemini API into a file, and name it with --token-file"}}}
	}
	switch {
	case len(fields) == 0:
		return nil, "", bad("the key is empty")
	case len(fields) > 1 || len(fields[0]) > 4096:
		return nil, "", bad("this is not one key")
	case strings.HasPrefix(fields[0], "sk-"), strings.HasPrefix(fields[0], "ya29."):
		return nil, "", bad("this is no key of the Gemini API")
	}
	return map[string][]byte{geminiKey: []byte(fields[0] + "\n")}, "an API key", nil
}
