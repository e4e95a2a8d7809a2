//go:build e2e

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/loop/ledger"
)

// emitDone is the command with which a scripted model works and ends the session.
const emitDone = `echo hello >hello.txt && hat emit build.complete --data '{"summary":"done","files_modified":["hello.txt"]}'`

// TestAgentsClosed runs agents by their name whose network is closed but for the
// model's host: their work is done, their event sent, and nothing else is asked for.
func TestAgentsClosed(t *testing.T) {
	eachRealAgent(t, func(t *testing.T, a realAgent) {
		var work string
		x, hat, _ := a.session(t, "", models.Play(func(models.Request) []models.Turn {
			return []models.Turn{models.Use(a.Tool(emitDone)), models.Say("Done.")}
		}), func(h *fixture, l *ledger.Launch, server string) {
			work, l.Model = h.work, a.Model
			d := h.runner.o.Agents[a.Name]
			url := strings.Replace(server, "127.0.0.1", "models.example.org", 1)
			d.Command = append(d.Command[:1:1], a.Args(url)...)
			h.runner.o.Agents[a.Name] = d
			if err := os.WriteFile(filepath.Join(h.out, d.EnvFile), []byte(strings.Join(a.Env(url), "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			l.Network = ledger.Network{Mode: ledger.NetworkNone, Hosts: []string{strings.TrimPrefix(url, "http://") + "=127.0.0.1"}}
		})
		got, _ := os.ReadFile(filepath.Join(work, "hello.txt"))
		if x.Code != 0 || string(got) != "hello\n" || len(hat.sent()) != 1 {
			t.Errorf("%s, exit %d: %s; hello.txt: %q; %d events\n%s", x.Reason, x.Code, x.Text, got, len(hat.sent()), x.Tail)
		}
		for _, u := range x.Hosts {
			t.Logf("%s:%d: %d connections, %d out, %d in, refused: %s", u.Host, u.Port, u.Conns, u.Sent, u.Received, u.Refused)
			if u.Refused != "" {
				t.Errorf("%s was asked for", u.Host)
			}
		}
	})
}
