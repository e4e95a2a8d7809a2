package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Files of a stored login of Claude Code.
const (
	claudeOAuth = "credentials.json"
	claudeToken = "token"
	claudeKey   = "key"
)

// madeLogin returns a .credentials.json in Claude Code's format.
func madeLogin(access, refresh string, expires int64) []byte {
	return fmt.Appendf(nil, `{"claudeAiOauth":{"accessToken":%q,"refreshToken":%q,"expiresAt":%d,"scopes":["user:inference"],"subscriptionType":"max"}}`, access, refresh, expires)
}

// replaceClaude replaces Claude Code's program by a shell script. Its login and
// the reading of its output stay the same.
func (h *fixture) replaceClaude(text string) {
	h.t.Helper()
	h.script(text)
	d := h.runner.o.Agents["mine"]
	d.Name, d.Output = adapter.Claude, adapter.Claude
	h.runner.o.Agents[adapter.Claude] = d
}

func (h *fixture) login(files map[string][]byte) {
	h.t.Helper()
	if err := SaveLogin(h.state, adapter.Claude, files); err != nil {
		h.t.Fatal(err)
	}
}

func (h *fixture) kept() map[string]string {
	h.t.Helper()
	files, err := readLogin(loginDir(h.state, adapter.Claude))
	if err != nil {
		h.t.Fatal(err)
	}
	out := map[string]string{}
	for name, data := range files {
		out[name] = string(data)
	}
	return out
}

func (h *fixture) agentSession(session string) ledger.Exit {
	h.t.Helper()
	l := h.launch(session)
	l.Agent = adapter.Claude
	h.start(l)
	return h.wait(session)
}

const account = "~/.claude/.credentials.json"

// TestLoginCopiedIn: only the session reads the account's tokens. It does not
// see the folder of logins, and verification commands find no token.
func TestLoginCopiedIn(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		first := madeLogin("sk-ant-oat01-a", "sk-ant-ort01-a", 1000)
		h.login(map[string][]byte{claudeOAuth: first})
		dir := loginDir(h.state, adapter.Claude)
		h.replaceClaude(`cat ` + account + `; stat -c ' %a' ` + account + `; ls ` + dir + ` 2>/dev/null
			[ "$(stat -c %u ` + account + `)" = "$(id -u)" ] || echo "not its own"`)
		x := h.agentSession("r1-1")
		if !strings.HasPrefix(x.Tail, string(first)+" 600\n") {
			t.Errorf("it found: %s", x.Tail)
		}
		if strings.Contains(x.Tail, claudeOAuth) && level > 1 {
			t.Errorf("it saw the folder of logins: %s", x.Tail)
		}
		if strings.Contains(x.Tail, "not its own") {
			t.Errorf("the file belongs to somebody else: %s", x.Tail)
		}
		if _, err := os.Stat(filepath.Join(h.runner.folder("r1-1"), dirBox, boxHome)); err == nil {
			t.Error("its HOME is still there")
		}
		l := h.launch("r1-c1")
		l.Kind, l.Agent, l.Command = ledger.KindVerify, adapter.Claude, `ls -a ~; env; cat `+dir+`/*`
		h.start(l)
		if x := h.wait("r1-c1"); strings.Contains(x.Tail, "sk-ant") && level > 1 || strings.Contains(x.Tail, "\n.claude\n") {
			t.Errorf("a verification found it: %s", x.Tail)
		}
	})
}

