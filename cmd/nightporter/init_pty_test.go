package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/programtest"
	"github.com/nightporter/nightporter/internal/width"
)

// newcomer is a person who has a repository with a list of tasks, a Telegram, and no
// configuration.
type newcomer struct {
	programtest.TwoTasks
	phone *telegram.Server
}

func newNewcomer(t *testing.T) newcomer {
	t.Helper()
	n := newcomer{TwoTasks: programtest.NewTwoTasks(t)}
	if err := os.Remove(n.file()); err != nil {
		t.Fatal(err)
	}
	var err error
	if n.phone, err = telegram.Start(telegram.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.phone.Close)
	return n
}

func (n newcomer) file() string { return n.Path("config", "nightporter", "nightporter.toml") }

func (n newcomer) token() string { return n.Path("config", "nightporter", "telegram.token") }

// init starts the interview in a terminal, in the repository.
func (n newcomer) init(columns int, flags ...string) *testTerminal {
	n.T.Helper()
	return openTerminalIn(n.T, n.Machine, n.Path("repo"), columns, []string{"NO_COLOR=1"}, append([]string{"init", "--telegram-api", n.phone.URL()}, flags...)...)
}

// after waits until the output since the last call matches re.
func (s *testTerminal) after(re string) string {
	s.t.Helper()
	form := regexp.MustCompile(re)
	var found []int
	if err := programtest.WaitFor(re, func() (bool, error) {
		text := s.out.String()[s.from:]
		if found = form.FindStringIndex(text); found != nil {
			return true, nil
		}
		select {
		case <-s.done:
			if !form.MatchString(s.out.String()[s.from:]) {
				return false, fmt.Errorf("it has ended without %s", re)
			}
		default:
		}
		return false, nil
	}); err != nil {
		s.t.Fatalf("%v\n%s", err, s.out)
	}
	text := s.out.String()[s.from:][found[0]:found[1]]
	s.from += found[1]
	return text
}

// answer waits for a question and types a line.
func (s *testTerminal) answer(question, line string) {
	s.t.Helper()
	s.after(question + `[^>]*> `)
	s.press(line + "\r")
}

// echoes reports whether the terminal shows what is typed.
func (s *testTerminal) echoes() bool {
	s.t.Helper()
	mode, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return mode.Lflag&unix.ECHO != 0
}

// TestInitInterview answers every question, most of them wrongly first, and reads what
// was written. The token is never shown.
func TestInitInterview(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	s := n.init(100)
	s.after(`Looked at .*/repo\r\n✓ plan +plan\.md: plan, .*2 tasks, 2 open\r\n`)
	s.after(`Enter takes what is in \[ \]\. Ctrl-C ends this, and nothing is written\.`)
	s.answer(`\? Where are the tasks\? \[plan:plan\.md\]`, "nowhere.md")
	s.answer(`✗ there is no nowhere\.md in .*/repo`, "plan.md")
	s.answer(`\? Which agent works\? \[[^\]]+\]`, "\x1b[A") // an arrow
	s.answer(`keys in it that are no text`, "dem")
	s.answer(`✗ no agent "dem"\r\n.*Meant demo\?`, "demo")
	s.answer(`\? What prepares a new work folder\?\r\n  none was found`, "")
	s.answer(`\? What proves that work is right\?\r\n  none was found`, "sh ./verify.sh")
	s.answer(``, "")
	s.answer(`\? The phone: in Telegram, write /newbot to @BotFather`, "my secret word")
	s.answer(`✗ that is no bot token: one line like 123456789:ABC`, "7123456789:AAE-wrong")
	s.answer(`✗ Telegram refuses the token`, n.phone.Token())
	s.after(`✓ token accepted, bot @porter_bot`)
	s.answer(`\? By which clock do you live\? \[UTC\]`, "Berlin")
	s.answer(`✗ no time zone "Berlin"`, "Europe/Berlin")
	s.answer(`\? When does the morning's summary come\? - for never \[07:30\]`, "7.30")
	s.answer(`✗ "7\.30" is not a time of day`, "06:45")
	s.answer(`\? When may nothing ring but a standstill\? - for never \[23:00-07:00\]`, "")
	s.after(`✓ Wrote .*/nightporter\.toml\r\n✓ Wrote .*/telegram\.token, which only you can read`)
	s.after(`nightporter run --check\r\n`)
	s.after(`ready to start`)
	s.answer(`\? Start nightporter here now, and let your phone in\? \[yes\]`, "no")
	s.after(`Next: nightporter up --pair\r\n`)
	s.awaitExit(0)
	for _, secret := range []string{n.phone.Token(), "AAE-wrong", "my secret word"} {
		if strings.Contains(s.out.String(), secret) {
			t.Errorf("%s was shown:\n%s", secret, s.out)
		}
	}
	if !s.echoes() {
		t.Error("the terminal shows nothing of what is typed")
	}
	text := n.read(n.file())
	for _, line := range []string{
		`timezone = "Europe/Berlin"`, `[telegram]`, `token_file = "telegram.token"   # mode 0600; relative to this file`, `at = "06:45"`, `quiet = "23:00-07:00"`,
		`source = "plan:plan.md"`, `agent = "demo"`, `  "sh ./verify.sh",  # yours`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("it has no line %s:\n%s", line, text)
		}
	}
	if strings.Contains(text, n.phone.Token()) || n.read(n.token()) != n.phone.Token()+"\n" {
		t.Errorf("the token is not where it belongs:\n%s", text)
	}
	if info, err := os.Stat(n.token()); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func (n newcomer) read(file string) string {
	n.T.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		n.T.Fatal(err)
	}
	return string(data)
}

