package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	far "github.com/nightporter/nightporter/internal/fake/slack"
	"github.com/nightporter/nightporter/internal/programtest"
)

// slackFixture is the real nightporter with a fake Slack.
type slackFixture struct {
	programtest.TwoTasks
	far    *far.Server
	porter *programtest.Process
}

const (
	slackMira    = "U0MIRA"
	slackChannel = "C0SHOP"
)

func newSlackFixture(t *testing.T) *slackFixture {
	t.Helper()
	n := &slackFixture{TwoTasks: programtest.NewTwoTasks(t), far: far.Start()}
	t.Cleanup(n.far.Close)
	n.far.Direct(slackMira)
	n.far.CloseChannel(slackChannel, "")
	file := n.Path("config", "nightporter", "nightporter.toml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("[[project]]"), []byte("[slack]\napi = \""+n.far.URL()+"\"\n\n[[project]]\nslack_channel = \""+slackChannel+"\"\npattern = \"single\""), 1)
	text = bytes.Replace(text, []byte(`agent = "honest"`), []byte(`agent = "held"`), 1)
	for name, data := range map[string][]byte{
		"nightporter.toml": text, "slack-app.token": []byte(far.AppToken + "\n"), "slack-bot.token": []byte(far.BotToken + "\n"),
	} {
		if err := os.WriteFile(n.Path("config", "nightporter", name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() && n.porter != nil {
			t.Logf("nightporter up:\n%s", tailOf(n.porter.Out.String(), 6000))
			for _, id := range []string{n.direct(), slackChannel} {
				for _, m := range n.far.Messages(id) {
					t.Logf("%s %s %q %s", id, m.User, m.Text, m.Plain())
				}
			}
		}
	})
	return n
}

func tailOf(s string, most int) string { return s[max(0, len(s)-most):] }

func (n *slackFixture) direct() string { return n.far.Direct(slackMira) }

// up starts nightporter and waits until it is connected.
func (n *slackFixture) up() {
	n.T.Helper()
	p, err := n.Machine.Start(nil, "up")
	if err != nil {
		n.T.Fatal(err)
	}
	n.porter = p
	n.T.Cleanup(p.Kill)
	n.until("a socket", func() bool { return n.far.Connected() && strings.Contains(p.Out.String(), "is up") })
}

func (n *slackFixture) until(what string, is func() bool) {
	n.T.Helper()
	if err := programtest.WaitFor(what, func() (bool, error) { return is(), nil }); err != nil {
		n.T.Fatal(err)
	}
}