// TestLoginVariable: a login with a single secret becomes a variable, and a key
// that the person has configured overrides it.
func TestLoginVariable(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 0)
	for n, c := range []struct {
		file, text, env, want string
	}{
		{claudeToken, "sk-ant-oat01-t", "", "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-t"},
		{claudeKey, "sk-ant-api03-k", "", "ANTHROPIC_API_KEY=sk-ant-api03-k"},
		{claudeKey, "sk-ant-api03-k", "ANTHROPIC_API_KEY=", "ANTHROPIC_API_KEY=sk-ant-api03-k"},
		{claudeToken, "sk-ant-oat01-t", "ANTHROPIC_API_KEY=own", "ANTHROPIC_API_KEY=own"},
		{claudeToken, "sk-ant-oat01-t", "ANTHROPIC_AUTH_TOKEN=own", "ANTHROPIC_AUTH_TOKEN=own"},
	} {
		h.login(map[string][]byte{c.file: []byte(c.text + "\n")})
		h.replaceClaude(`env | grep -E '^(ANTHROPIC|CLAUDE_CODE_OAUTH)'; ls -a ~ | grep claude`)
		d := h.runner.o.Agents[adapter.Claude]
		d.EnvFile = filepath.Join(h.out, "env")
		if err := os.WriteFile(d.EnvFile, []byte(c.env), 0o600); err != nil {
			t.Fatal(err)
		}
		h.runner.o.Agents[adapter.Claude] = d
		if x := h.agentSession(fmt.Sprintf("r1-%d", n+1)); strings.TrimSpace(x.Tail) != c.want {
			t.Errorf("%s with %q: %q, want %q", c.file, c.env, x.Tail, c.want)
		}
		if one, err := h.runner.OneSession(adapter.Claude); one || err != nil {
			t.Errorf("%s with %q allows one session: %v, %v", c.file, c.env, one, err)
		}
	}
}

// TestLoginRenewed: exactly those logins are stored that a session renewed.
func TestLoginRenewed(t *testing.T) {
	t.Parallel()
	old := madeLogin("sk-ant-oat01-a", "sk-ant-ort01-a", 1000)
	newer := madeLogin("sk-ant-oat01-b", "sk-ant-ort01-b", 2000)
	write := func(data []byte) string { return "printf %s '" + string(data) + "' > " + account }
	h := newFixture(t, 0)
	for n, c := range []struct {
		name, script string
		meanwhile    []byte // saved by a person while the session runs
		want         []byte
	}{
		{name: "renewed", script: write(newer), want: newer},
		{name: "renewed by replacing the file", script: strings.Replace(write(newer), account, account+".new", 1) + "; mv " + account + ".new " + account, want: newer},
		{name: "not renewed", script: "true", want: old},
		{name: "older", script: write(madeLogin("sk-ant-oat01-c", "sk-ant-ort01-c", 500)), want: old},
		{name: "no JSON", script: "echo garbage > " + account, want: old},
		{name: "logged out", script: "rm " + account, want: old},
		{name: "without a refresh token", script: write(madeLogin("sk-ant-oat01-d", "", 3000)), want: old},
		{name: "good for ever", script: write(madeLogin("sk-ant-oat01-e", "sk-ant-ort01-e", 1<<53)), want: old},
		{name: "with other things in it", script: write([]byte(strings.Replace(string(newer), "{", `{"mcpOAuth":{"x":1},`, 1))), want: newer},
		{name: "a link", script: write(newer) + "; cp " + account + " ~/b; ln -sf ~/b " + account, want: old},
		{name: "two names", script: write(newer) + "; ln " + account + " ~/b", want: old},
		{name: "a pipe", script: "rm " + account + "; mkfifo " + account, want: old},
		{name: "huge", script: write(newer) + "; head -c 100000 /dev/zero | tr '\\0' ' ' >> " + account, want: old},
		{name: "a link in place of the folder", script: "mv ~/.claude ~/c; " + strings.Replace(write(newer), "~/.claude", "~/c", 1) + "; ln -s / ~/.claude", want: old},
		{name: "a person logged in anew", script: write(newer), meanwhile: madeLogin("sk-ant-oat01-p", "sk-ant-ort01-p", 1500), want: madeLogin("sk-ant-oat01-p", "sk-ant-ort01-p", 1500)},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.login(map[string][]byte{claudeOAuth: old})
			wait := ""
			if c.meanwhile != nil {
				wait = "; touch begun; while [ ! -e go ]; do sleep 0.02; done"
			}
			h.replaceClaude(c.script + wait)
			l := h.launch(fmt.Sprintf("r1-%d", n+1))
			l.Agent = adapter.Claude
			h.start(l)
			if c.meanwhile != nil {
				awaitChange(t, h.work, "the session began", func() bool { _, err := os.Stat(filepath.Join(h.work, "begun")); return err == nil })
				h.login(map[string][]byte{claudeOAuth: c.meanwhile})
				if err := os.WriteFile(filepath.Join(h.work, "go"), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			h.wait(l.Session)
			if d := cmp.Diff(map[string]string{claudeOAuth: string(c.want)}, h.kept()); d != "" {
				t.Errorf("-want +kept:\n%s", d)
			}
		})
	}
}

