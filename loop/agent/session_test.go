package agent

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/toolchain"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

func TestSession(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		x := h.run("r1-1", `cat; cat ../CONTEXT/TASK.md; echo made >made; cat $(command -v hat) >/dev/null && echo hat; exit 3`)
		if x.Reason != ledger.ExitSelf || x.Code != 3 || x.Boundary != level || x.Killed != 0 || x.Took() <= 0 {
			t.Errorf("exit = %+v\n%s", x, h.log("r1-1"))
		}
		if want := "do it\n# Task 5\nhat\n"; x.Tail != want {
			t.Errorf("tail = %q, want %q", x.Tail, want)
		}
		if data, err := os.ReadFile(filepath.Join(h.work, "made")); string(data) != "made\n" {
			t.Errorf("made = %q, %v", data, err)
		}
		if x.Turns != -1 || x.Tokens != -1 || x.CostUSD != -1 {
			t.Errorf("usage of a command is not unknown: %+v", x)
		}
		second := h.wait("r1-1")
		if d := cmp.Diff(x, second); d != "" {
			t.Errorf("the second Wait differs: %s", d)
		}
		if _, err := os.Stat(filepath.Join(h.runner.folder("r1-1"), dirBox, boxHome)); !isGone(err) {
			t.Errorf("HOME was left behind: %v", err)
		}
		if _, err := os.Stat(filepath.Join(h.runner.folder("r1-1"), fileEnv)); !isGone(err) {
			t.Errorf("the environment was left on disk: %v", err)
		}
	})
}

