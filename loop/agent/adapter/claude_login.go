package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Files of a stored login of Claude Code. A login has one of them.
const (
	claudeOAuth = "credentials.json" // an account's tokens, which the program renews
	claudeToken = "token"            // a token of `claude setup-token`, valid for a year
	claudeKey   = "key"              // a key of the API
)

// claudeLogin describes the login of Claude Code. From the program's own files
// it takes only the account's tokens: the program needs no more, and the rest
// is history, settings and tokens of other servers.
var claudeLogin = Login{
	Keys: []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
		"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
	},
	Args:      NoLoginArgs,
	Vars:      map[string]string{claudeToken: "CLAUDE_CODE_OAUTH_TOKEN", claudeKey: "ANTHROPIC_API_KEY"},
	Home:      map[string]string{claudeOAuth: filepath.Join(".claude", ".credentials.json")},
	Renewed:   claudeRenewed,
	FromHome:  claudeFromHome,
	FromToken: claudeFromToken,
	Help: `  nightporter login claude                         your own login of Claude Code
  nightporter login claude --token-file FILE       a token of ` + "`claude setup-token`" + `, or an API key
  claude setup-token | tail -1 | nightporter login claude --token-file -
  nightporter login claude --remove                forget it
`,
	Hint: `! The copy and your own login belong to one account, and a session that renews
  the one may log out the other. If that happens, use a token of its own:
  claude setup-token, then nightporter login claude --token-file FILE
`,
}

// claudeAccount is the part of .credentials.json with the login.
type claudeAccount struct {
	OAuth json.RawMessage `json:"claudeAiOauth"`
}

// claudeTokens holds the login's fields that are read.
type claudeTokens struct {
	Access  string `json:"accessToken"`
	Refresh string `json:"refreshToken"`
	Expires int64  `json:"expiresAt"` // milliseconds since 1970
	Kind    string `json:"subscriptionType"`
}

// parseClaudeLogin reads a .credentials.json, and returns its tokens and a copy
// reduced to the login.
func parseClaudeLogin(data []byte) (claudeTokens, []byte, error) {
	var account claudeAccount
	var tokens claudeTokens
	if err := json.Unmarshal(data, &account); err != nil {
		return tokens, nil, err
	}
	if len(account.OAuth) == 0 {
		return tokens, nil, errors.New("it holds no account (claudeAiOauth)")
	}
	if err := json.Unmarshal(account.OAuth, &tokens); err != nil {
		return tokens, nil, err
	}
	if tokens.Access == "" {
		return tokens, nil, errors.New("its account has no access token")
	}
	out, err := json.Marshal(account)
	return tokens, out, err
}

// maxLoginValidity is the longest accepted validity of a renewed login; real
// ones last hours. Otherwise a session could store a date in the far future,
// and no later renewal would count as newer.
const maxLoginValidity = 366 * 24 * time.Hour

// claudeRenewed returns the login that a session left if it is newer than the
// one it began with, else nil.
func claudeRenewed(began, left []byte) []byte {
	old, _, err := parseClaudeLogin(began)
	if err != nil {
		return nil
	}
	tokens, data, err := parseClaudeLogin(left)
	if err != nil || tokens.Refresh == "" || tokens.Expires <= old.Expires || time.UnixMilli(tokens.Expires).After(time.Now().Add(maxLoginValidity)) || bytes.Equal(data, began) {
		return nil
	}
	return data
}

// claudeFromHome reads the login that Claude Code keeps in a person's home.
func claudeFromHome(home string, now time.Time) (files map[string][]byte, note string, err error) {
	path := filepath.Join(home, ".claude", ".credentials.json")
	data, err := readLogin(path, "Claude Code", home, claudeNone)
	if err != nil {
		return nil, "", err
	}
	tokens, kept, err := parseClaudeLogin(data)
	if err != nil {
		return nil, "", claudeNone(path + " is not a login of Claude Code: " + err.Error())
	}
	ends := time.UnixMilli(tokens.Expires)
	if tokens.Refresh == "" && tokens.Expires > 0 && ends.Before(now) {
		return nil, "", claudeNone("the login in " + path + " has expired, and cannot renew itself")
	}
	note = "the account of " + path
	if tokens.Kind != "" {
		note += " (" + Clean(tokens.Kind, 40) + ")"
	}
	return map[string][]byte{claudeOAuth: kept}, note, nil
}

func claudeNone(text string) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
		Text:   text,
		Remedy: "run `claude` and /login there; or `claude setup-token` anywhere, then `nightporter login claude --token-file FILE` (macOS keeps logins in its keychain: use this)",
	}}}
}

// claudeFromToken makes a login from a token of `claude setup-token` or from an
// API key; note names the kind.
func claudeFromToken(text []byte) (files map[string][]byte, note string, err error) {
	fields := strings.Fields(string(text))
	bad := func(what string) error {
		return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text:   what,
			Remedy: "put the one line that `claude setup-token` printed, or an API key, into a file, and name it with --token-file",
		}}}
	}
	switch {
	case len(fields) == 0:
		return nil, "", bad("the token is empty")
	case len(fields) > 1 || len(fields[0]) > 4096:
		return nil, "", bad("this is not one token")
	case strings.HasPrefix(fields[0], "sk-ant-ort"):
		return nil, "", bad("this is a refresh token, which is of no use alone")
	case strings.HasPrefix(fields[0], "sk-ant-oat"):
		return map[string][]byte{claudeToken: []byte(fields[0] + "\n")}, "a long-lived token of an account", nil
	case strings.HasPrefix(fields[0], "sk-ant-"):
		return map[string][]byte{claudeKey: []byte(fields[0] + "\n")}, "an API key", nil
	}
	return nil, "", bad("this is no token of Claude Code: those begin with sk-ant-")
}