// questions are those of an interview in order, with an answer that goes on.
func (n newcomer) questions() [][2]string {
	return [][2]string{
		{`Where are the tasks`, ""},
		{`Which agent works`, "demo"},
		{`What prepares`, "true"},
		{``, ""}, // a second command
		{`What proves`, ""},
		{`The phone`, n.phone.Token()},
		{`By which clock`, ""},
		{`summary come`, ""},
		{`nothing ring`, ""},
	}
}

// TestInitInterrupted ends the interview at each of its questions: by Ctrl-C, by Ctrl-D
// and by a terminal that goes away. Nothing is written, and the terminal echoes again.
func TestInitInterrupted(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	before := n.tree()
	end := func(at int, key string) {
		t.Helper()
		s := n.init(100)
		for _, q := range n.questions()[:at] {
			s.answer(q[0], q[1])
		}
		s.after(n.questions()[at][0] + `[^>]*> `)
		s.press(key)
		s.after(`– Ended, and nothing was written\.\r\n`)
		s.awaitExit(130)
		if !s.echoes() {
			t.Errorf("question %d, %q: the terminal shows nothing of what is typed", at, key)
		}
		if got := n.tree(); got != before {
			t.Errorf("question %d, %q: was\n%s\nis\n%s", at, key, before, got)
		}
	}
	for at := range n.questions() {
		end(at, "\x03")
	}
	end(1, "\x04")
	end(5, "\x04")
	// A refused token, and then Ctrl-C.
	s := n.init(100)
	for _, q := range n.questions()[:5] {
		s.answer(q[0], q[1])
	}
	s.answer(`The phone`, "x")
	s.after(`Once more, or Enter alone: later\.\r\n  > `)
	s.press("\x03")
	s.awaitExit(130)
	if got := n.tree(); got != before {
		t.Errorf("was\n%s\nis\n%s", before, got)
	}
}