// awaitMessage waits for a message of the bot with all the texts, after a given
// number of messages.
func (n *slackFixture) awaitMessage(id string, after int, texts ...string) (found far.Message) {
	n.T.Helper()
	n.until(fmt.Sprintf("%q in %s", texts, id), func() bool {
		for _, m := range n.far.Messages(id)[after:] {
			if !m.Bot || m.VisibleTo != "" {
				continue
			}
			all := true
			for _, text := range texts {
				all = all && strings.Contains(m.Text+"\n"+m.Plain(), text)
			}
			if all {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func (n *slackFixture) messageCount(id string) int { return len(n.far.Messages(id)) }

var slackCode = regexp.MustCompile(`/porter pair ([2-9A-Z]{4}-[2-9A-Z]{4})`)

// TestSlack covers pairing, a run started by a button, guidance that is edited,
// dropped and given while nightporter is off, and silence towards strangers.
func TestSlack(t *testing.T) {
	n := newSlackFixture(t)
	n.up()
	direct := n.direct()

	// A person is paired with a code, which works in private only.
	pair, err := n.Machine.Start(nil, "pair", "--role", "admin")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pair.Kill)
	n.until("a code", func() bool { return slackCode.MatchString(pair.Out.String()) })
	code := slackCode.FindStringSubmatch(pair.Out.String())[1]
	open := n.far.Slash(slackMira, slackChannel, "pair "+code)
	n.far.Say("U0EVE", slackChannel, "@porter status")
	n.far.Slash("U0EVE", n.far.Direct("U0EVE"), "status")
	n.until("acknowledged", func() bool { _, ok := n.far.Acked(open); return ok && n.far.Unacked() == 0 })
	n.far.Slash(slackMira, direct, "pair "+code)
	n.awaitMessage(direct, 0, "paired as admin")
	if exit, err := pair.Wait(); err != nil || exit != 0 {
		t.Fatalf("nightporter pair: %d, %v\n%s", exit, err, pair.Out)
	}
	for _, m := range append(n.far.Messages(slackChannel), n.far.Messages(n.far.Direct("U0EVE"))...) {
		if m.Bot {
			t.Errorf("a stranger is told %q", m.Text)
		}
	}

	// A run is requested, and started by its button.
	n.far.Say(slackMira, direct, "run")
	asked := n.awaitMessage(direct, 0, "? Start shop?")
	if _, err := n.far.Press(slackMira, direct, asked.TS, "Start"); err != nil {
		t.Fatal(err)
	}
	// Messages about the project appear in its channel only.
	n.awaitMessage(slackChannel, 0, "● shop r1 started")
	n.awaitMessage(slackChannel, 0, "● shop 0/2")
	n.until("the first builder", func() bool { _, err := os.Stat(n.Path("notes", "at-go")); return err == nil })

	// A mention is answered in its thread. "/porter" is answered in the
	// channel, with a quotation.
	before := n.messageCount(slackChannel)
	mention := n.far.Say(slackMira, slackChannel, "@porter tasks")
	if m := n.awaitMessage(slackChannel, before, "shop"); m.Root != mention {
		t.Errorf("the answer stands in %q", m.Root)
	}
	n.far.Slash(slackMira, slackChannel, "whoami")
	if m := n.awaitMessage(slackChannel, before, "/porter whoami", "admin"); m.Root != "" {
		t.Errorf("the answer stands in a thread: %+v", m)
	}

	// Editing the message changes its guidance.
	message := n.far.Say(slackMira, direct, "Keep the names")
	receipt := n.awaitMessage(direct, 0, "g1 queued")
	n.far.Edit(direct, message, "Keep the old names")
	if m := n.awaitMessage(direct, 0, "g1 changed", "Keep the old names"); m.TS != receipt.TS || m.Edits == 0 {
		t.Errorf("the receipt did not change: %+v", m)
	}

	// A button drops the guidance: the message changes, and only the person who
	// pressed gets a reply.
	if _, err := n.far.Press(slackMira, direct, receipt.TS, "Drop"); err != nil {
		t.Fatal(err)
	}
	if m := n.awaitMessage(direct, 0, "– g1 dropped by"); m.TS != receipt.TS || len(m.Buttons) != 0 {
		t.Errorf("the receipt did not change: %+v", m)
	}

	// Messages sent while nightporter is off are read once after its start.
	n.porter.Kill()
	n.far.RefuseSockets(true)
	n.far.Say(slackMira, direct, programtest.Guided)
	n.far.RefuseSockets(false)
	n.up()
	n.awaitMessage(direct, 0, "g2 queued", programtest.Guided)
	n.far.Cut() // and again after a new connection
	n.until("another socket", n.far.Connected)
	n.far.Say(slackMira, direct, "queue")
	n.awaitMessage(direct, 0, "g2", "queue")
	if out := n.Out("nightporter", "queue"); strings.Count(out, programtest.Guided) != 1 {
		t.Errorf("queue:\n%s", out)
	}

	if err := os.WriteFile(n.Path("notes", "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if m := n.awaitMessage(slackChannel, 0, "2/2 done, r1 ended"); !strings.HasPrefix(m.Text, "<@U0MIRA> ") {
		t.Errorf("the end makes no sound: %+v", m)
	}
	for _, m := range n.far.Messages(direct) {
		if strings.Contains(m.Text, "r1 started") || strings.Contains(m.Text, "2/2") {
			t.Errorf("told twice: %q", m.Text)
		}
	}

	// doctor checks Slack while the daemon runs.
	out, _, err := n.Output("nightporter", "doctor", "--json")
	if err != nil {
		t.Fatal(err)
	}
	oks := 0
	for line := range strings.Lines(out) {
		var f struct{ Check, Result, Text string }
		if json.Unmarshal([]byte(line), &f) == nil && f.Check == "slack" && f.Result == "ok" {
			oks++
		}
	}
	if oks != 4 || !strings.Contains(out, "the app is in #c0shop, the channel of shop") {
		t.Errorf("doctor:\n%s", out)
	}
	n.checkNoSecret(out + n.porter.Out.String() + pair.Out.String())
}

// checkNoSecret searches texts and the state folder for the secret parts of the
// tokens.
func (n *slackFixture) checkNoSecret(text string) {
	n.T.Helper()
	if strings.Contains(text, "5ec7e7") {
		n.T.Error("a token was told")
	}
	err := filepath.WalkDir(n.State(), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what a session took away
		}
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte("5ec7e7")) {
			n.T.Errorf("%s holds a token", path)
		}
		return nil
	})
	if err != nil {
		n.T.Error(err)
	}
}
