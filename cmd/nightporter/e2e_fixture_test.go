//go:build e2e

package main_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"

	_ "github.com/mattn/go-sqlite3"

	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/programtest"
)

var killSeed = flag.Uint64("kill.seed", 0, "seed of the random kills; 0 = a new one")

// People in these tests. Each test pairs those that it needs.
var (
	mira     = telegram.User{ID: 48213377, Name: "Mira"}
	ben      = telegram.User{ID: 51120934, Name: "Ben"}
	stranger = telegram.User{ID: 99120045, Name: "Somebody"}
)

// nightFixture is one person's machine with real components: the released
// programs, a git repository, SQLite, the kernel's boundary, and Claude Code
// from npm. Only the remote services are fakes, on 127.0.0.1: Telegram, and the
// model that Claude Code calls.
//
// Every process has an environment of its own, with invented keys.
type nightFixture struct {
	t *testing.T
	programtest.Machine
	far    *telegram.Server
	models *models.Server
	daemon *programtest.Process // `nightporter up`, nil while it is off
	errs   []*programtest.Buffer

	mu     sync.Mutex
	gates  map[string]*modelGate
	faults map[string][]func() models.Fault // by task and hat, for future sessions
	struck map[string]*models.Fault         // by the agent's own session id
}

// botCount is the number of bots of all tests.
var botCount atomic.Int64

// nightOptions holds a test's differences from the default fixture.
type nightOptions struct {
	script   func(*nightFixture, models.Request) models.Turn // nil: the model for the six tasks
	telegram telegram.Options
	token    string // token in the file, "" = the valid one
	project  string // additional lines of the project's table
	top      string // additional lines at the configuration's top
	agent    string // additional lines of the agent's table
	env      string // additional lines of the agent's env_file
}

func newNightFixture(t *testing.T, s nightOptions) *nightFixture {
	t.Helper()
	claude := os.Getenv("NIGHTPORTER_CLAUDE")
	if claude == "" {
		t.Fatal("NIGHTPORTER_CLAUDE does not name a Claude Code: run make e2e")
	}
	dir, err := os.MkdirTemp(programtest.WorkDir(), "e") //nolint:usetesting // sessions run as another user, and have to get there
	if err != nil {
		t.Fatal(err)
	}
	e := &nightFixture{t: t, Machine: programtest.Machine{Dir: dir}, gates: map[string]*modelGate{}, faults: map[string][]func() models.Fault{}, struck: map[string]*models.Fault{}}
	t.Cleanup(e.CleanUp)
	// Each test has a bot of its own, because two daemons with one bot are
	// refused.
	s.telegram.Token = fmt.Sprintf("%d:AAE-far-end-of-the-tests_0123456789abc", 7123456789+botCount.Add(1))
	if e.far, err = telegram.Start(s.telegram); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.far.Close)
	if s.script == nil {
		s.script = (*nightFixture).sixTasks
	}
	e.models = models.Start(t, func(r models.Request) models.Turn { return s.script(e, r) })
	if s.token == "" {
		s.token = e.far.Token()
	}
	for _, d := range []string{"home", "state", "config/nightporter", "notes"} {
		e.noError(os.MkdirAll(e.Path(d), 0o755))
	}
	e.noError(os.Chmod(e.Path("notes"), 0o777)) // sessions write here as their own user
	e.noError(os.CopyFS(e.Path("repo"), os.DirFS("testdata/e2e/shop")))
	e.noError(e.Repo("repo"))
	for name, text := range map[string]string{
		"telegram.token": s.token + "\n",
		"claude.env":     "ANTHROPIC_BASE_URL=" + e.models.URL() + "\n" + s.env,
		"claude.token":   "sk-ant-oat01-made-up\n",
		"nightporter.toml": `timezone = "UTC"
` + s.top + `
[telegram]
token_file = "telegram.token"
api = "` + e.far.URL() + `"

[agents.claude]
env_file = "claude.env"
` + s.agent + `

[[project]]
name = "shop"
repo = "` + e.Path("repo") + `"
source = "plan:.agents/plans/in-progress/checkout.md"
profile = "overnight"
agent = "claude"
verify = ["sh ./test.sh"]
shared = ["` + e.Path("notes") + `"]
` + s.project,
	} {
		e.noError(os.WriteFile(e.Path("config", "nightporter", name), []byte(text), 0o600))
	}
	t.Logf("$ nightporter login claude --token-file FILE\n%s", e.runCommand("login", "claude", "--token-file", e.Path("config", "nightporter", "claude.token")))
	t.Cleanup(func() {
		if e.daemon != nil {
			e.daemon.Kill()
		}
		for _, c := range e.chats() {
			t.Logf("chat %d:\n%s", c, e.far.Transcript(c))
		}
		if t.Failed() {
			for n, r := range e.errs {
				t.Logf("nightporter up, %d of %d:\n%s", n+1, len(e.errs), tail(r.String(), 6000))
			}
		}
	})
	return e
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// chats returns the chats that have messages.
func (e *nightFixture) chats() []int64 {
	return slices.DeleteFunc([]int64{mira.ID, ben.ID, stranger.ID, -100500}, func(id int64) bool { return len(e.far.Chat(id).Messages) == 0 })
}

