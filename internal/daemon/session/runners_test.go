package session

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/agent/adapter"
)

// TestWithoutSecrets: of an action nothing is shown that the rules of the secret
// scan remove from the command or the path that it was taken from.
func TestWithoutSecrets(t *testing.T) {
	token := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a" // no token of anybody
	for command, want := range map[string]string{
		"npm test":                             "npm test",
		"cd cart && go vet ./...":              "go vet",
		"echo " + token:                        "echo",
		token + " x":                           "",
		"git " + token + " x":                  "git",
		"psql postgres://shop:hunter2@db/shop": "psql",
		`api_key="` + token + `" curl x`:       "curl x",
	} {
		line, err := json.Marshal(map[string]any{"type": "item.started", "item": map[string]string{"type": "command_execution", "command": command}})
		if err != nil {
			t.Fatal(err)
		}
		if got := withoutSecrets(adapter.LastAction([]string{string(line)}, "/work")).String(); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
	path := adapter.Action{Verb: "edits", Words: []string{"keys/" + token}, From: "/work/keys/" + token}
	if got := withoutSecrets(path).String(); strings.Contains(got, token) {
		t.Errorf("%q", got)
	}
}
