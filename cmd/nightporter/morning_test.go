package main_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/nightporter/nightporter/internal/fake/github"
	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/fake/wrap"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/programtest"
)

// reader is who has the phone.
var reader = telegram.User{ID: 48213377, Name: "Mira"}

// morning is the real nightporter, whose night is over, with a Telegram and a GitHub.
type morning struct {
	programtest.TwoTasks
	forge  *programtest.Forge
	phone  *telegram.Server
	porter *programtest.Process

	taps  int
	story strings.Builder
}

// newMorning plays a night of four tasks, whose branch was pushed and whose request
// is green.
func newMorning(t *testing.T) *morning {
	t.Helper()
	n := &morning{TwoTasks: programtest.NewTwoTasks(t)}
	n.write("repo/plan.md", "# Plan\n\n- [ ] **Task 1: Extract price rules**\n- [ ] **Task 2: Refund flow**\n- [ ] **Task 3: Address form**\n- [ ] **Task 4: Order emails**\n")
	n.Out("git", "-C", "repo", "commit", "-qam", "Plan")
	var err error
	if n.phone, err = telegram.Start(telegram.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.phone.Close)
	file := n.Path("config", "nightporter", "nightporter.toml")
	config, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n.write("config/nightporter/nightporter.toml", strings.Replace(string(config), "[[project]]", "[telegram]\napi = \""+n.phone.URL()+"\"\n\n[[project]]\npattern = \"single\"", 1))
	n.write("config/nightporter/telegram.token", n.phone.Token()+"\n")
	n.forge = programtest.NewForge(n.TwoTasks, "")
	n.forge.Check = "test"
	if n.porter, err = n.Machine.Start(nil, "up"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.porter.Kill)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s\nnightporter up:\n%s", n.phone.Transcript(reader.ID), tailOf(n.porter.Out.String(), 6000))
		}
	})
	if err := programtest.WaitFor("nightporter up", func() (bool, error) { return strings.Contains(n.porter.Out.String(), "is up"), nil }); err != nil {
		t.Fatal(err)
	}
	n.pair()
	n.phone.Say(reader, reader.ID, "/run")
	n.press("Start", "? Start shop?")
	n.shown("✓ shop 4/4 done, r1 ended")
	n.check("success")
	n.shown("✓ shop PR 1, checks pass")
	return n
}

// write writes a file of the machine.
func (n *morning) write(name, text string) {
	n.T.Helper()
	if err := os.WriteFile(n.Path(name), []byte(text), 0o600); err != nil {
		n.T.Fatal(err)
	}
}

var telegramCode = regexp.MustCompile(`/pair ([2-9A-Z]{4}-[2-9A-Z]{4})`)

// pair pairs the reader as an admin.
func (n *morning) pair() {
	n.T.Helper()
	pair, err := n.Machine.Start(nil, "pair", "--role", "admin")
	if err != nil {
		n.T.Fatal(err)
	}
	n.T.Cleanup(pair.Kill)
	var code []string
	if err := programtest.WaitFor("a code", func() (bool, error) {
		code = telegramCode.FindStringSubmatch(pair.Out.String())
		select {
		case <-pair.Done:
			return true, fmt.Errorf("nightporter pair ended:\n%s", pair.Out)
		default:
		}
		return code != nil, nil
	}); err != nil {
		n.T.Fatal(err)
	}
	n.phone.Say(reader, reader.ID, "/start "+code[1])
	n.shown("paired as admin")
}

// shown waits for a message, new or edited, that has all texts.
func (n *morning) shown(texts ...string) (found telegram.Message) {
	n.T.Helper()
	ctx, cancel := context.WithTimeoutCause(n.T.Context(), programtest.Patience, fmt.Errorf("no message has %q", texts))
	defer cancel()
	if _, err := n.phone.WaitFor(ctx, reader.ID, func(c telegram.Chat) (ok bool) {
		found, ok = c.Find(func(m telegram.Message) bool {
			for _, text := range texts {
				if !strings.Contains(m.Text, text) {
					return false
				}
			}
			return m.From.Bot
		})
		return ok
	}); err != nil {
		n.T.Fatal(err)
	}
	return found
}

