package agent

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// newSurroundings makes the files that a project's commands get.
func newSurroundings(t *testing.T, dir string) Surroundings {
	t.Helper()
	s := Surroundings{
		SetupEnvFile: filepath.Join(dir, "setup.env"), VerifyEnvFile: filepath.Join(dir, "verify.env"), SetupHome: filepath.Join(dir, "setup-home"),
		PassEnv: []string{"TEST_PROXY"},
	}
	for name, text := range map[string]string{
		"setup.env": "NPM_TOKEN=npm-s3cret\n", "verify.env": "# of the tests\nexport DATABASE_URL=\"postgres://shop:pa55word@db/shop\"\nDEBUG=1\n",
		"setup-home/.npmrc": "registry=https://npm.example.com/\n", "setup-home/.cargo/config.toml": "[net]\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestSurroundings shows who gets the variables and files of a project's
// commands, and that none of the values reaches what is kept of an output.
func TestSurroundings(t *testing.T) {
	t.Setenv("TEST_PROXY", "http://proxy.example.com:3128")
	atEachLevel(t, func(t *testing.T, level int) {
		var s Surroundings
		h := newFixture(t, level, func(o *Options) {
			s = newSurroundings(t, t.TempDir())
			o.Projects = map[string]Grant{"shop": {Surroundings: s}}
		})
		show := `echo "$NPM_TOKEN|$DATABASE_URL|$DEBUG|$TEST_PROXY"; cat ~/.npmrc ~/.cargo/config.toml 2>/dev/null; `
		const trusted, check, agent = "[NPM_TOKEN]|||[TEST_PROXY]\nregistry=https://npm.example.com/\n[net]\n", "|[DATABASE_URL]|1|[TEST_PROXY]\n", "|||\n"
		for _, c := range []struct {
			name string
			kind ledger.Kind
			use  ledger.CacheUse
			want string
		}{
			{"setup of committed files", ledger.KindSetup, ledger.CacheUse{Trusted: true}, trusted},
			{"setup of other files", ledger.KindSetup, ledger.CacheUse{Name: "layer-1"}, "|||[TEST_PROXY]\n"},
			{"baseline", ledger.KindBaseline, ledger.CacheUse{Trusted: true}, check},
			{"verification", ledger.KindVerify, ledger.CacheUse{Name: "check"}, check},
			{"agent", ledger.KindAgent, ledger.CacheUse{}, agent},
		} {
			t.Run(c.name, func(t *testing.T) {
				l := h.launch("r1-" + strings.ReplaceAll(strings.ReplaceAll(c.name, " ", ""), "setup", "s"))
				l.Kind, l.Cache, l.Command = c.kind, c.use, show+"true"
				if c.kind == ledger.KindAgent {
					h.script(show + "true")
				}
				h.start(l)
				if x := h.wait(l.Session); x.Tail != c.want || x.Code != 0 {
					t.Errorf("printed %q (%s %s), want %q", x.Tail, x.Reason, x.Text, c.want)
				}
				tail, err := h.runner.OutputTail(l.Session, 10)
				if text := strings.Join(tail.Lines, "\n"); err != nil || strings.Contains(text, "s3cret") || strings.Contains(text, "pa55") {
					t.Errorf("its last lines are %q, %v", text, err)
				}
			})
		}
		if level == 3 {
			for i, path := range s.paths() {
				l := h.launch("r1-h" + string(rune('0'+i)))
				l.Kind, l.Command = ledger.KindVerify, "cat "+path+" "+path+"/.npmrc"
				h.start(l)
				if x := h.wait(l.Session); x.Code == 0 || strings.Contains(x.Tail, "npm") && strings.Contains(x.Tail, "registry=") {
					t.Errorf("a session reads %s: %q", path, x.Tail)
				}
			}
		}
	})
}

// TestWithheld tells why setup of changed lockfiles cannot log in.
func TestWithheld(t *testing.T) {
	h := newFixture(t, 0, func(o *Options) {
		o.Projects = map[string]Grant{"shop": {Surroundings: newSurroundings(t, t.TempDir())}}
	})
	l := h.launch("r1-c1")
	l.Kind, l.Cache, l.Command = ledger.KindSetup, ledger.CacheUse{Name: "layer-1"}, "echo 401; exit 1"
	h.start(l)
	if x := h.wait(l.Session); !strings.HasPrefix(x.Tail, "401\n") || !strings.Contains(x.Tail, "setup_env_file") {
		t.Errorf("printed %q", x.Tail)
	}
}

// TestMaskedReport removes a value from the failures of a report that a test
// wrote, which no output shows.
func TestMaskedReport(t *testing.T) {
	h := newFixture(t, 0, func(o *Options) {
		o.Projects = map[string]Grant{"shop": {Surroundings: newSurroundings(t, t.TempDir())}}
	})
	l := h.launch("r1-c1")
	l.Kind = ledger.KindVerify
	l.Command = `echo '--- FAIL: TestCart/pa55'word' (0.00s)'; echo "--- FAIL: TestToken/$DATABASE_URL (0.00s)"; echo FAIL; exit 1`
	h.start(l)
	x := h.wait(l.Session)
	if x.Failures == nil || len(x.Failures.Failed) == 0 || strings.Contains(x.Tail, "pa55word") {
		t.Fatalf("failures %+v of %q", x.Failures, x.Tail)
	}
	for _, f := range x.Failures.Failed {
		if strings.Contains(f.Name, "pa55word") {
			t.Errorf("the failure %q has the value", f.Name)
		}
	}
	f := ledger.Failures{Failed: []ledger.Failure{{Name: "TestX/npm-s3cret"}}}
	newMask(h.opts.Projects["shop"].values()).failures(&f)
	if f.Failed[0].Name != "TestX/[NPM_TOKEN]" {
		t.Errorf("a failure of a report is %q", f.Failed[0].Name)
	}
}

// TestMaskSplit gets the same from an output in one piece as in pieces of any
// length.
func TestMaskSplit(t *testing.T) {
	m := []string{"A=secret", "LONG=secretsecret!", "B=etsecr", "SHORT=abcde", "DSN=mysql://u:hunter22@h/db"}
	text := "secret secretsecret! secretsecret? secre abcde hunter22 mysql://u:hunter22@h/db secsecret\nsecre"
	want := "[A] [LONG] [A][A]? secre abcde [DSN] [DSN] sec[A]\nsecre"
	for range 2000 {
		k := newMask(m)
		var got strings.Builder
		for rest := text; rest != ""; {
			n := 1 + rand.IntN(len(rest))
			got.Write(k.next([]byte(rest[:n]), false))
			rest = rest[n:]
		}
		got.Write(k.next(nil, true))
		if got.String() != want {
			t.Fatalf("got  %q\nwant %q", got.String(), want)
		}
	}
}

// TestCheckCommands names file and line of a mistake, and never a value.
func TestCheckCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		damage func(s *Surroundings) error
		want   string
	}{
		{"right", func(*Surroundings) error { return nil }, ""},
		{"no file", func(s *Surroundings) error { return os.Remove(s.SetupEnvFile) }, "setup_env_file: "},
		{"no home", func(s *Surroundings) error { return os.RemoveAll(s.SetupHome) }, "does not exist"},
		{"a link", func(s *Surroundings) error { return os.Symlink("/etc/passwd", s.SetupHome+"/.netrc") }, "is a link"},
		{"a line", func(s *Surroundings) error {
			return os.WriteFile(s.VerifyEnvFile, []byte("A=hunter22\nhunter22 is it\n"), 0o600)
		}, "this is not NAME=VALUE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSurroundings(t, t.TempDir())
			h := newFixture(t, 0, func(o *Options) { o.Projects = map[string]Grant{"shop": {Surroundings: s}} })
			if err := c.damage(&s); err != nil {
				t.Fatal(err)
			}
			err := h.runner.CheckCommands("shop")
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var in *ledger.InputError
			if !errors.As(err, &in) || len(in.Diagnostics) != 1 || !strings.Contains(in.Diagnostics[0].Text, c.want) || in.Diagnostics[0].Remedy == "" || strings.Contains(err.Error(), "hunter22") {
				t.Errorf("the error is %v", err)
			}
			// The file may break in the night: the command is not started.
			l := h.launch("r1-c1")
			l.Kind, l.Cache, l.Command = ledger.KindVerify, ledger.CacheUse{Trusted: true}, "true"
			if strings.Contains(c.name, "no ") || c.name == "a link" {
				l.Kind = ledger.KindSetup
			}
			h.start(l)
			if x := h.wait(l.Session); x.Reason != ledger.ExitNotStarted || strings.Contains(x.Text, "hunter22") {
				t.Errorf("ended as %+v", x)
			}
		})
	}
}