// TestEnvironment: a session has exactly the listed variables, and cannot read
// the daemon's environment.
func TestEnvironment(t *testing.T) {
	t.Setenv("NIGHTPORTER_SECRET", "hunter2")
	t.Setenv("WANTED", "yes")
	for _, m := range toolchain.Managers {
		t.Setenv(m.Variable, "")
	}
	want := []string{
		"BUNDLE_USER_CACHE", "CARGO_HOME", "GOCACHE", "GOFLAGS", "GOMODCACHE", "GRADLE_USER_HOME", "HAT_NAME", "HAT_RUN", "HAT_SESSION", "HAT_SOCKET", "HAT_TASK", "HAT_TOKEN",
		"HOME", "KEY", "LANG", "MAVEN_OPTS", "NUGET_PACKAGES", "PATH", "PIP_CACHE_DIR", "PWD", "TERM", "TMPDIR", "USER", "WANTED",
		"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "npm_config_cache",
	}
	atEachLevel(t, func(t *testing.T, level int) {
		t.Setenv("HOME", t.TempDir())
		h := newFixture(t, level)
		h.script(`env -0 | tr '\n' ' ' | tr '\0' '\n'; cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep ^NIGHTPORTER_SECRET`)
		d := h.runner.o.Agents["mine"]
		d.PassEnv, d.EnvFile = []string{"WANTED", "UNSET"}, "keys.env"
		h.runner.o.Agents["mine"] = d
		if err := os.WriteFile(filepath.Join(h.out, "keys.env"), []byte("# a\nexport KEY=\"a b\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		h.start(h.launch("r1-1"))
		x := h.wait("r1-1")
		if level == 1 && os.Geteuid() != 0 {
			t.Log("level 1 without another user: other processes' environments can be read")
			x.Tail = strings.ReplaceAll(x.Tail, "NIGHTPORTER_SECRET=hunter2\n", "")
		}
		var names []string
		vars := map[string]string{}
		for line := range strings.Lines(x.Tail) {
			n, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			names = append(names, n)
			vars[n] = v
		}
		slices.Sort(names)
		names = slices.DeleteFunc(names, func(n string) bool { return n == "_" || n == "SHLVL" || n == "OLDPWD" }) // set by the shell itself
		if d := cmp.Diff(want, names); d != "" {
			t.Errorf("environment (-want +got):\n%s", d)
		}
		box := filepath.Join(h.runner.folder("r1-1"), dirBox)
		for n, v := range map[string]string{
			"WANTED": "yes", "KEY": "a b", "HAT_TASK": "Task 5", "HAT_NAME": "builder", "HAT_RUN": "r1", "HAT_SESSION": "r1-1", "HAT_TOKEN": "t0ken",
			"HAT_SOCKET": h.runner.SocketPath("r1-1"), "HOME": box + "/home", "TMPDIR": box + "/tmp", "LANG": "C.UTF-8", "TERM": "dumb",
		} {
			if vars[n] != v {
				t.Errorf("%s = %q, want %q", n, vars[n], v)
			}
		}
		if !strings.HasPrefix(vars["PATH"], box+"/bin:") {
			t.Errorf("hat is not first on PATH: %s", vars["PATH"])
		}
	})
}

// TestToolchains: a program on PATH may be a proxy for one in the home of the
// user who started the daemon. A session can run it despite its own HOME, and
// cannot change it.
func TestToolchains(t *testing.T) {
	atEachLevel(t, func(t *testing.T, level int) {
		if level == 1 && os.Geteuid() != 0 {
			t.Skip("SKIPPED: level 1 without another user keeps nothing from being written")
		}
		home := t.TempDir()
		mode := os.FileMode(0o755)
		if level == 3 {
			mode = 0o700 // another user must still be able to use it
		}
		if err := errors.Join(os.Mkdir(filepath.Join(home, ".rustup"), 0o755), os.WriteFile(filepath.Join(home, ".rustup", "real"), []byte("real\n"), 0o644),
			os.Chmod(filepath.Dir(home), 0o755), os.Chmod(home, mode)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("HOME", home)
		for _, m := range toolchain.Managers {
			t.Setenv(m.Variable, "")
		}
		t.Setenv("VOLTA_HOME", filepath.Join(home, "missing"))
		h := newFixture(t, level)
		if x := h.run("r1-1", `cat "$RUSTUP_HOME/real"; echo mine 2>/dev/null >"$RUSTUP_HOME/real" || echo "volta $VOLTA_HOME"`); x.Tail != "real\nvolta \n" {
			t.Errorf("exit = %+v", x)
		}
	})
}

// TestCachesHoldNoConfiguration: sessions share the content of caches, but no
// file that a tool reads as its configuration.
func TestCachesHoldNoConfiguration(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		h.script(`cd "$CARGO_HOME" && echo '[build]' >config.toml && mkdir bin && echo old >bin/cargo-x &&
			echo crate >registry/a && echo db >git/a && echo planted`)
		l := h.launch("r1-1")
		l.Cache.Name = "task-1"
		h.start(l)
		x := h.wait("r1-1")
		if x.Tail != "planted\n" {
			t.Fatalf("exit = %+v\n%s", x, h.log("r1-1"))
		}
		l = h.launch("r1-c1")
		l.Cache.Name = "task-1"
		l.Kind, l.Command = ledger.KindVerify, `cd "$CARGO_HOME" && cat registry/a git/a && ls -A`
		h.start(l)
		if x := h.wait("r1-c1"); x.Tail != "crate\ndb\ngit\nregistry\n" {
			t.Errorf("exit = %+v", x)
		}
		l = h.launch("r1-c2")
		l.Kind, l.Command, l.Project = ledger.KindVerify, `ls -A "$CARGO_HOME/registry/"`, "blog"
		h.start(l)
		if x := h.wait("r1-c2"); x.Code != 0 || x.Tail != "" {
			t.Errorf("another project's session finds it: %+v", x)
		}
	})
}

// TestHomeCaches: tools that read their configuration beside their caches share the
// caches alone, each as it asks for them.
func TestHomeCaches(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		h.script(`cd "$GRADLE_USER_HOME" && echo x >init.gradle && echo jar >caches/a && echo dist >wrapper/a &&
			cd ~/.m2 && echo x >settings.xml && echo pom >repository/a && echo dist >wrapper/a &&
			echo file >"$XDG_DATA_HOME/pnpm/store/a" && echo zip >~/.yarn/berry/cache/a && echo x >"$NUGET_PACKAGES/a" && echo kept`)
		l := h.launch("r1-1")
		l.Cache.Name = "task-1"
		h.start(l)
		if x := h.wait("r1-1"); x.Tail != "kept\n" {
			t.Fatalf("exit = %+v\n%s", x, h.log("r1-1"))
		}
		l = h.launch("r1-c1")
		l.Cache.Name = "task-1"
		l.Kind, l.Command = ledger.KindVerify, `cd "$GRADLE_USER_HOME" && ls && cat caches/a wrapper/a && cd ~/.m2 && ls && cat repository/a wrapper/a "$XDG_DATA_HOME/pnpm/store/a" ~/.yarn/berry/cache/a "$NUGET_PACKAGES/a"`
		h.start(l)
		if x := h.wait("r1-c1"); x.Tail != "caches\nwrapper\njar\ndist\nrepository\nwrapper\npom\ndist\nfile\nzip\nx\n" {
			t.Errorf("exit = %+v", x)
		}
	})
}

