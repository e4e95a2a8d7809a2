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

// Files of a stored login of opencode. A login has one of them.
const (
	opencodeAccounts = "auth.json" // accounts, which the program renews, and keys
	opencodeKeys     = "keys"      // keys alone, in the form of auth.json
	opencodeKey      = "key"       // a key of opencode's own models
)

// opencodeLogin describes the login of opencode, which holds those of any number
// of providers.
var opencodeLogin = Login{
	Keys: []string{
		"OPENCODE_API_KEY", "OPENCODE_AUTH_CONTENT", "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT",
		"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY",
	},
	Args:      NoLoginArgs,
	Vars:      map[string]string{opencodeKeys: "OPENCODE_AUTH_CONTENT", opencodeKey: "OPENCODE_API_KEY"},
	Home:      map[string]string{opencodeAccounts: filepath.Join(".local", "share", "opencode", "auth.json")},
	Renewed:   opencodeRenewed,
	FromHome:  opencodeFromHome,
	FromToken: opencodeFromToken,
	Help: `  nightporter login opencode                       your own logins of opencode
  nightporter login opencode --token-file FILE     a key of opencode's own models
  nightporter login opencode --remove              forget it
`,
	Hint: `! A copied account and your own are one, and a session that renews the one may
  log out the other. Keys of an API do not have this problem.
`,
}

// opencodeProvider is the login of one provider in auth.json.
type opencodeProvider struct {
	Type    string `json:"type"` // api, oauth, wellknown
	Refresh string `json:"refresh"`
	Expires int64  `json:"expires"` // milliseconds since 1970
}

// parseOpencodeLogin reads an auth.json: the login of each provider, and what is
// read of it.
func parseOpencodeLogin(data []byte) (map[string]json.RawMessage, map[string]opencodeProvider, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, nil, err
	}
	providers := map[string]opencodeProvider{}
	for name, raw := range all {
		var p opencodeProvider
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, nil, fmt.Errorf("the login of one provider: %w", err)
		}
		providers[name] = p
	}
	return all, providers, nil
}

// opencodeRenewed returns the logins with the accounts that a session renewed, nil
// for none. A provider that the session added is not taken over.
func opencodeRenewed(began, left []byte) []byte {
	all, old, err := parseOpencodeLogin(began)
	if err != nil {
		return nil
	}
	now, providers, err := parseOpencodeLogin(left)
	if err != nil {
		return nil
	}
	renewed := false
	for name, p := range providers {
		was, had := old[name]
		if !had || p.Type != "oauth" || was.Type != "oauth" || p.Refresh == "" || p.Expires <= was.Expires || time.UnixMilli(p.Expires).After(time.Now().Add(maxLoginValidity)) {
			continue
		}
		all[name], renewed = now[name], true
	}
	if !renewed {
		return nil
	}
	data, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return data
}

// opencodeFromHome reads the logins that opencode keeps in a person's home.
func opencodeFromHome(home string, _ time.Time) (files map[string][]byte, note string, err error) {
	path := filepath.Join(home, ".local", "share", "opencode", "auth.json")
	data, err := readLogin(path, "opencode", home, opencodeNone)
	if err != nil {
		return nil, "", err
	}
	_, providers, err := parseOpencodeLogin(data)
	if err != nil {
		return nil, "", opencodeNone(path + " is not a login of opencode: " + err.Error())
	}
	if len(providers) == 0 {
		return nil, "", opencodeNone(path + " holds no login")
	}
	var names []string
	file := opencodeKeys
	for name, p := range providers {
		names = append(names, Clean(name, 40))
		if p.Type != "api" {
			file = opencodeAccounts
		}
	}
	slices.Sort(names)
	var kept bytes.Buffer // in one line, as a variable needs it
	if err := json.Compact(&kept, data); err != nil {
		return nil, "", fmt.Errorf("login: %w", err)
	}
	return map[string][]byte{file: kept.Bytes()}, "the logins of " + path + " (" + strings.Join(names, ", ") + ")", nil
}

func opencodeNone(text string) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
		Text:   text,
		Remedy: "run `opencode auth login`; or name a key of your provider, such as ANTHROPIC_API_KEY, in env_file of [agents.opencode]",
	}}}
}

// opencodeFromToken makes a login from a key of opencode's own models.
func opencodeFromToken(text []byte) (files map[string][]byte, note string, err error) {
	fields := strings.Fields(string(text))
	if len(fields) != 1 || len(fields[0]) > 4096 {
		return nil, "", &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text:   "this is not one key",
			Remedy: "put a key of opencode's own models (opencode.ai) into a file, and name it with --token-file; keys of other providers go into env_file of [agents.opencode]",
		}}}
	}
	return map[string][]byte{opencodeKey: []byte(fields[0] + "\n")}, "a key of opencode's own models", nil
}
