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

	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/fake/wrap"
	"github.com/nightporter/nightporter/internal/programtest"
)

// reader is who has the phone.
var reader = telegram.User{ID: 48213377, Name: "Mira"}

// phoneFixture is the real nightporter up with a Telegram, and the reader's phone.
type phoneFixture struct {
	programtest.TwoTasks
	phone  *telegram.Server
	porter *programtest.Process
	story  *strings.Builder // what the reader has read
}

// newPhone returns a machine that was never begun. plan is the source, settings are
// lines of the project's table.
func newPhone(t *testing.T, plan, settings string) phoneFixture {
	t.Helper()
	n := phoneFixture{TwoTasks: programtest.NewTwoTasks(t), story: &strings.Builder{}}
	n.write("repo/plan.md", plan)
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
	n.write("config/nightporter/nightporter.toml", strings.Replace(string(config), "[[project]]", "[telegram]\napi = \""+n.phone.URL()+"\"\n\n[[project]]\n"+settings, 1))
	n.write("config/nightporter/telegram.token", n.phone.Token()+"\n")
	return n
}

// up starts nightporter. It dies at the point crash (internal/crash), "" = at none.
func (n *phoneFixture) up(crash string) {
	n.T.Helper()
	var env []string
	if crash != "" {
		env = []string{"NIGHTPORTER_CRASH=" + crash}
	}
	porter, err := n.Machine.Start(env, "up")
	if err != nil {
		n.T.Fatal(err)
	}
	n.porter = porter
	n.T.Cleanup(porter.Kill)
	n.T.Cleanup(func() {
		if n.T.Failed() {
			n.T.Logf("%s\nnightporter up:\n%s", n.phone.Transcript(reader.ID), tailOf(porter.Out.String(), 6000))
		}
	})
	if err := programtest.WaitFor("nightporter up", func() (bool, error) {
		select {
		case <-porter.Done: // it died at its point
			return true, nil
		default:
			return strings.Contains(porter.Out.String(), "is up"), nil
		}
	}); err != nil {
		n.T.Fatal(err)
	}
}

// write writes a file of the machine.
func (n *phoneFixture) write(name, text string) {
	n.T.Helper()
	if err := os.WriteFile(n.Path(name), []byte(text), 0o600); err != nil {
		n.T.Fatal(err)
	}
}

var telegramCode = regexp.MustCompile(`/pair ([2-9A-Z]{4}-[2-9A-Z]{4})`)

// pair pairs the reader as an admin.
func (n *phoneFixture) pair() {
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
func (n *phoneFixture) shown(texts ...string) (found telegram.Message) {
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

// press presses a button of the newest message that has all texts.
func (n *phoneFixture) press(label string, texts ...string) telegram.Message {
	n.T.Helper()
	m := n.recorded(n.shown(texts...))
	if _, err := n.phone.Press(reader, reader.ID, m.ID, label); err != nil {
		n.T.Fatal(err)
	}
	return m
}

// recorded waits until nightporter has noted that a message was sent: a person is
// never faster.
func (n *phoneFixture) recorded(m telegram.Message) telegram.Message {
	n.T.Helper()
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
	return m
}

// replacement is text that differs from time to time, and what stands for it.
type replacement struct {
	form *regexp.Regexp
	is   string
}

// varying is what is different in each morning: days, times, hashes, the forge's address.
var varying = []replacement{
	{regexp.MustCompile(`\b[0-2]\d:[0-5]\d\b`), "07:30"},
	{regexp.MustCompile(`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) 07:30\b`), "Thu 07:30"},
	{regexp.MustCompile(`\b\d+ s ·`), "1 s ·"},
	{regexp.MustCompile(`Ledger \d+:[0-9a-f]+`), "Ledger 186:5f0c2d1e9a77"},
	{regexp.MustCompile(`Sessions (not )?shut in(, but for processes)?`), "Sessions shut in"},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+/`), "https://forge.example/"},
	{regexp.MustCompile(`\b[0-9a-f]{10}\b`), "9c41e07d25"},
	{regexp.MustCompile(`\b(git|curl)/[0-9.]*[0-9]`), "$1/2.39.5"},
}

// read adds a message to the story, as a narrow phone shows it.
func (n *phoneFixture) read(m telegram.Message) {
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
