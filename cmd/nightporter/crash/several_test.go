package crash

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/programtest"
	"github.com/nightporter/nightporter/internal/statelock"
)

// phase is a moment of a run at which sessions wait for the test.
type phase struct {
	name     string
	sessions int                      // that meet there
	ready    func(status string) bool // what else has to be; nil = nothing
}

// together is a kind of run with several sessions at a time, whose commits do not depend
// on who is faster.
type together struct {
	name    string
	agent   string
	pattern string
	lines   []string // of the project's configuration
	plan    string
	files   map[string]string
	phases  []phase
	tree    map[string]string // files of the branch in the end, each with all its lines
	commits int
	moved   bool       // a person moves the branch in another run
	batch   bool       // checks are of several commits together
	kills   [][]string // of some runs, in order (killOf)
}

func (k together) String() string { return k.name }

// severalRun is such a run.
type severalRun struct {
	programtest.TwoTasks
	of together
}

// digest prints a number of all files below it, as checks see them.
const digest = `find . -type f ! -path './.git*' ! -path './made/*' | LC_ALL=C sort | while read -r f; do echo "$f"; cat "$f"; done | git hash-object --stdin`

func newSeveralRun(t *testing.T, of together) severalRun {
	t.Helper()
	n := severalRun{programtest.NewTwoTasks(t), of}
	config := n.read(n.Path("config", "nightporter", "nightporter.toml"))
	config, _, _ = strings.Cut(config, "[[project]]")
	config += "[[project]]\nname = \"shop\"\nrepo = \"" + n.Path("repo") + "\"\nsource = \"plan:plan.md\"\nagent = \"" + of.agent + "\"\npattern = \"" + of.pattern +
		"\"\nprofile = \"overnight\"\nshared = [\"" + n.Path("notes") + "\"]\n" + strings.ReplaceAll(strings.Join(of.lines, "\n"), "DIR", n.Dir) + "\n"
	n.write(n.Path("config", "nightporter", "nightporter.toml"), config)
	n.write(n.Path("repo", "plan.md"), of.plan)
	n.write(n.Path("repo", "digest.sh"), digest+"\n")
	for name, text := range of.files {
		n.write(n.Path(name), text)
	}
	n.Out("git", "-C", "repo", "add", "--all")
	n.Out("git", "-C", "repo", "commit", "--quiet", "--message=Second")
	return n
}

func (n severalRun) read(path string) string {
	n.T.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		n.T.Fatal(err)
	}
	return string(data)
}

func (n severalRun) write(path, text string) {
	n.T.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		n.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		n.T.Fatal(err)
	}
}

// note returns the path of a note.
func (n severalRun) note(name string) string { return n.Path("notes", name) }

// has reports whether a note is there.
func (n severalRun) has(name string) bool {
	_, err := os.Stat(n.note(name))
	return err == nil
}

// met returns the first phase that waits for the test, "" if none does.
func (n severalRun) met() string {
	for _, p := range n.of.phases {
		if n.has("go-" + p.name) {
			continue
		}
		here, _ := filepath.Glob(n.note("at-" + p.name + "-*"))
		if len(here) < p.sessions {
			continue
		}
		if p.ready != nil {
			status, _, err := n.Output("nightporter", "status")
			if err != nil || !p.ready(status) {
				continue
			}
		}
		return p.name
	}
	return ""
}

// start starts the run or goes on with it, with a crash at the point, "" = at none.
func (n severalRun) start(point string) *programtest.Process {
	n.T.Helper()
	// A child that was forked just before a kill keeps the lock until it executes its
	// program.
	if err := programtest.WaitFor("the state folder to be free", func() (bool, error) {
		_, held, err := statelock.Held(n.State())
		return !held, err
	}); err != nil {
		n.T.Fatal(err)
	}
	var env []string
	if point != "" {
		env = []string{"NIGHTPORTER_CRASH=" + point}
	}
	p, err := n.Machine.Start(env, "run")
	if err != nil {
		n.T.Fatal(err)
	}
	n.T.Cleanup(p.Kill)
	return p
}

// endSessions ends all sessions at once, as a power failure does.
func (n severalRun) endSessions() {
	here, _ := filepath.Glob(n.note("at-*"))
	for _, file := range here {
		_ = os.Remove(file)
	}
	for _, pid := range n.Supervisors() {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
	}
}

// kill is an end of processes, and when it comes. The zero value is none.
type kill struct {
	point string        // of internal/crash, for the process alone
	phase string        // once its sessions have met
	after time.Duration // after the start
	of    string        // killProcess, killSessions or killAll
	holds bool          // no phase ends before it
}

const (
	killProcess  = "kill"
	killSessions = "lose" // as for lack of memory
	killAll      = "cut"  // as in a power failure
)

// killOf reads "kill at PHASE", "cut at PHASE", "lose at PHASE", or a point of
// internal/crash.
func killOf(text string) kill {
	of, phase, at := strings.Cut(text, " at ")
	if !at {
		return kill{point: text}
	}
	return kill{phase: phase, of: of}
}

// round starts the run or goes on with it until it ends or its process is killed, and
// returns how many of the kills came. After one of the sessions alone, the process goes
// on, and the next one can come, but for a point.
func (n severalRun) round(kills ...kill) (came int, ended bool) {
	n.T.Helper()
	k := append(kills, kill{})[0]
	p := n.start(k.point)
	began := time.Now()
	if err := programtest.WaitFor("the run to end", func() (bool, error) {
		select {
		case <-p.Done:
			return true, nil
		default:
		}
		is := ""
		due := k.after > 0 && time.Since(began) > k.after
		if !due && !k.holds {
			is = n.met()
			due = is != "" && is == k.phase
		}
		switch {
		case due && k.of == killSessions:
			n.endSessions()
			came++
			if k = append(kills[came:], kill{})[0]; k.point != "" {
				k = kill{}
			}
		case due:
			p.Kill()
			if k.of == killAll {
				n.endSessions()
			}
			return true, nil
		case is != "":
			n.write(n.note("go-"+is), "")
		}
		return false, nil
	}); err != nil {
		n.T.Fatalf("%v\n%s\n%s", err, p.Out, n.Out("nightporter", "log"))
	}
	code, err := p.Wait()
	switch {
	case err != nil:
		n.T.Fatal(err)
	case code == -9 && k == kill{}:
		n.T.Fatalf("killed by somebody else\n%s", p.Out)
	case code == -9:
		came++
	case code != 0:
		n.T.Fatalf("exit %d\n%s\n%s", code, p.Out, n.Out("nightporter", "log"))
	}
	return came, code == 0
}

// through goes on with the run until it has ended, and returns how many of the kills
// came.
func (n severalRun) through(kills ...string) (came int) {
	n.T.Helper()
	var left []kill
	for _, text := range kills {
		left = append(left, killOf(text))
	}
	for {
		now, ended := n.round(left[came:]...)
		if came += now; ended {
			return came
		}
	}
}