// TestJavaHome: Java takes the account's home for HOME; what nightporter sets has
// Maven take the session's.
func TestJavaHome(t *testing.T) {
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("SKIPPED: java is not on PATH")
	}
	h := newFixture(t, 0)
	x := h.run("r1-1", `java $MAVEN_OPTS -XshowSettings:properties -version 2>&1 | sed -n "s|.*user.home = $HOME$|home|p"`)
	if x.Tail != "home\n" {
		t.Errorf("exit = %+v\n%s", x, h.log("r1-1"))
	}
}

// TestCommandSession: a command of the project receives neither token nor keys
// of the agent.
func TestCommandSession(t *testing.T) {
	h := newFixture(t, 0)
	h.script("exit 0")
	d := h.runner.o.Agents["mine"]
	d.EnvFile = "keys.env"
	h.runner.o.Agents["mine"] = d
	if err := os.WriteFile(filepath.Join(h.out, "keys.env"), []byte("KEY=k\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := h.launch("r1-c1")
	l.Kind, l.Command = ledger.KindVerify, `env | grep -E '^(HAT_|KEY)'; printf 'go on '; touch "$GOCACHE/x" "$npm_config_cache/x" && echo cached; nosuchprogram`
	h.start(l)
	x := h.wait("r1-c1")
	if x.Reason != ledger.ExitSelf || x.Code != 127 || !strings.HasPrefix(x.Tail, "go on cached\n") {
		t.Errorf("exit = %+v", x)
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 0)
	for _, c := range []struct {
		name, prompt, script string
		size                 int
		why                  ledger.ExitReason
		tail                 string
	}{
		{"stdin", adapter.PromptStdin, `wc -c | tr -d ' '`, 200_000, ledger.ExitSelf, "200000\n"},
		{"arg", adapter.PromptArg, `printf %s "$1" | wc -c | tr -d ' '; wc -c | tr -d ' '`, 100_000, ledger.ExitSelf, "100000\n0\n"},
		{"argtoolong", adapter.PromptArg, `exit 0`, 200_000, ledger.ExitNotStarted, ""},
		{"file", adapter.PromptFile, `wc -c <"$1" | tr -d ' '`, 200_000, ledger.ExitSelf, "200000\n"},
		{"unknown", "smoke", `exit 0`, 10, ledger.ExitNotStarted, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.script(c.script)
			d := h.runner.o.Agents["mine"]
			d.Prompt = c.prompt
			h.runner.o.Agents["mine"] = d
			l := h.launch("r1-" + c.name)
			l.Prompt = strings.Repeat("x", c.size)
			h.start(l)
			x := h.wait(l.Session)
			if x.Reason != c.why || x.Tail != c.tail {
				t.Errorf("exit = %+v", x)
			}
			if given := int64(c.size); c.why == ledger.ExitSelf && x.Prompt != given || c.why != ledger.ExitSelf && x.Prompt != 0 {
				t.Errorf("a prompt of %d bytes, want %d", x.Prompt, given)
			}
		})
	}
}

// TestNotStarted: exits of an agent that could not work at all are recognised.
func TestNotStarted(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 0)
	plain := filepath.Join(h.out, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(h.out, "broken")
	if err := os.WriteFile(broken, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := func(s string) []string { return []string{"sh", "-c", s} }
	for _, c := range []struct {
		name    string
		command []string
		why     ledger.ExitReason
		code    int
		signal  string
		text    string
	}{
		{"none", nil, ledger.ExitNotStarted, -1, "", "no agent"},
		{"missing", []string{"no-such-agent"}, ledger.ExitNotStarted, -1, "", "not found on PATH"},
		{"path", []string{"./no-such-agent"}, ledger.ExitNotStarted, -1, "", "does not exist"},
		{"plain", []string{"./plain"}, ledger.ExitNotStarted, -1, "", "chmod +x"},
		{"broken", []string{"./broken"}, ledger.ExitNotStarted, -1, "", "no such file"},
		{"126", script("exit 126"), ledger.ExitNotStarted, 126, "", "126"},
		{"127", script("no-such-thing"), ledger.ExitNotStarted, 127, "", "127"},
		{"crash", script("echo oops >&2; exit 1"), ledger.ExitSelf, 1, "", ""},
		{"signal", script("kill -SEGV $$"), ledger.ExitSelf, -1, "SIGSEGV", ""},
		{"killed", script("kill -KILL $$"), ledger.ExitSelf, -1, "SIGKILL", ""},
		{"fine", script("exit 0"), ledger.ExitSelf, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.runner.o.Agents["mine"] = Definition{Name: "mine", Command: c.command, Dir: h.out, USDEstimate: 2}
			if c.name == "none" {
				delete(h.runner.o.Agents, "mine")
			}
			h.start(h.launch("r1-" + c.name))
			x := h.wait("r1-" + c.name)
			if x.Reason != c.why || x.Code != c.code || x.Signal != c.signal || !strings.Contains(x.Text, c.text) {
				t.Errorf("exit = %+v", x)
			}
			// What no program ran for cost nothing; a script that found none may have.
			want := map[bool]float64{false: 2}[c.why == ledger.ExitNotStarted && c.code == -1]
			if x.CostUSD != want {
				t.Errorf("it cost $%g, want $%g", x.CostUSD, want)
			}
			err := h.runner.Check(context.Background(), "mine")
			var in *ledger.InputError
			if wrong := c.code == -1 && c.why == ledger.ExitNotStarted && c.name != "broken"; wrong != errors.As(err, &in) {
				t.Errorf("Check = %v", err)
			} else if wrong && in.Diagnostics[0].Remedy == "" {
				t.Errorf("Check does not say what to do: %v", err)
			}
		})
	}
}

// TestStartTwice: a second Start of a session does nothing.
func TestStartTwice(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 0)
	h.script(`echo once >>ran; until [ -e go ]; do sleep 0.01; done`)
	l := h.launch("r1-1")
	if err := os.MkdirAll(h.runner.folder("r1-1"), 0o700); err != nil { // the state after a daemon that died right here
		t.Fatal(err)
	}
	h.start(l)
	h.start(l)
	other := h.open()
	if err := other.Start(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.work, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	h.wait("r1-1")
	h.start(l)
	if len(h.runner.children)+len(other.children) > 0 {
		t.Error("it was started after its end")
	}
	if _, err := other.Wait(context.Background(), "r1-1"); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(h.work, "ran")); string(data) != "once\n" {
		t.Errorf("ran = %q, %v", data, err)
	}
}

