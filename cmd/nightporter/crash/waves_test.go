package crash

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/programtest"
)

// wavePoints are points of a run in waves that a run on a plan does not have. Adjacent
// points are in different runs.
var wavePoints = [][]string{
	{"before-effect:triage", "before-commit:triaged", "before-effect:waves", "before-commit:commit_made"},
	{"after-effect:triage", "after-commit:triaged", "after-effect:waves", "after-commit:commit_made"},
	{"after-commit:start_run", "after-effect:triage:2", "after-effect:commit"},
	{"before-effect:triage:4", "after-commit:triaged", "before-effect:takeover"}, // the triager has decided about the last report
}

// inbox has two reports to fix, one that says the same as another, one that says nothing,
// and one about which a triager decides.
const inbox = `[
  { "id": "B1", "body": "I clicked Pay on the page /cart and saw NaN instead of the total.", "severity": "critical", "page": "/cart" },
  { "id": "B2", "body": "Everything feels somehow wrong lately and I do not like it.", "severity": "high" },
  { "id": "B3", "body": "On the page /cart I clicked Pay and saw NaN instead of the total.", "severity": "low", "page": "/cart" },
  { "id": "B5", "body": "The label of the button on /cart says Pey instead of Pay.", "severity": "low", "page": "/cart", "status": "new" },
  { "id": "B6", "body": "I clicked Print in the till and saw one receipt instead of two.", "severity": "low" }
]
`

// waves is what crashes must not change in a run in waves.
type waves struct {
	Inbox    string
	Subjects []string
	Waves    string // the message about them, without how long each took
	State    string // the state file, without times
	Ended    string
}

// throughWaves runs the inbox to its end, over crashes. Whatever lies in the state file
// in between is no input: once it is gone, once it is nonsense.
func (n run) throughWaves(push string, crashes ...string) waves {
	n.T.Helper()
	for name, text := range map[string]string{"repo/bugs.json": inbox, "repo/app/cart/page.tsx": "export default function CartTotal() { return null }\n"} {
		if err := os.MkdirAll(n.Path("repo", "app", "cart"), 0o755); err != nil {
			n.T.Fatal(err)
		}
		if err := os.WriteFile(n.Path(name), []byte(text), 0o644); err != nil {
			n.T.Fatal(err)
		}
	}
	n.Out("git", "-C", "repo", "add", "--all")
	n.Out("git", "-C", "repo", "commit", "--quiet", "--message=Inbox")
	file := n.Path("repo", ".ralph", "autopilot-state.json")
	for crashed := 0; ; {
		var env []string
		if crashed < len(crashes) {
			env = []string{"NIGHTPORTER_CRASH=" + crashes[crashed]}
		}
		p, err := n.Machine.Start(env, "run", "--source", "bugs:bugs.json", "--agent", "honest", "--pattern", "single", "--push", push, "--batch", "1")
		if err != nil {
			n.T.Fatal(err)
		}
		n.T.Cleanup(p.Kill)
		code, err := p.Wait()
		switch {
		case err != nil:
			n.T.Fatal(err)
		case code == -9 && env != nil:
			crashed++
			if crashed%2 == 0 {
				_ = os.Remove(file) // it may not be there yet
			} else if _, err := os.Stat(file); err == nil {
				if err := os.WriteFile(file, []byte(`{"currentWave": 99, `), 0o644); err != nil {
					n.T.Fatal(err)
				}
			}
			continue
		case code != 0:
			n.T.Fatalf("exit %d\n%s", code, p.Out)
		case crashed < len(crashes):
			n.T.Errorf("the run never came to %s", crashes[crashed])
		}
		break
	}
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			n.T.Fatal(err)
		}
		return string(text)
	}
	took := regexp.MustCompile(`, [0-9.]+ (s|min)\b`)
	times := regexp.MustCompile(`"[0-9]{4}-[0-9]{2}-[0-9]{2}T[^"]*"|"durationMs": *[0-9]+`)
	return waves{
		Inbox:    read(n.Path("repo", "bugs.json")),
		Subjects: strings.Split(n.Out("git", "-C", "repo", "log", "--format=%s", "nightporter/shop/r1"), "\n"),
		Waves:    took.ReplaceAllString(n.Out("nightporter", "waves"), ", TIME"),
		State:    times.ReplaceAllString(read(file), "TIME"),
		Ended:    regexp.MustCompile(`"reason":"[^"]*"`).FindString(n.Out("nightporter", "status", "--json")),
	}
}

