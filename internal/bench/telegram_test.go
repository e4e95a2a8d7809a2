package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/bot/transport"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
)

// busy is an agent that calls nightporter and says something ten times a
// second.
const busy = "#!/bin/sh\nwhile :; do hat task list; sleep 0.1; done\n"

// BenchmarkTelegram is what a person on the phone waits for: from the moment
// when the server has their message until it has the reply, through the real
// `nightporter up`, while an agent calls hat ten times a second. Six people in
// private chats take turns, half with /guidance, half with /status, slow enough
// that no reply waits for the platform's rate.
//
// Baseline: the way alone, in turns with it: a bot on the same package
// bot/telegram that answers everything at once and keeps nothing.
func BenchmarkTelegram(b *testing.B) {
	const turns = 60
	for b.Loop() {
	}
	p := startDaemon(b, busy)
	users := []far.User{{ID: 48213377, Name: "Mira"}}
	for n := range 5 {
		users = append(users, far.User{ID: int64(51120934 + n), Name: fmt.Sprintf("Ben %d", n+1)})
	}
	for _, u := range users {
		p.pair(u)
	}
	p.session()
	// Everybody was told of everybody who came: that is to be delivered first.
	wait(b, 10*time.Second)
	echo := newEcho(b)
	var all, bare []time.Duration
	took := map[string][]time.Duration{}
	for n := range turns {
		u, kind, text := users[n%len(users)], "status", "/status"
		if n/len(users)%2 == 0 {
			kind, text = "guidance", "/guidance Sums are rounded once, at the end."
		}
		wait(b, 350*time.Millisecond)
		bare = append(bare, answered(b, echo, u, text))
		d := answered(b, p.far, u, text)
		all, took[kind] = append(all, d), append(took[kind], d)
	}
	middle, high, most := tail(all)
	way, _, _ := tail(bare)
	b.ReportMetric(ms(middle), "reply-ms")
	b.ReportMetric(ms(high), "reply-p99-ms")
	b.ReportMetric(ms(most), "max-ms")
	b.ReportMetric(ms(way), "way-ms")
	b.ReportMetric(float64(middle)/float64(way), "reply/way")
	for kind, each := range took {
		p50, _, _ := tail(each)
		b.ReportMetric(ms(p50), kind+"-ms")
	}
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
}

// hung is an agent that says nothing, reads nothing and does not heed SIGTERM.
const hung = "#!/bin/sh\ntrap '' TERM\nexec sleep 600\n"

// untilFree is the time in which all that one command causes in a chat is sent
// at the platform's rate: the reply, edits, the pin of a new status. The next
// reply then does not wait for its turn.
const untilFree = 4 * time.Second

// BenchmarkHang is `nightporter up` beside an agent that hangs. First what the daemon takes while it only waits, with
// Telegram connected by long polling and a status that keeps itself up to date
// in a chat, read as in BenchmarkIdle; figures as there: below 0.05 s of CPU a
// minute and 40 MB. Then how long replies take, in seconds, from the server's
// having the message to its having the reply; figure: 2 s. After /stop now the
// session is gone when its grace is over.
func BenchmarkHang(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("what a process takes is read from Linux's /proc")
	}
	for b.Loop() {
	}
	p, mira := startDaemon(b, hung), far.User{ID: 48213377, Name: "Mira"}
	p.pair(mira)
	p.session()
	answered(b, p.far, mira, "/status")
	wait(b, 5*time.Second) // until all that belongs to a start is over

	polls, before := len(p.far.Calls("getUpdates")), cpu(b, p.cmd.Process.Pid)
	began := time.Now()
	wait(b, time.Minute) // longer than a long poll
	minutes := time.Since(began).Minutes()
	b.ReportMetric((cpu(b, p.cmd.Process.Pid)-before).Seconds()/minutes, "cpu-s/min")
	b.ReportMetric(memory(b, p.cmd.Process.Pid), "rss-MB")
	b.ReportMetric(float64(len(p.far.Calls("getUpdates"))-polls), "polls")
	if !p.far.Polling() {
		b.Error("nobody polls: this was a daemon without Telegram")
	}

	var status []time.Duration
	for range 10 {
		wait(b, untilFree)
		status = append(status, answered(b, p.far, mira, "/status"))
	}
	middle, _, most := tail(status)
	b.ReportMetric(middle.Seconds(), "status-s")
	b.ReportMetric(most.Seconds(), "status-max-s")
	wait(b, untilFree)
	b.ReportMetric(answered(b, p.far, mira, "/stop").Seconds(), "stop-s")
	wait(b, untilFree)
	if len(supervisors(b, p.state)) == 0 {
		b.Error("the session ended by itself: it did not hang")
	}
	began = time.Now()
	b.ReportMetric(answered(b, p.far, mira, "/stop now").Seconds(), "stop-now-s")
	for len(supervisors(b, p.state)) > 0 {
		if time.Since(began) > time.Minute {
			b.Fatal("the session is not ended by /stop now")
		}
		wait(b, 10*time.Millisecond)
	}
	b.ReportMetric(time.Since(began).Seconds(), "session-gone-s")
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
}