// TestStartRefuses: names become folders, so invalid ones are refused and leave
// nothing behind.
func TestStartRefuses(t *testing.T) {
	h := newFixture(t, 0)
	h.script("exit 0")
	for _, change := range []func(*ledger.Launch){
		func(l *ledger.Launch) { l.Session = "../../etc" },
		func(l *ledger.Launch) { l.Session = "" },
		func(l *ledger.Launch) { l.Run = "r1/../.." },
		func(l *ledger.Launch) { l.Project = "." },
		func(l *ledger.Launch) { l.Work = filepath.Join(h.out, "none") },
		func(l *ledger.Launch) { l.Context = map[string][]byte{"../../x": nil} },
	} {
		l := h.launch("r1-1")
		change(&l)
		if err := h.runner.Start(context.Background(), l); err == nil {
			t.Errorf("%+v was started", l)
		}
	}
}

// TestStartAgain: a Start that failed half-way can be repeated.
func TestStartAgain(t *testing.T) {
	full := errors.New("disk full")
	fail := true
	h := newFixture(t, 0, func(o *Options) {
		o.BeforeStart = func(_ context.Context, session, socket string) error {
			if _, err := os.Stat(filepath.Dir(socket)); err != nil || session != "r1-1" {
				t.Errorf("BeforeStart(%q, %q): %v", session, socket, err)
			}
			if fail {
				return full
			}
			return nil
		}
	})
	h.script("exit 0")
	if err := h.runner.Start(context.Background(), h.launch("r1-1")); !errors.Is(err, full) {
		t.Fatalf("Start = %v", err)
	}
	if s, err := h.runner.State("r1-1"); s != Gone || err != nil {
		t.Errorf("State = %v, %v", s, err)
	}
	fail = false
	if x := h.run("r1-1", "exit 0"); x.Reason != ledger.ExitSelf {
		t.Errorf("exit = %+v", x)
	}
}

