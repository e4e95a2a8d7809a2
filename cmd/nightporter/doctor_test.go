package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestDoctorChat: all tokens of a platform are checked, and the platform's
// error messages are printed without them.
func TestDoctorChat(t *testing.T) {
	const bot, app, token = "8421573960:AAE9xQm3ZkT7nVb2HcLw5pRdYs8uJf1GoXi", "xapp-1-A0NIGHT-1-secretsecret", "xoxb-1-secretsecret"
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	cfg := &config.Config{
		Telegram: &config.Telegram{TokenFile: at("bot.token")},
		Slack:    &config.Slack{AppTokenFile: at("app"), BotTokenFile: at("bot")},
	}
	p := &doctorContext{usable: true, cfg: cfg}
	var asked []string
	answers := func(found ...ledger.Diagnostic) {
		p.probe = func(_ context.Context, pl platform.Platform, _ *config.Config, tokens []transport.Secret) ([]ledger.Diagnostic, error) {
			asked = []string{pl.Name}
			for _, s := range tokens {
				asked = append(asked, string(s))
			}
			return found, nil
		}
	}
	last := func(pl platform.Platform) finding {
		t.Helper()
		list := checkChat(t.Context(), p, pl)
		for _, f := range list {
			for _, asJSON := range []bool{false, true} {
				var out bytes.Buffer
				if err := f.print(&out, asJSON); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(out.String(), "AAE9") || strings.Contains(out.String(), "secret") {
					t.Errorf("a token is shown:\n%s", &out)
				}
			}
		}
		return list[len(list)-1]
	}
	write := func(name, text string) {
		if err := os.WriteFile(at(name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answers()
	for _, c := range []struct {
		name, file, text string
		on               platform.Platform
		severity         ledger.DiagnosticSeverity
		want             string
	}{
		{"no file", "", "", platform.Telegram, ledger.DiagnosticError, "bot.token cannot be read"},
		{"no token", "bot.token", "hunter2", platform.Telegram, ledger.DiagnosticError, "bot.token holds no token of a bot"},
		{"nobody asked", "bot.token", bot, platform.Telegram, ledger.DiagnosticUnchecked, "Telegram itself was not asked"},
		{"no file", "", "", platform.Slack, ledger.DiagnosticError, "app cannot be read"},
		{"swapped", "app", token, platform.Slack, ledger.DiagnosticError, "app holds no app token"},
		{"half", "app", app, platform.Slack, ledger.DiagnosticError, "bot cannot be read"},
		{"nobody asked", "bot", token, platform.Slack, ledger.DiagnosticUnchecked, "Slack itself was not asked"},
	} {
		if c.file != "" {
			write(c.file, c.text)
		}
		if f := last(c.on); f.Severity != c.severity || !strings.Contains(f.Text, c.want) {
			t.Errorf("%s, %s: %+v", c.on.Name, c.name, f)
		}
	}
	if want := []string{"slack", app, token}; !slices.Equal(asked, want) {
		t.Errorf("asked with %q, want %q", asked, want)
	}
	answers(ledger.Diagnostic{Severity: ledger.DiagnosticOK, Text: "bot @mira_porter_bot"})
	if f := last(platform.Telegram); f != findOK("bot @mira_porter_bot") {
		t.Errorf("%+v", f)
	}
	answers(ledger.Diagnostic{Severity: ledger.DiagnosticWarning, Text: "get /bot" + bot + "/getMe: timeout", Remedy: "open /bot" + bot})
	if f := last(platform.Telegram); f != findLook("open /botTOKEN", "get /botTOKEN/getMe: timeout") {
		t.Errorf("%+v", f)
	}
	answers(ledger.Diagnostic{Severity: ledger.DiagnosticError, Text: "refused " + token + " of " + app, Remedy: "get another"})
	if f := last(platform.Slack); f != findFix("get another", "refused TOKEN of TOKEN") {
		t.Errorf("%+v", f)
	}
	p.probe = askPlatform
	cfg.Slack.API = "http://127.0.0.1:9/"
	if f := last(platform.Slack); f.Severity != ledger.DiagnosticWarning {
		t.Errorf("out of reach: %+v", f)
	}
	if list := checkChat(t.Context(), &doctorContext{usable: true, cfg: &config.Config{Telegram: cfg.Telegram}}, platform.Slack); list != nil {
		t.Errorf("not set up: %+v", list)
	}
	if list := checkChat(t.Context(), &doctorContext{usable: true, cfg: config.Empty()}, platform.Telegram); len(list) != 1 || list[0].Severity != ledger.DiagnosticUnchecked {
		t.Errorf("no chat: %+v", list)
	}
}

func TestDoctorPeople(t *testing.T) {
	p := &doctorContext{cfg: config.Empty()}
	if list := checkPeople(t.Context(), p); list != nil {
		t.Errorf("without Telegram: %+v", list)
	}
	p.cfg = &config.Config{Telegram: &config.Telegram{}}
	for _, c := range []struct {
		n        int
		known    bool
		severity ledger.DiagnosticSeverity
	}{{0, false, ledger.DiagnosticUnchecked}, {0, true, ledger.DiagnosticWarning}, {2, true, ledger.DiagnosticOK}} {
		p.people = func(context.Context, *doctorContext) (int, bool) { return c.n, c.known }
		if list := checkPeople(t.Context(), p); len(list) != 1 || list[0].Severity != c.severity {
			t.Errorf("%d, %v: %+v", c.n, c.known, list)
		}
	}
}

// TestDoctorRequests names requests that are not kept green, with what ends that.
func TestDoctorRequests(t *testing.T) {
	for name, c := range map[string]struct {
		list  []openRequest
		known bool
		want  []ledger.DiagnosticSeverity
	}{
		"nobody answers": {nil, false, []ledger.DiagnosticSeverity{ledger.DiagnosticUnchecked}},
		"none":           {nil, true, nil},
		"all kept":       {[]openRequest{{project: "shop", URL: "u"}}, true, []ledger.DiagnosticSeverity{ledger.DiagnosticOK}},
		"two not":        {[]openRequest{{URL: "u"}, {URL: "v", NotKept: "strangers"}, {URL: "w", NotKept: "address"}}, true, []ledger.DiagnosticSeverity{ledger.DiagnosticWarning, ledger.DiagnosticWarning}},
	} {
		p := &doctorContext{requests: func(context.Context, *doctorContext) ([]openRequest, bool) { return c.list, c.known }}
		list := checkRequests(t.Context(), p)
		if len(list) != len(c.want) {
			t.Errorf("%s: %+v", name, list)
			continue
		}
		for n, f := range list {
			if f.Severity != c.want[n] || f.Severity == ledger.DiagnosticWarning && (f.Remedy == "" || !strings.Contains(f.Text, c.list[n+1].URL)) {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// TestDoctorUnwritable checks a folder that its owner may not write. Root may
// write to any, so the cases for root are in doctor.txtar.
func TestDoctorUnwritable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("SKIPPED: root may write a folder of any mode")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string]string{
		dir:                        "chmod u+rwx " + quote(dir),
		filepath.Join(dir, "deep"): "name another: --state DIR",
	} {
		list := checkState(t.Context(), &doctorContext{state: state})
		if len(list) != 1 || list[0].Severity != ledger.DiagnosticError || !strings.Contains(list[0].Remedy, want) {
			t.Errorf("%s: %+v", state, list)
		}
	}
}

// TestDoctorCancelled: a cancelled context ends doctor with the cause.
func TestDoctorCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the person has left")
	cancel(cause)
	p := &doctorContext{state: filepath.Join(t.TempDir(), "state"), config: "nowhere.toml", cfg: config.Empty(), probe: askPlatform, people: pairedPeople}
	defer p.trial.close()
	if err := p.examine(ctx, &bytes.Buffer{}, false); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}
