package guard

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
)

// TestMain makes the test program a wrapper if it is started as one.
func TestMain(m *testing.M) {
	if w, is := Find(os.Args[0]); is {
		// os.Exit would wait a second under the race detector.
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(w.Main(os.Args[1:], os.Stderr)), 0, 0)
	}
	if len(os.Args) == 2 && os.Args[1] == "no-wrapper" {
		os.Exit(44)
	}
	leaktest.Main(m.Run)
}

// wrappers makes a folder with wrappers of programs.
func wrappers(t *testing.T, rules Rules, programs ...string) string {
	t.Helper()
	dir := t.TempDir()
	data, err := json.Marshal(rules)
	if err != nil {
		t.Fatal(err)
	}
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, RulesFile), data, 0o644); err != nil {
		t.Fatal(err)
	}
	// Through a second link: hat may itself be a link to nightporter.
	hat := filepath.Join(t.TempDir(), "hat")
	if err := os.Symlink(me, hat); err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if err := os.Symlink(hat, filepath.Join(dir, p)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// program makes a folder with a shell script of that name.
func program(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// result is the outcome of a call.
type result struct {
	code     int
	out, err string
}

// shell runs a command line with an environment of PATH only.
func shell(t *testing.T, path []string, line string) result {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + strings.Join(path, ":")}
	cmd.Stdin = strings.NewReader("from outside\n")
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

func TestWrapper(t *testing.T) {
	rules := Rules{Hat: "builder", Denied: []string{"npm publish", "git push --force"}}
	wrap := wrappers(t, rules, "npm", "git", "gone")
	other := wrappers(t, Rules{Denied: []string{"npm unpublish"}}, "npm") // from a session around this one
	real := program(t, "npm", "#!/bin/sh\nread line; echo \"npm $* <$line>\"; echo word >&2; exit 41\n")
	plain := program(t, "npm", "echo plain $1\n") // without a #! line, which a shell would still run
	around := program(t, "npm", "#!/bin/sh\nexec "+wrap+"/npm \"$@\"\n")
	system := []string{"/usr/bin", "/bin"}

	refused := "nightporter: `npm publish` is denied to the builder: its hat's rule is against it (rule \"npm publish\").\n" +
		"Instead: leave it, or end with hat ask where it has to be done.\n"
	fine := result{41, "npm run build <from outside>\n", "word\n"}
	for _, c := range []struct {
		name string
		path []string
		line string
		want result
	}{
		{"let pass", append([]string{wrap, real}, system...), "exec npm run build", fine},
		{"refused", append([]string{wrap, real}, system...), "npm publish", result{ExitRefused, "", refused}},
		{"nothing of it is run", append([]string{wrap, real}, system...), "npm publish && echo published", result{ExitRefused, "", refused}},
		{"by its path", append([]string{wrap, real}, system...), wrap + "/npm run build", fine},
		{"by its path, refused", append([]string{wrap, real}, system...), wrap + "/npm publish", result{ExitRefused, "", refused}},
		{"by its path alone", append([]string{real}, system...), wrap + "/npm run build", fine},
		{"not first", append([]string{"/nowhere", "", wrap, real}, system...), "exec npm run build", fine},
		{"without environment", append([]string{wrap, real}, system...), `env -i PATH="$PATH" npm publish`, result{ExitRefused, "", refused}},
		{"two folders", append([]string{wrap, other, real}, system...), "exec npm run build", fine},
		{"two folders, the other way round", append([]string{other, wrap, real}, system...), "exec npm run build", fine},
		{"twice", append([]string{wrap, wrap, real}, system...), "exec npm run build", fine},
		{"script without a first line", append([]string{wrap, plain}, system...), "npm x", result{0, "plain x\n", ""}},
		{"gone", append([]string{wrap}, system...), "gone x", result{ExitNotFound, "", "nightporter: gone is not found on PATH\n"}},
		{"led back", append([]string{wrap, around}, system...), "npm x", result{ExitRefused, "", "nightporter: npm is called from itself 100 times over\n"}},
		{"no wrapper", append([]string{filepath.Dir(thisProgram(t))}, system...), filepath.Base(thisProgram(t)) + " no-wrapper", result{44, "", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shell(t, c.path, c.line); got != c.want {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// TestWrapperWithoutRules checks that a wrapper with unreadable rules refuses
// every call: a damaged file must not permit them.
func TestWrapperWithoutRules(t *testing.T) {
	wrap := wrappers(t, Rules{}, "npm")
	if err := os.WriteFile(filepath.Join(wrap, RulesFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := shell(t, []string{wrap, program(t, "npm", "#!/bin/sh\n")}, "npm x")
	if got.code != ExitRefused || !strings.Contains(got.err, "cannot be read") {
		t.Errorf("%+v", got)
	}
}

// TestWrapperResolves checks paths through links in a real folder.
func TestWrapperResolves(t *testing.T) {
	top := t.TempDir()
	work := filepath.Join(top, "work")
	outside := filepath.Join(top, "outside")
	if err := errors.Join(os.MkdirAll(filepath.Join(work, "build", "deep"), 0o755), os.MkdirAll(filepath.Join(outside, "x"), 0o755),
		os.Symlink(outside, filepath.Join(work, "link"))); err != nil {
		t.Fatal(err)
	}
	wrap := wrappers(t, Rules{Denied: []string{"rm -rf"}, Roots: []string{work}}, "rm")
	path := []string{wrap, "/usr/bin", "/bin"}
	for _, c := range []struct {
		args string
		code int
	}{
		{"build/deep", 0}, {"link/x", ExitRefused}, {"link/", ExitRefused}, {"../outside", ExitRefused}, {"build/../link/../outside/x", ExitRefused},
		{`"$PWD"`, ExitRefused}, {`"$PWD"/build`, 0}, {"link", 0},
	} {
		if got := shell(t, path, "cd "+work+" && rm -rf "+c.args); got.code != c.code {
			t.Errorf("rm -rf %s: %+v", c.args, got)
		}
	}
	if _, err := os.Stat(filepath.Join(outside, "x")); err != nil {
		t.Error(err)
	}
	for _, gone := range []string{"build", "link"} {
		if _, err := os.Lstat(filepath.Join(work, gone)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", gone, err)
		}
	}
}

func thisProgram(t *testing.T) string {
	t.Helper()
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return me
}
