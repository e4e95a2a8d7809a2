package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/golden"
)

// maxSteps is how many things a newcomer has to do, the first being the build, until a
// run has started.
const maxSteps = 6

// firstNight is a newcomer's way to the first run, as they see it.
type firstNight struct {
	newcomer
	steps int
	story strings.Builder
}

// step notes what the newcomer does.
func (n *firstNight) step(what string) {
	n.steps++
	fmt.Fprintf(&n.story, "── %d: %s\n\n", n.steps, what)
}

// message notes a message as a phone shows it, and returns it.
func (n *firstNight) message(texts ...string) telegram.Message {
	n.T.Helper()
	w := phoneFixture{TwoTasks: n.TwoTasks, phone: n.phone, story: &n.story}
	m := w.recorded(w.shown(texts...))
	for _, line := range m.Lines() {
		n.story.WriteString(boundaryLevel.ReplaceAllString(phoneTime.ReplaceAllString(phoneUntil.ReplaceAllString(line, "by 21:15$1"), "${1}21:05$2"), "Boundary level 3") + "\n")
	}
	n.story.WriteString("[" + strings.Join(m.Labels(), "] [") + "]\n\n")
	return m
}

// phoneTime and phoneUntil match the times of messages that are of the day, boundaryLevel
// what the machine gives.
var (
	phoneTime     = regexp.MustCompile(`(^)\d\d:\d\d( ·|, by)`)
	phoneUntil    = regexp.MustCompile(`by \d\d:\d\d([:,])`)
	boundaryLevel = regexp.MustCompile(`Boundary level \d`)
)

// tap presses a button of a message.
func (n *firstNight) tap(m telegram.Message, label string) {
	n.T.Helper()
	n.step("press [" + label + "]")
	if _, err := n.phone.Press(reader, reader.ID, m.ID, label); err != nil {
		n.T.Fatal(err)
	}
}

// terminal notes what a terminal has shown from offset on. What is different each time is
// replaced.
func (n *firstNight) terminal(s *testTerminal, offset int) {
	text := strings.ReplaceAll(s.out.String()[offset:], "\r\n", "\n")
	text = qrBlock.ReplaceAllString(text, "  (a QR code)\n")
	for _, v := range []struct{ form, is string }{
		{regexp.QuoteMeta(n.Path("shop")), "/home/mira/shop"},
		{regexp.QuoteMeta(n.Path("config")), "/home/mira/.config"},
		{regexp.QuoteMeta(n.Path("state")), "/home/mira/.local/state"},
		{`[2-9A-Z]{4}-[2-9A-Z]{4}`, "K7QX-M2PD"},
		{`(?m)^\d\d:\d\d:\d\d`, "21:04:02"},
		{`until \d\d:\d\d`, "until 21:14"},
		{`✓ \d\d:\d\d`, "✓ 21:05"},
		{`(?m) +$`, ""},
	} {
		text = regexp.MustCompile(v.form).ReplaceAllString(text, v.is)
	}
	n.story.WriteString(text + "\n")
}

var qrBlock = regexp.MustCompile(`(?m)(^  [█▀▄ ]{20,}\n)+`)

// TestFirstNight is the way from a built nightporter to "r1 started" on the phone, with the
// scripted agent: the commands, answers and presses of a newcomer, counted. What they see is
// docs/first-night.md.
func TestFirstNight(t *testing.T) {
	t.Parallel()
	n := &firstNight{newcomer: newNewcomer(t)}
	if err := os.Rename(n.Path("repo"), n.Path("shop")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(n.Path("shop", "Makefile"), []byte("test:\n\tsh ./verify.sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	n.Out("git", "-C", "shop", "add", "Makefile")
	n.Out("git", "-C", "shop", "commit", "-qm", "Tests")

	n.step("make build")
	n.step("nightporter init --agent demo")
	began := time.Now()
	s := openTerminalIn(t, n.Machine, n.Path("shop"), 100, []string{"NO_COLOR=1"}, "init", "--agent", "demo", "--telegram-api", n.phone.URL())
	s.answer(`Where are the tasks`, "")
	s.answer(`What prepares`, "")
	s.answer(`What proves`, "")
	s.answer(`The phone`, n.phone.Token())
	s.answer(`By which clock`, "Europe/Berlin")
	s.answer(`summary come`, "")
	s.answer(`nothing ring`, "")
	s.after(`ready to start`)
	s.answer(`Start nightporter here now`, "")
	link := s.after(`Open +https://t\.me/porter_bot\?start=\S+`)
	s.after(`Role: admin\.\r\n`)
	n.terminal(s, 0)
	read := len(s.out.String())

	n.step("the phone opens the QR code, and START")
	n.phone.Say(reader, reader.ID, "/start "+link[strings.LastIndex(link, "=")+1:])
	welcome := n.message("you are paired as admin")
	s.after(`is paired as admin\r\n`)
	n.terminal(s, read)
	n.tap(welcome, "Start shop")
	n.tap(n.message("? Start shop?"), "Start")
	n.message("● shop r1 started, 2 tasks")
	t.Logf("from init until r1 has started: %.1f s", time.Since(began).Seconds()) // docs/figures.md

	golden.Compare(t, "first-night.txt", n.story.String())
	if n.steps > maxSteps {
		t.Errorf("%d steps, at most %d are allowed", n.steps, maxSteps)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "first-night.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "\n```text\n"+strings.TrimSpace(n.story.String())+"\n```\n") {
		t.Error("docs/first-night.md shows another way: put testdata/first-night.txt into its block")
	}
	s.press("\x03")
	s.awaitExit(0)
}