// answered is how long somebody waits for the reply to what they say.
func answered(b *testing.B, s *far.Server, u far.User, text string) time.Duration {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 30*time.Second)
	defer cancel()
	began := time.Now()
	said := s.Say(u, u.ID, text)
	_, err := s.WaitFor(ctx, u.ID, func(c far.Chat) bool {
		// A status is a message of its own; all else is a reply.
		_, ok := c.Find(func(m far.Message) bool { return m.Bot && (m.ReplyTo == said || text == "/status" && m.ID > said) })
		return ok
	})
	if err != nil {
		b.Fatalf("no reply to %q: %v", text, err)
	}
	return time.Since(began)
}

// bots counts the bots of all servers: of each token only one may poll.
var bots atomic.Int64

func newFar(b *testing.B) *far.Server {
	b.Helper()
	s, err := far.Start(far.Options{Rates: true, Token: fmt.Sprintf("%d%03d:AAE-far-end-of-the-figures_0123456789ab", os.Getpid(), bots.Add(1))})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return s
}

// newEcho is the way to the platform and back, with nothing at its end.
func newEcho(b *testing.B) *far.Server {
	b.Helper()
	s := newFar(b)
	tg, err := telegram.New(telegram.Options{Token: transport.Secret(s.Token()), API: s.URL()})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	e := &echo{bot: tg}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = tg.Poll(ctx, e.cursor, e) // says why ctx ended
	}()
	b.Cleanup(func() {
		cancel()
		<-done
	})
	return s
}

type echo struct {
	bot *telegram.Bot

	mu   sync.Mutex
	read string
}

func (e *echo) cursor(context.Context) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.read, nil
}

// Receive answers at once.
func (e *echo) Receive(ctx context.Context, in bot.Inbound) error {
	_, err := e.bot.Send(ctx, in.Chat, bot.Message{Lines: []bot.Line{{Text: in.Text}}}, bot.SendOptions{ReplyTo: in.Message, Silent: true})
	if err == nil && in.Cursor != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.read = in.Cursor.Value
	}
	return err
}

// daemonProcess is a `nightporter up` with one project, whose run starts by
// itself, and a fake Telegram.
type daemonProcess struct {
	b        *testing.B
	far      *far.Server
	bin      string
	dir      string // of all its files
	state    string
	projects []string
	env      []string
	cmd      *exec.Cmd
	out      *output
}

func startDaemon(b *testing.B, agent string) *daemonProcess {
	b.Helper()
	return startDaemonWith(b, agent, func(string) string { return "" })
}