func TestLostWithoutTrace(t *testing.T) {
	h := newFixture(t, 0)
	x := h.wait("r1-9")
	if x.Reason != ledger.ExitLost || x.Code != -1 || x.Text == "" {
		t.Errorf("exit = %+v", x)
	}
}

func TestSocketPath(t *testing.T) {
	h := newFixture(t, 0)
	if p := h.runner.SocketPath("r1-1"); len(p) > maxSocket || !strings.HasSuffix(p, "/hat.sock") {
		t.Errorf("%q", p)
	}
	long := &Runner{}
	long.o.State = "/" + strings.Repeat("deep/", 30) + "state"
	p := long.SocketPath("r123-4567")
	if len(p) > maxSocket || p != long.SocketPath("r123-4567") || p == long.SocketPath("r123-4568") {
		t.Errorf("%q", p)
	}
}

// TestLimitOfCommand: a command that prints another program's events does not
// prove what they say; the program itself does.
func TestLimitOfCommand(t *testing.T) {
	h := newFixture(t, 1)
	const limit = `echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":'$(($(date +%s) + 604800))'}}'; echo '{"type":"result","is_error":true,"api_error_status":429,"result":"limit"}'`
	for name, unverified := range map[string]bool{"agent.sh": true, "claude": false} {
		path := filepath.Join(h.out, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+limit+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		h.runner.o.Agents["mine"] = Definition{Name: "mine", Command: []string{path}, Dir: h.out, Output: adapter.Claude}
		l := h.launch("r1-" + map[bool]string{true: "1", false: "2"}[unverified])
		h.start(l)
		if x := h.wait(l.Session); x.Failure != ledger.FailureLimit || x.Until.IsZero() || x.Unverified != unverified {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

func TestLimitOfSession(t *testing.T) {
	h := newFixture(t, 0)
	x := h.run("r1-1", `echo "You've hit your session limit · resets 8:20pm (UTC)"; exit 1`)
	if x.Failure != ledger.FailureLimit || x.Until.IsZero() || x.Code != 1 || x.Text == "" {
		t.Errorf("exit = %+v", x)
	}
}

// TestWrittenEvent: the event that ends an agent's last message is part of the exit, if
// its definition says so.
func TestWrittenEvent(t *testing.T) {
	t.Parallel()
	const script = "echo 'All done.'; printf '```nightporter-event build.complete\\n{\"summary\":\"x\"}\\n```\\n'"
	for _, on := range []bool{true, false} {
		h := newFixture(t, 1)
		h.script(script)
		d := h.runner.o.Agents["mine"]
		d.Written = on
		h.runner.o.Agents["mine"] = d
		h.start(h.launch("r1-1"))
		x := h.wait("r1-1")
		if e := x.Event; (e != nil) != on || on && (e.Type != "build.complete" || string(e.Data) != `{"summary":"x"}`) {
			t.Errorf("on %v: %+v, %q", on, e, x.Tail)
		}
	}
}
