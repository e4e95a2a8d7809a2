package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/config"
)

// TestDoctorTelegram: what Telegram answers, and what of it is to be mended.
func TestDoctorTelegram(t *testing.T) {
	const token = "8421573960:AAE9xQm3ZkT7nVb2HcLw5pRdYs8uJf1GoXi"
	file := filepath.Join(t.TempDir(), "bot.token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		answers []finding
		want    finding
	}{
		{"nobody asked", nil, finding{Result: resultUnseen, Text: "Telegram itself was not asked"}},
		{"known", []finding{fine("bot @mira_porter_bot")}, finding{Result: resultOK, Text: "bot @mira_porter_bot"}},
		{"an answer with the token in it", []finding{look("open /bot"+token, "get https://api.telegram.org/bot%s/getMe: timeout", token)},
			finding{Result: resultLook, Text: "get https://api.telegram.org/botTOKEN/getMe: timeout", Fix: "open /botTOKEN"}},
	} {
		p := &doctorContext{usable: true, cfg: &config.Config{
			Telegram: &config.Telegram{TokenFile: file, API: "http://127.0.0.1:9"},
			Projects: []config.Project{{Name: "blog"}, {Name: "shop", TelegramTopic: config.Topic{Chat: -1007, Thread: 42}}},
		}}
		p.probe = func(_ context.Context, tok, api string, threads []string) []finding {
			if tok != token || api != "http://127.0.0.1:9" || strings.Join(threads, " ") != "telegram:-1007/42" {
				t.Errorf("%s: probed with %q, %q, %q", c.name, tok, api, threads)
			}
			return c.answers
		}
		list := checkTelegram(t.Context(), p)
		if last := list[len(list)-1]; last != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, last, c.want)
		}
		for _, asJSON := range []bool{false, true} {
			var out bytes.Buffer
			for _, f := range list {
				if err := f.print(&out, asJSON); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(out.String(), "AAE9") || strings.Contains(out.String(), "8421573960") {
				t.Errorf("%s: the token is shown:\n%s", c.name, &out)
			}
		}
	}
}

// TestDoctorSlack: both tokens are looked at, and what Slack answers is said
// without them.
func TestDoctorSlack(t *testing.T) {
	const app, token = "xapp-1-A0NIGHT-1-secretsecret", "xoxb-1-secretsecret"
	dir := t.TempDir()
	cfg := &config.Config{Slack: &config.Slack{AppTokenFile: filepath.Join(dir, "app"), BotTokenFile: filepath.Join(dir, "bot"), API: "http://127.0.0.1:9/"}}
	p := &doctorContext{usable: true, cfg: cfg}
	last := func() finding {
		list := checkSlack(t.Context(), p)
		return list[len(list)-1]
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if f := last(); f.Result != resultMend || !strings.Contains(f.Text, "app cannot be read") {
		t.Errorf("without files: %+v", f)
	}
	write("app", token)
	if f := last(); f.Result != resultMend || !strings.Contains(f.Text, "holds no app token") || strings.Contains(f.Text, "secret") {
		t.Errorf("swapped: %+v", f)
	}
	write("app", app)
	write("bot", token)
	if f := last(); f.Result != resultUnseen {
		t.Errorf("nobody asked: %+v", f)
	}
	cfg.Projects = []config.Project{{Name: "shop", SlackChannel: "C0SHOP"}}
	p.slack = func(_ context.Context, a, b, api string, in []config.Project) []finding {
		if a != app || b != token || api != "http://127.0.0.1:9/" || len(in) != 1 {
			t.Errorf("probed with %q, %q, %q, %v", a, b, api, in)
		}
		return []finding{look("open "+app, "refused "+token)}
	}
	if f := last(); f != (finding{Result: resultLook, Text: "refused TOKEN", Fix: "open TOKEN"}) {
		t.Errorf("%+v", f)
	}
	if list := slackProbe(t.Context(), app, token, "http://127.0.0.1:9/", cfg.Projects); len(list) != 1 || list[0].Result != resultLook {
		t.Errorf("out of reach: %+v", list)
	}
	if list := checkSlack(t.Context(), &doctorContext{usable: true, cfg: config.Empty()}); list != nil {
		t.Errorf("not set up: %+v", list)
	}
}

func TestDoctorPeople(t *testing.T) {
	p := &doctorContext{cfg: config.Empty()}
	if list := checkPeople(t.Context(), p); list != nil {
		t.Errorf("without Telegram: %+v", list)
	}
	p.cfg = &config.Config{Telegram: &config.Telegram{}}
	for _, c := range []struct {
		n      int
		known  bool
		result string
	}{{0, false, resultUnseen}, {0, true, resultLook}, {2, true, resultOK}} {
		p.people = func(context.Context, *doctorContext) (int, bool) { return c.n, c.known }
		if list := checkPeople(t.Context(), p); len(list) != 1 || list[0].Result != c.result {
			t.Errorf("%d, %v: %+v", c.n, c.known, list)
		}
	}
}

// TestDoctorUnwritable: a folder that its owner may not write. Root may write
// any, so for root only what no mode decides is tested (doctor.txtar).
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
		if len(list) != 1 || list[0].Result != resultMend || !strings.Contains(list[0].Fix, want) {
			t.Errorf("%s: %+v", state, list)
		}
	}
}

// TestDoctorGoesOn: the end of its context ends it, with the reason.
func TestDoctorGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the person has left")
	cancel(gone)
	p := &doctorContext{state: filepath.Join(t.TempDir(), "state"), config: "nowhere.toml", cfg: config.Empty(), probe: telegramProbe, people: pairedPeople}
	defer p.ward.close()
	if err := p.examine(ctx, &bytes.Buffer{}, false); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}