// startDaemonWith is startDaemon with more lines of configuration. They may name
// files that more puts into dir, the folder of all.
func startDaemonWith(b *testing.B, agent string, more func(dir string) string) *daemonProcess {
	b.Helper()
	bin := program(b, "nightporter", "./cmd/nightporter", true)
	if err := os.Rename(program(b, "hat", "./cmd/hat", false), filepath.Join(filepath.Dir(bin), "hat")); err != nil {
		b.Fatal(err)
	}
	dir := shared(b)
	p := &daemonProcess{b: b, dir: dir, projects: []string{"shop"}, far: newFar(b), bin: bin, state: filepath.Join(dir, "state"), out: &output{}}
	p.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + os.TempDir(), "TZ=UTC", "LANG=C.UTF-8"}
	repo, conf := filepath.Join(dir, "shop"), filepath.Join(dir, "nightporter.toml")
	repository(b, repo, repoFolders)
	for _, f := range []struct {
		name, text string
		mode       os.FileMode
	}{
		{"agent", agent, 0o755},
		{"telegram.token", p.far.Token() + "\n", 0o600},
		{"nightporter.toml", fmt.Sprintf(`timezone = "UTC"
max_sessions = 2

[telegram]
token_file = "telegram.token"
api = %q

[agents.mine]
command = ["./agent"]

[[project]]
name = "shop"
repo = %q
source = "plan:plan.md"
profile = "overnight"
agent = "mine"
start = "auto"
%s`, p.far.URL(), repo, more(dir)), 0o600},
	} {
		if err := os.WriteFile(filepath.Join(dir, f.name), []byte(f.text), f.mode); err != nil {
			b.Fatal(err)
		}
	}
	p.cmd = p.command(b.Context(), "up", "--config", conf)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.close)
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	if err := p.far.WaitPolling(ctx); err != nil {
		b.Fatalf("nobody polls: %v\n%s", err, p.out)
	}
	return p
}

// command is one of nightporter that ends by itself, not with the benchmark.
func (p *daemonProcess) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), p.bin, append(args, "--state", p.state)...)
	cmd.Env = p.env
	return cmd
}

// close ends the run with its session, which would outlive the daemon, and
// then the daemon.
func (p *daemonProcess) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if len(supervisors(p.b, p.state)) > 0 {
		for _, project := range p.projects {
			stop := p.command(ctx, "stop", "--now", "--project", project)
			if out, err := stop.CombinedOutput(); err != nil {
				p.b.Errorf("nightporter stop --now: %v\n%s", err, out)
			}
		}
	}
	for len(supervisors(p.b, p.state)) > 0 && ctx.Err() == nil {
		time.Sleep(50 * time.Millisecond)
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		p.b.Errorf("nightporter up: %v\n%s", err, p.out)
	}
}

var codeShown = regexp.MustCompile(`/pair ([2-9A-Z]{4}-[2-9A-Z]{4})`)

// pair lets somebody in.
func (p *daemonProcess) pair(u far.User) {
	p.b.Helper()
	out := &output{}
	cmd := p.command(p.b.Context(), "pair", "--role", "admin")
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		p.b.Fatal(err)
	}
	for patience := 600; ; patience-- {
		if m := codeShown.FindStringSubmatch(out.String()); m != nil {
			answered(p.b, p.far, u, "/start "+m[1])
			break
		}
		if patience == 0 {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			p.b.Fatalf("nightporter pair shows no code:\n%s", out)
		}
		wait(p.b, 50*time.Millisecond)
	}
	if err := cmd.Wait(); err != nil {
		p.b.Fatalf("nightporter pair: %v\n%s", err, out)
	}
}

// session waits until an agent is at work.
func (p *daemonProcess) session() {
	p.b.Helper()
	for patience := 600; len(supervisors(p.b, p.state)) == 0; patience-- {
		if patience == 0 {
			p.b.Fatalf("no session was started:\n%s", p.out)
		}
		wait(p.b, 100*time.Millisecond)
	}
}

// output is what a program says, which can be read while it runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(slices.Clone(o.text.Bytes()))
}