// Env returns the environment of every program. Claude Code is on PATH, as npm
// installs it.
func (e *nightFixture) Env(extra ...string) []string {
	env := e.Machine.Env(extra...)
	env[0] = "PATH=" + strings.Join([]string{programtest.BinDir(), filepath.Dir(os.Getenv("NIGHTPORTER_CLAUDE")), "/usr/local/bin:/usr/bin:/bin"}, ":")
	return env
}

func (e *nightFixture) noError(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// deadline returns a context that limits each wait. It costs nothing in a
// passing test, and no test measures durations.
func (e *nightFixture) deadline() context.Context {
	ctx, cancel := context.WithTimeoutCause(e.t.Context(), 2*programtest.Patience, fmt.Errorf("it did not come in %s", 2*programtest.Patience))
	e.t.Cleanup(cancel)
	return ctx
}

// up starts the daemon.
func (e *nightFixture) up() {
	e.t.Helper()
	p, err := e.begin()
	e.noError(err)
	e.daemon = p
	e.errs = append(e.errs, p.Out)
}

func (e *nightFixture) begin() (*programtest.Process, error) {
	cmd := e.Command(context.Background(), "nightporter", "up")
	cmd.Env = e.Env()
	p := &programtest.Process{Cmd: cmd, Out: &programtest.Buffer{}, Done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.Out, p.Out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // the exit code is in ProcessState
		close(p.Done)
	}()
	return p, nil
}

// down ends the daemon as systemd does, and returns its exit code.
func (e *nightFixture) down() int {
	e.t.Helper()
	e.noError(e.daemon.Cmd.Process.Signal(syscall.SIGTERM))
	code, err := e.daemon.Wait()
	e.noError(err)
	e.daemon = nil
	return code
}

// runCommand runs a command of nightporter and returns its output.
func (e *nightFixture) runCommand(args ...string) string {
	e.t.Helper()
	out, err := e.tryCommand(args...)
	if err != nil {
		e.t.Fatalf("nightporter %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (e *nightFixture) tryCommand(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(e.t.Context(), programtest.Patience)
	defer cancel()
	cmd := e.Command(ctx, "nightporter", args...)
	cmd.Env = e.Env()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

var codeLine = regexp.MustCompile(`/pair ([2-9A-Z]{4}-[2-9A-Z]{4})`)

// pair pairs a person as on a real host: `nightporter pair` shows the code, and
// the person sends it to the bot.
func (e *nightFixture) pair(who telegram.User, role string) {
	e.t.Helper()
	cmd := e.Command(e.t.Context(), "nightporter", "pair", "--role", role)
	cmd.Env = e.Env()
	p := &programtest.Process{Cmd: cmd, Out: &programtest.Buffer{}, Done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.Out, p.Out
	e.noError(cmd.Start())
	go func() { _ = cmd.Wait(); close(p.Done) }()
	var code string
	e.noError(programtest.WaitFor("the code of nightporter pair", func() (bool, error) {
		if m := codeLine.FindStringSubmatch(p.Out.String()); m != nil {
			code = m[1]
			return true, nil
		}
		select {
		case <-p.Done:
			return false, fmt.Errorf("nightporter pair ended:\n%s", p.Out)
		default:
			return false, nil
		}
	}))
	e.far.Say(who, who.ID, "/start "+code)
	e.awaitMessage(who, "paired as "+role)
	if exit, err := p.Wait(); err != nil || exit != 0 {
		e.t.Fatalf("nightporter pair: exit %d, %v\n%s", exit, err, p.Out)
	}
	e.t.Logf("$ nightporter pair --role %s\n%s", role, p.Out)
}

// ready waits until the daemon's operator socket answers.
func (e *nightFixture) ready() {
	e.t.Helper()
	e.noError(programtest.WaitFor("nightporter up", func() (bool, error) {
		select {
		case <-e.daemon.Done:
			return false, fmt.Errorf("nightporter up ended:\n%s", e.daemon.Out)
		default:
		}
		return strings.Contains(e.daemon.Out.String(), "is up"), nil
	}))
}

// --- what people see and do ---

// awaitMessage waits until the bot has sent a message with all the texts to the
// person's chat, and returns the newest such message.
func (e *nightFixture) awaitMessage(who telegram.User, texts ...string) telegram.Message {
	e.t.Helper()
	return e.awaitIn(who, texts, func(m telegram.Message) bool { return m.From.Bot })
}

// sayAndAwait sends a line and waits for a later message with the texts.
func (e *nightFixture) sayAndAwait(who telegram.User, line string, texts ...string) telegram.Message {
	e.t.Helper()
	said := e.far.Say(who, who.ID, line)
	return e.awaitIn(who, texts, func(m telegram.Message) bool { return m.From.Bot && m.ID > said })
}

// awaitEdit waits until an edited message contains the texts.
func (e *nightFixture) awaitEdit(who telegram.User, id int, texts ...string) telegram.Message {
	e.t.Helper()
	return e.awaitIn(who, texts, func(m telegram.Message) bool { return m.ID == id })
}

func (e *nightFixture) awaitIn(who telegram.User, texts []string, is func(telegram.Message) bool) telegram.Message {
	e.t.Helper()
	var found telegram.Message
	_, err := e.far.WaitFor(e.deadline(), who.ID, func(c telegram.Chat) (ok bool) {
		found, ok = c.Find(func(m telegram.Message) bool { return is(m) && holdsAll(m, texts) })
		return ok
	})
	if err != nil {
		e.t.Fatalf("no message with %q: %v", texts, err)
	}
	return found
}

func holdsAll(m telegram.Message, texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(m.Text, text) })
}

// press presses a button of the newest message that contains the texts.
func (e *nightFixture) press(who telegram.User, label string, texts ...string) telegram.Message {
	e.t.Helper()
	m := e.awaitRecorded(who, texts...)
	if _, err := e.far.Press(who, who.ID, m.ID, label); err != nil {
		e.t.Fatalf("%v; the message:\n%s", err, m.Text)
	}
	return m
}

// reply answers the newest message that contains the texts.
func (e *nightFixture) reply(who telegram.User, text string, texts ...string) {
	e.t.Helper()
	e.far.Reply(who, who.ID, e.awaitRecorded(who, texts...).ID, text)
}

// awaitRecorded waits for a message with the texts, and until the daemon has
// recorded that it was sent. A person is never faster than the record, but a
// test is. After a repetition it returns the later copy.
func (e *nightFixture) awaitRecorded(who telegram.User, texts ...string) telegram.Message {
	e.t.Helper()
	db := e.database()
	var m telegram.Message
	e.noError(programtest.WaitFor(fmt.Sprintf("a message with %q that is noted as sent", texts), func() (bool, error) {
		m = e.awaitMessage(who, texts...)
		var n int
		err := db.QueryRow(`SELECT count(*) FROM messages WHERE chat = ? AND platform = ?`, fmt.Sprintf("telegram:%d", who.ID), fmt.Sprint(m.ID)).Scan(&n)
		return n > 0, err
	}))
	return m
}

// database opens nightporter's database for reading.
func (e *nightFixture) database() *sql.DB {
	e.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(e.State(), "nightporter.db")+"?mode=ro&_busy_timeout=5000")
	e.noError(err)
	e.t.Cleanup(func() { _ = db.Close() })
	return db
}

// --- sessions that are held ---

// modelGate delays the model's answer until the test opens it.
type modelGate struct {
	arrived, open chan struct{}
	came, went    sync.Once
}

func (e *nightFixture) gate(name string) *modelGate {
	e.mu.Lock()
	defer e.mu.Unlock()
	g := e.gates[name]
	if g == nil {
		g = &modelGate{arrived: make(chan struct{}), open: make(chan struct{})}
		e.gates[name] = g
	}
	return g
}

// hold makes the model delay its first answer to a hat at a task, such as "Task
// 3 planner", until release. Call it before that session starts.
func (e *nightFixture) hold(names ...string) {
	for _, name := range names {
		e.gate(name)
	}
	e.t.Cleanup(func() { e.release(names...) })
}

// awaitHeld waits until that session calls the model.
func (e *nightFixture) awaitHeld(name string) {
	e.t.Helper()
	select {
	case <-e.gate(name).arrived:
	case <-e.deadline().Done():
		e.t.Fatalf("%s never came; the chat:\n%s", name, e.far.Transcript(mira.ID))
	}
}

func (e *nightFixture) release(names ...string) {
	for _, name := range names {
		g := e.gate(name)
		g.went.Do(func() { close(g.open) })
	}
}

// gateFunc returns the function that a turn calls before it answers.
func (e *nightFixture) gateFunc(name string) func() {
	e.mu.Lock()
	g := e.gates[name]
	e.mu.Unlock()
	if g == nil {
		return nil
	}
	return func() {
		g.came.Do(func() { close(g.arrived) })
		<-g.open
	}
}

// --- what the ledger and the repository say ---

// entry is a line of `nightporter replay --export`.
type entry struct {
	Stream  string          `json:"stream"`
	Seq     int64           `json:"seq"`
	Time    time.Time       `json:"time"`
	Type    string          `json:"type"`
	Task    string          `json:"task"`
	Session string          `json:"session"`
	Actor   string          `json:"actor"`
	Body    json.RawMessage `json:"body"`
}

// ledger returns all entries of the ledger.
func (e *nightFixture) ledger() []entry {
	e.t.Helper()
	file := e.Path(fmt.Sprintf("ledger-%d.jsonl", time.Now().UnixNano()))
	e.runCommand("replay", "--export", file)
	data, err := os.ReadFile(file)
	e.noError(err)
	e.noError(os.Remove(file))
	var out []entry
	for line := range strings.Lines(string(data)) {
		var x entry
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			e.t.Fatalf("%v in %.300s", err, line)
		}
		if x.Type != "" {
			out = append(out, x)
		}
	}
	return out
}

// bodies returns the bodies of all entries of type B.
func bodies[B ledger.Body](e *nightFixture, ledgerStore []entry) []B {
	e.t.Helper()
	var out []B
	for _, x := range ledgerStore {
		var b B
		if x.Type != b.EntryType() {
			continue
		}
		if err := json.Unmarshal(x.Body, &b); err != nil {
			e.t.Fatalf("entry %d of %s: %v in %s", x.Seq, x.Stream, err, x.Body)
		}
		out = append(out, b)
	}
	return out
}

// git runs git in the person's repository.
func (e *nightFixture) git(args ...string) string {
	e.t.Helper()
	out, code, err := e.Output("git", append([]string{"-C", e.Path("repo")}, args...)...)
	if err != nil || code != 0 {
		e.t.Fatalf("git %s: exit %d, %v\n%s", args[0], code, err, out)
	}
	return strings.TrimSpace(out)
}