// TestCrashInWaves kills a run in waves at every step that only such a run has: each
// wave comes once, each report is fixed once, and the file of the state, which somebody
// deletes or breaks meanwhile, says the same in the end.
func TestCrashInWaves(t *testing.T) {
	t.Parallel()
	want := newRun(t).throughWaves("never")
	if strings.Count(want.Inbox, `"fixed"`) != 3 || !strings.Contains(want.Waves, "wave 3: 1 of 1 fixed") || !strings.Contains(want.State, `"currentWave": 3`) {
		t.Fatalf("without a crash: %s\n%s\n%s\n%s", want.Inbox, want.Waves, want.State, want.Ended)
	}
	for _, points := range sampled(t, wavePoints) {
		t.Run(points[0], func(t *testing.T) {
			t.Parallel()
			n := newRun(t)
			if diff := cmp.Diff(want, n.throughWaves("never", points...)); diff != "" {
				t.Errorf("not the same as without a crash (-want +got):\n%s", diff)
			}
			n.Out("nightporter", "verify")
			log, err := os.ReadFile(n.Path("notes", "log"))
			if err != nil {
				t.Fatal(err)
			}
			started := map[string]bool{}
			for line := range strings.Lines(string(log)) {
				id, _, _ := strings.Cut(line, " ")
				if started[id] {
					t.Errorf("session %s was started twice:\n%s", id, log)
				}
				started[id] = true
			}
		})
	}
}

// TestCrashInWavesPublished kills a run in waves while it lifts commits, pushes and asks
// for requests: each report gets one branch, with its own commit on the base as the remote
// has it, and one request, and the summary names them. The person's own branch has a
// commit that the remote lacks, so each commit is made and verified anew.
func TestCrashInWavesPublished(t *testing.T) {
	t.Parallel()
	n := newRun(t)
	s := programtest.NewForge(n.TwoTasks, "")
	got := n.throughWaves("task", "after-effect:lift", "before-commit:lift_finished", "after-commit:lift_finished", "after-effect:push", "before-commit:request_finished", "after-effect:request")
	pulls := s.Pulls()
	if len(pulls) != 3 || s.Pushes.Load() != 3 {
		t.Fatalf("%d pushes, requests: %+v\n%s", s.Pushes.Load(), pulls, got.Waves)
	}
	remote := n.Path("forge", "acme", "shop.git")
	for k, pull := range pulls {
		head := regexp.MustCompile(`git fetch origin (\S+)`).FindStringSubmatch(pull.Body)
		if pull.Base != "main" || !strings.Contains(pull.Body, "Stands alone") || head == nil {
			t.Fatalf("request: %+v", pull)
		}
		if !strings.HasPrefix(pull.Title, "fix: "+[]string{"B1", "B5", "B6"}[k]+" - ") || strings.Contains(pull.Body, "B2") {
			t.Errorf("request: %+v", pull)
		}
		if log := n.Out("git", "-C", remote, "log", "--format=%s", "main.."+head[1]); strings.TrimSpace(log) != pull.Title {
			t.Errorf("%s has commits\n%s", head[1], log)
		}
	}
	if log := n.Out("nightporter", "log"); !strings.Contains(log, "✓ 1 of 1 fixed: B1 PR 1") || !strings.Contains(log, "✓ 1 of 1 fixed: B5 PR 2") {
		t.Errorf("the summaries do not name the requests:\n%s", log)
	}
	n.Out("nightporter", "verify")
	if status := n.Out("nightporter", "status"); !strings.Contains(status, "3 requests, one a report, to merge in any order") {
		t.Errorf("status:\n%s", status)
	}
}