// press presses a button of the newest message that has all texts. It waits until
// nightporter has noted that the message was sent: a person is never faster.
func (n *morning) press(label string, texts ...string) telegram.Message {
	n.T.Helper()
	m := n.shown(texts...)
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(n.State(), "nightporter.db")+"?mode=ro&_busy_timeout=5000")
	if err != nil {
		n.T.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := programtest.WaitFor("a note of "+m.Text, func() (bool, error) {
		var noted int
		err := db.QueryRow(`SELECT count(*) FROM messages WHERE chat = ? AND platform = ?`, fmt.Sprintf("telegram:%d", reader.ID), fmt.Sprint(m.ID)).Scan(&noted)
		return noted > 0, err
	}); err != nil {
		n.T.Fatal(err)
	}
	if _, err := n.phone.Press(reader, reader.ID, m.ID, label); err != nil {
		n.T.Fatal(err)
	}
	return m
}

// tap is a press that a person needs on the way, and what they read before it.
func (n *morning) tap(label string, texts ...string) {
	n.T.Helper()
	n.read(n.press(label, texts...))
	n.taps++
	fmt.Fprintf(&n.story, "── %d: [%s]\n\n", n.taps, label)
}

// read adds a message to the story, as a narrow phone shows it.
func (n *morning) read(m telegram.Message) {
	if m.File != nil {
		n.story.WriteString("[picture]\n")
	}
	text := strings.ReplaceAll(m.Text, "\u2060", "") // keeps foreign text from being tapped
	for _, v := range varying {
		text = v.form.ReplaceAllString(text, v.is)
	}
	for line := range strings.SplitSeq(text, "\n") {
		for _, part := range wrap.Wrap(line, 32) {
			n.story.WriteString(part + "\n")
		}
	}
	for _, row := range m.Buttons {
		for at, b := range row {
			if at > 0 {
				n.story.WriteString(" ")
			}
			n.story.WriteString("[" + b.Text + "]")
		}
		n.story.WriteString("\n")
	}
	n.story.WriteString("\n")
}

// check ends the forge's check of the tip of the branch.
func (n *morning) check(conclusion string) {
	n.forge.Run(n.forge.Tip("nightporter/shop/r1"), "test", "completed", conclusion, "")
}

// request returns the only request.
func (n *morning) request() github.Shown {
	n.T.Helper()
	all := n.forge.Pulls()
	if len(all) != 1 {
		n.T.Fatalf("%d requests", len(all))
	}
	return all[0]
}

// varying is what is different in each morning: times, hashes, the forge's address.
var varying = []struct {
	form *regexp.Regexp
	is   string
}{
	{regexp.MustCompile(`\b[0-2]\d:[0-5]\d\b`), "07:30"},
	{regexp.MustCompile(`Ledger \d+:[0-9a-f]+`), "Ledger 186:5f0c2d1e9a77"},
	{regexp.MustCompile(`Boundary \d`), "Boundary 3"},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+/`), "https://forge.example/"},
	{regexp.MustCompile(`\b[0-9a-f]{10}\b`), "9c41e07d25"},
}

// TestMorning: from the digest to a merged request of the tasks that are kept, with
// six taps and no typed word. One of four tasks is dropped; it is not merged.
func TestMorning(t *testing.T) {
	t.Parallel()
	n := newMorning(t)
	n.phone.Say(reader, reader.ID, "/digest") // by itself at its time

	n.tap("Each task", "4/4 done", "Ledger")
	n.tap("#3", "shop r1 · 4 tasks")
	n.tap("Revert", "#3 Address form", "3 of 4")
	n.tap("Take out", "? Take #3 out of r1?")
	n.read(n.shown("shop r1 is green", "1 of 1 checks pending"))
	n.check("success")
	n.tap("Merge", "shop r1 is green", "PR 1, checks pass")
	n.tap("Merge", "Merge PR 1 into main?")
	n.read(n.shown("✓ shop PR 1 merged into main"))

	golden.Compare(t, "morning.txt", n.story.String())
	if n.taps > 6 {
		t.Errorf("%d taps", n.taps)
	}
	r := n.request()
	if !r.Merged || !strings.Contains(r.Body, "`Task 3` Address form: skipped, reverted, by Mira") {
		t.Errorf("the request is %s:\n%s", r.State, r.Body)
	}
	files := n.Out("git", "-C", "forge/acme/shop.git", "ls-tree", "--name-only", "nightporter/shop/r1", "src/")
	if files != "src/a.txt\nsrc/task1.txt\nsrc/task2.txt\nsrc/task4.txt\n" {
		t.Errorf("what was merged has\n%s", files)
	}
	if pushes := n.forge.Pushes.Load(); pushes != 2 {
		t.Errorf("%d pushes", pushes)
	}
	if m := n.shown("shop r1 is green", "PR 1, merged"); strings.Contains(strings.Join(m.Labels(), " "), "Merge") {
		t.Errorf("it is offered again: %s", m.Text)
	}
}