// TestLoginOneAtATime: two sessions of one account run one after the other, and
// the second uses the login that the first renewed. A waiting session can be
// ended.
func TestLoginOneAtATime(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 0)
	h.login(map[string][]byte{claudeOAuth: madeLogin("sk-ant-oat01-1", "sk-ant-ort01-1", 1000)})
	next := madeLogin("sk-ant-oat01-2", "sk-ant-ort01-2", 2000)
	h.replaceClaude(`echo "$HAT_SESSION" >> order; grep -o 'oat01-[0-9]' ` + account + ` >> order
		[ "$HAT_SESSION" = r1-1 ] || exit 0
		touch begun; while [ ! -e go ]; do sleep 0.02; done
		printf %s '` + string(next) + `' > ` + account)
	if one, err := h.runner.OneSession(adapter.Claude); !one || err != nil {
		t.Errorf("an account allows one session: %v, %v", one, err)
	}
	launch := func(session string) {
		l := h.launch(session)
		l.Agent = adapter.Claude
		h.start(l)
	}
	launch("r1-1")
	awaitChange(t, h.work, "the first began", func() bool { _, err := os.Stat(filepath.Join(h.work, "begun")); return err == nil })
	launch("r1-2")
	launch("r1-3")
	waits := func(session string) bool {
		_, err := os.Stat(filepath.Join(h.runner.folder(session), fileHead))
		return err == nil
	}
	for _, s := range []string{"r1-2", "r1-3"} {
		awaitChange(t, h.runner.folder(s), s+" waits", func() bool { return waits(s) })
	}
	if err := h.runner.End(context.Background(), "r1-3", 0); err != nil {
		t.Fatal(err)
	}
	if x := h.wait("r1-3"); x.Reason != ledger.ExitAsked || !strings.Contains(x.Text, "same login") {
		t.Errorf("the one that was ended: %+v", x)
	}
	if err := os.WriteFile(filepath.Join(h.work, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	first, second := h.wait("r1-1"), h.wait("r1-2")
	order, err := os.ReadFile(filepath.Join(h.work, "order"))
	if err != nil || string(order) != "r1-1\noat01-1\nr1-2\noat01-2\n" {
		t.Errorf("order: %q, %v", order, err)
	}
	if second.Started.Before(first.Started) || second.Code != 0 {
		t.Errorf("%+v, then %+v", first, second)
	}
}

// TestLoginOfLostSession: when a supervisor was killed, the next daemon stores
// the login that the session had renewed.
func TestLoginOfLostSession(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 0)
	next := madeLogin("sk-ant-oat01-2", "sk-ant-ort01-2", 2000)
	h.login(map[string][]byte{claudeOAuth: madeLogin("sk-ant-oat01-1", "sk-ant-ort01-1", 1000)})
	h.replaceClaude(`printf %s '` + string(next) + `' > ` + account + `; touch begun; exec sleep 60`)
	l := h.launch("r1-1")
	l.Agent = adapter.Claude
	h.start(l)
	awaitChange(t, h.work, "the session began", func() bool { _, err := os.Stat(filepath.Join(h.work, "begun")); return err == nil })
	var p pidFile
	if err := readJSON(filepath.Join(h.runner.folder("r1-1"), filePID), &p); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if x := h.wait("r1-1"); x.Reason != ledger.ExitLost {
		t.Errorf("exit: %+v", x)
	}
	if got := h.kept()[claudeOAuth]; got != string(next) {
		t.Errorf("kept: %s", got)
	}
}