// tree lists the files of the machine, but for those of git.
func (n newcomer) tree() string {
	n.T.Helper()
	var all []string
	err := filepath.WalkDir(n.Dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return filepath.SkipDir
		}
		all = append(all, path)
		return err
	})
	if err != nil {
		n.T.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// TestInitNarrow answers with Enter alone, in a terminal of 20 columns. No question is
// wider; the phone is for later, and the next command says so.
func TestInitNarrow(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	n.Out("git", "-C", "repo", "rm", "-q", "plan.md")
	n.Out("git", "-C", "repo", "commit", "-qm", "No plan")
	s := n.init(20, "--agent", "demo")
	s.answer(`Where are the`, "")
	s.answer(`Write it, with`, "")
	s.answer(`What prepares`, "")
	s.answer(`What proves`, "")
	s.answer(`The phone`, "")
	asked := len(s.out.String())
	s.after(`✓ Wrote .*/nightporter\.toml\r\n✓ Wrote .*/first\.md: change it as you like`)
	s.after(`ready to`)
	s.after(`Next: nightporter run\r\n`)
	s.awaitExit(0)
	for line := range strings.Lines(s.out.String()[:asked]) {
		if line = strings.TrimRight(line, "\r\n"); width.Of(line) > 20 {
			t.Errorf("%q is wider than 20 columns", line)
		}
	}
	if text := n.read(n.file()); !strings.Contains(text, "\n# [telegram]\n") || !strings.Contains(text, "\n# [digest]\n") {
		t.Error(text)
	}
}

// TestInitExisting runs the interview where a configuration is: it adds the project if it
// may, asks for what the file lacks, and keeps every byte that was there.
func TestInitExisting(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	const was = "timezone = \"Europe/Berlin\"\n# mine"
	if err := os.WriteFile(n.file(), []byte(was), 0o644); err != nil {
		t.Fatal(err)
	}
	s := n.init(200)
	s.answer(`\? .*/nightporter\.toml is there\. Add repo to it\? \[yes\]`, "nein")
	s.answer(`✗ type yes or no`, "n")
	s.after(`(?s)was left as it is.*\[\[project\]\]`)
	s.awaitExit(0)
	if got := n.read(n.file()); got != was {
		t.Error(got)
	}
	s = n.init(200)
	s.answer(`Add repo to it`, "")
	s.answer(`Where are the tasks`, "")
	s.answer(`Which agent works`, "demo")
	s.answer(`What prepares`, "")
	s.answer(`What proves`, "")
	s.answer(`The phone`, "")
	s.after(`✓ Appended to .*/nightporter\.toml`)
	s.after(`Next: nightporter run --repo|Next: nightporter run\r\n`)
	s.awaitExit(0)
	one := n.read(n.file())
	if !strings.HasPrefix(one, was+"\n") || strings.Contains(one, "[telegram]") {
		t.Error(one)
	}

	// Later, with the project in it: the phone alone.
	s = n.init(200)
	s.after(`✓ project +repo is in .*/nightporter\.toml already`)
	s.answer(`The phone`, n.phone.Token())
	s.answer(`summary come`, "-")
	s.answer(`nothing ring`, "22:00-06:00")
	s.after(`✓ Appended to`)
	s.answer(`Start nightporter here now`, "n")
	s.after(`Next: nightporter up --pair\r\n`)
	s.awaitExit(0)
	two := n.read(n.file())
	if !strings.HasPrefix(two, one) || !strings.Contains(two, "\n[telegram]\n") || !strings.Contains(two, "\nquiet = \"22:00-06:00\"\n") || strings.Contains(two, "\nat =") {
		t.Error(two)
	}
	// With all of it there, nothing is asked and nothing written.
	s = n.init(200)
	s.answer(`Start nightporter here now`, "n")
	s.awaitExit(0)
	if strings.Contains(s.out.String(), "nothing is written") {
		t.Error(s.out)
	}
	if got := n.read(n.file()); got != two {
		t.Error(got)
	}
}

// TestInitLogin offers the agent's login that the home has, and copies it only after a
// yes. A nightporter that runs is not started again.
func TestInitLogin(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	for name, text := range map[string]string{
		"path/claude":                    "#!/bin/sh\nexit 1\n",
		"home/.claude/.credentials.json": fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"sk-ant-oat01-a","refreshToken":"sk-ant-ort01-b","expiresAt":%d,"scopes":["user:inference"]}}`, time.Now().Add(time.Hour).UnixMilli()),
	} {
		if err := os.MkdirAll(filepath.Dir(n.Path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(n.Path(name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	kept := filepath.Join(n.State(), "logins", "claude")
	for _, c := range []struct {
		answer string
		copied bool
	}{{"n", false}, {"", true}} {
		s := n.init(200)
		s.answer(`Where are the tasks`, "")
		s.answer(`Which agent works\? \[claude\]`, "")
		s.answer(`What prepares`, "")
		s.answer(`What proves`, "")
		s.answer(`The phone`, "")
		s.answer(`\? May claude's sessions log in with [^\n]*\? They get a copy\.`, c.answer)
		s.after(`✓ Wrote `)
		s.awaitExit(1) // the agent is a stand-in
		if _, err := os.Stat(kept); (err == nil) != c.copied {
			t.Errorf("%q: %v\n%s", c.answer, err, s.out)
		}
		if !strings.Contains(s.out.String(), "Mend what is marked, then: nightporter run --check") {
			t.Error(s.out)
		}
		if err := os.Remove(n.file()); err != nil {
			t.Fatal(err)
		}
	}

	p, err := n.Machine.Start(nil, "up")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	awaitOutput(t, p, "is up")
	s := n.init(200, "--agent", "demo")
	s.answer(`Where are the tasks`, "")
	s.answer(`What prepares`, "")
	s.answer(`What proves`, "")
	s.answer(`The phone`, "")
	s.after(`! nightporter runs already \(pid \d+\)\. To let it know: kill -HUP \d+`)
	s.awaitExit(0)
}