// TestLoginStoredLater: a renewed login that could not be stored at the
// session's end stays in its HOME, and the next session with that login stores
// it.
func TestLoginStoredLater(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 0)
	next := madeLogin("sk-ant-oat01-2", "sk-ant-ort01-2", 2000)
	h.login(map[string][]byte{claudeOAuth: madeLogin("sk-ant-oat01-1", "sk-ant-ort01-1", 1000)})
	h.replaceClaude(`touch begun; while [ ! -e go ]; do sleep 0.02; done
		printf %s '` + string(next) + `' > ` + account)
	l := h.launch("r1-1")
	l.Agent = adapter.Claude
	h.start(l)
	awaitChange(t, h.work, "the session began", func() bool { _, err := os.Stat(filepath.Join(h.work, "begun")); return err == nil })
	// This simulates a full disk: no file can be written under the lock.
	lock := filepath.Join(loginDir(h.state, adapter.Claude), loginLock)
	if err := errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700), os.WriteFile(filepath.Join(h.work, "go"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	h.wait("r1-1")
	if h.kept()[claudeOAuth] == string(next) {
		t.Fatal("it was kept all the same")
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	h.replaceClaude(`cp ` + account + ` found`)
	h.agentSession("r1-2")
	if found, err := os.ReadFile(filepath.Join(h.work, "found")); string(found) != string(next) {
		t.Errorf("the next session began with %s, %v", found, err)
	}
	if got := h.kept()[claudeOAuth]; got != string(next) {
		t.Errorf("kept: %s", got)
	}
	if left, err := filepath.Glob(filepath.Join(h.state, "sessions", "*", dirBox, boxHome)); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

func TestSaveLogin(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	if was, err := RemoveLogin(state, adapter.Claude); was || err != nil {
		t.Errorf("nothing there: %v, %v", was, err)
	}
	if err := SaveLogin(state, adapter.Claude, map[string][]byte{claudeOAuth: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if err := SaveLogin(state, adapter.Claude, map[string][]byte{claudeToken: []byte("t")}); err != nil {
		t.Fatal(err)
	}
	files, err := readLogin(loginDir(state, adapter.Claude))
	if len(files) != 1 || string(files[claudeToken]) != "t" || err != nil {
		t.Errorf("kept: %v, %v", files, err)
	}
	err = filepath.WalkDir(filepath.Join(state, "logins"), func(path string, d os.DirEntry, err error) error {
		if info, ierr := d.Info(); err == nil && ierr == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if was, err := RemoveLogin(state, adapter.Claude); !was || err != nil {
		t.Errorf("remove: %v, %v", was, err)
	}
	if files, err := readLogin(loginDir(state, adapter.Claude)); len(files) != 0 || err != nil {
		t.Errorf("left: %v, %v", files, err)
	}
	for _, bad := range []string{"", "..", "a/b", "../x"} {
		if err := SaveLogin(state, bad, nil); err == nil {
			t.Errorf("%q was taken for an agent's name", bad)
		}
	}
}

// TestSaveLoginForAnother: a service account can read a login that root saves
// for it.
func TestSaveLoginForAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give files away")
	}
	state := t.TempDir()
	if err := os.Chown(state, 65533, 65532); err != nil {
		t.Fatal(err)
	}
	if err := SaveLogin(state, adapter.Claude, map[string][]byte{claudeToken: []byte("sk-ant-oat01-t")}); err != nil {
		t.Fatal(err)
	}
	dir := loginDir(state, adapter.Claude)
	for _, path := range []string{filepath.Dir(dir), dir, filepath.Join(dir, claudeToken), filepath.Join(dir, loginLock)} {
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); !ok || st.Uid != 65533 || st.Gid != 65532 || fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %+v, %v", path, st, fi.Mode())
		}
	}
	if err := errors.Join(os.RemoveAll(dir), os.Symlink(t.TempDir(), dir)); err != nil {
		t.Fatal(err)
	}
	if err := SaveLogin(state, adapter.Claude, map[string][]byte{claudeToken: []byte("t")}); err == nil {
		t.Error("it followed a link")
	}
}

// TestClaudeCheck compares the preflight messages about Claude Code.
func TestClaudeCheck(t *testing.T) {
	h := newFixture(t, 0)
	prog := filepath.Join(h.out, "claude")
	put := func(script string) {
		if err := os.WriteFile(prog, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	check := func(name, text, fix string) {
		t.Helper()
		err := h.runner.Check(context.Background(), adapter.Claude)
		var in *ledger.InputError
		if text == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return
		}
		if !errors.As(err, &in) || !strings.Contains(in.Diagnostics[0].Text, text) || !strings.Contains(in.Diagnostics[0].Remedy, fix) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d := BuiltIn()[adapter.Claude]
	h.runner.o.Agents[adapter.Claude] = d
	h.runner.path = []string{h.state}
	check("not installed", "claude was not found on PATH", "npm i -g @anthropic-ai/claude-code")
	h.runner.path = []string{h.out}
	put("echo no such thing >&2; exit 1\n")
	check("broken", "--version failed: exit status 1: no such thing", "npm i -g @anthropic-ai/claude-code")
	put("echo '2.1.329 (Claude Code)'\n[ $# = 1 ] && [ -z \"$ANTHROPIC_API_KEY\" ]\n")
	check("logged out", "agent claude is not logged in", "nightporter login claude")
	if v, err := h.runner.Version(context.Background(), adapter.Claude); v != "2.1.329 (Claude Code)" || err != nil {
		t.Errorf("version: %q, %v", v, err)
	}
	if text := h.runner.Describe(context.Background(), adapter.Claude); text != "2.1.329 (Claude Code); it reports tokens and cost" {
		t.Errorf("described as %q", text)
	}
	h.login(map[string][]byte{claudeToken: []byte("sk-ant-oat01-t")})
	check("logged in", "", "")
	// A service manager can make all folders read-only except the state folder.
	t.Setenv("TMPDIR", filepath.Join(h.out, "missing"))
	check("no folder for temporary files", "", "")
	if left, err := filepath.Glob(filepath.Join(h.state, "version-*")); err != nil || len(left) > 0 {
		t.Errorf("left in the state folder: %q, %v", left, err)
	}
	if _, err := RemoveLogin(h.state, adapter.Claude); err != nil {
		t.Fatal(err)
	}
	d.EnvFile = filepath.Join(h.out, "keys")
	if err := os.WriteFile(d.EnvFile, []byte("ANTHROPIC_API_KEY=k\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.runner.o.Agents[adapter.Claude] = d
	check("with a key", "", "")
	d.EnvFile, d.Command = "", []string{filepath.Join(h.out, "wrap")}
	if err := os.Rename(prog, d.Command[0]); err != nil {
		t.Fatal(err)
	}
	h.runner.o.Agents[adapter.Claude] = d
	check("a script around it", "", "")
	if text := h.runner.Describe(context.Background(), adapter.Claude); text != "it reports tokens and cost" {
		t.Errorf("a script around it is described as %q", text)
	}
}

// TestVersionUnanswered: a program that does not say its version in time, as on a busy
// machine, is there all the same: it is not refused, and its release is unknown. Nothing
// that it started is left.
func TestVersionUnanswered(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 1, func(*Options) {})
	m := uniqueSleep(t)
	if err := os.WriteFile(filepath.Join(h.out, "claude"), []byte("#!/bin/sh\nsleep "+m+" &\nwait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.runner.o.Agents[adapter.Claude] = BuiltIn()[adapter.Claude]
	h.runner.path, h.runner.answers = []string{h.out, "/usr/bin", "/bin"}, 200*time.Millisecond
	h.login(map[string][]byte{claudeToken: []byte("sk-ant-oat01-t")})
	if err := h.runner.Check(t.Context(), adapter.Claude); err != nil {
		t.Errorf("refused: %v", err)
	}
	want := filepath.Join(h.out, "claude") + " did not answer --version within 200ms"
	if v, err := h.runner.Version(t.Context(), adapter.Claude); v != "" || !errors.Is(err, ErrNoAnswer) || err.Error() != want {
		t.Errorf("version %q, %v", v, err)
	}
	if text := h.runner.Describe(t.Context(), adapter.Claude); text != "its release is unknown, because "+want+"; it reports tokens and cost" {
		t.Errorf("described as %q", text)
	}
	none(t, m)
	// Who gives up waiting gets no verdict on the program.
	h.runner.answers = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := h.runner.Check(ctx, adapter.Claude); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("given up: %v", err)
	}
	none(t, m)
}
