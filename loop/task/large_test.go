package task

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/backlog"
	"github.com/nightporter/nightporter/loop/task/form"
	"github.com/nightporter/nightporter/loop/task/jsonform"
	"github.com/nightporter/nightporter/loop/task/markdown"
)

// largeList is a form with a text of n tasks as its tools write them.
type largeList struct {
	name string
	form form.Form
	text func(n int) []byte
}

// repeated returns a text with a piece for each of n tasks, which are counted from 1.
func repeated(before string, piece func(n int) string, between, after string) func(n int) []byte {
	return func(n int) []byte {
		var b bytes.Buffer
		b.WriteString(before)
		for i := range n {
			if i > 0 {
				b.WriteString(between)
			}
			b.WriteString(piece(i + 1))
		}
		b.WriteString(after)
		return b.Bytes()
	}
}

var largeLists = []largeList{
	{"plan", markdown.Any{}, repeated("# Plan\n\n", func(n int) string {
		return fmt.Sprintf("- [ ] **Task %d: Round totals number %d half up**\n  - Scope: `cart/%d/`, docs/rounding.md\n  - Depends on: %s\n  - Acceptance:\n    - 1.005 becomes 1.01\n", n, n, n, dependsOnLast(n, "Task %d"))
	}, "", "")},
	{"headings", markdown.Any{}, repeated("# Plan\n\n", func(n int) string {
		return fmt.Sprintf("### Task %d: Round totals number %d\n\n**Files:**\n- Modify: `cart/%d.go:12-40`\n\n- [ ] **Step 1: Write the failing test**\n- [ ] **Step 2: Make it pass**\n\n", n, n, n)
	}, "", "")},
	{"spec-kit", markdown.Any{}, repeated("# Tasks\n\n## Phase 1: Setup\n\n", func(n int) string {
		return fmt.Sprintf("- [ ] T%06d [P] [US1] Round totals in `src/cart/%d.go`%s\n", n, n, dependsOnLast(n, " (depends on T%06d)"))
	}, "", "")},
	{"boxes", markdown.Any{}, repeated("# TODO\n\n", func(n int) string {
		return fmt.Sprintf("- [ ] Round totals number %d in the cart\n", n)
	}, "", "")},
	{"backlog", backlog.Table{}, repeated("| ID | Task | Status | Priority | Feature.md |\n|----|------|--------|----------|------------|\n", func(n int) string {
		return fmt.Sprintf("| TECH-%06d | Round totals number %d | queued | P1 | [spec](features/TECH-%06d.md) |\n", n, n, n)
	}, "", "")},
	{"wreck-it", jsonform.Tasks{}, repeated("[\n", func(n int) string {
		return fmt.Sprintf("  {\n    \"id\": \"t%d\",\n    \"description\": \"Round totals number %d\",\n    \"status\": \"pending\",\n    \"priority\": %d,\n    \"depends_on\": [%s]\n  }", n, n, n%10, dependsOnLast(n, `"t%d"`))
	}, ",\n", "\n]\n")},
	{"task-master", jsonform.Tasks{}, repeated("{\"master\": {\"tasks\": [\n", func(n int) string {
		return fmt.Sprintf("  {\n    \"id\": %d,\n    \"title\": \"Round totals number %d\",\n    \"description\": \"In the cart.\",\n    \"status\": \"pending\",\n    \"priority\": \"high\",\n    \"dependencies\": [%s],\n    \"subtasks\": []\n  }", n, n, dependsOnLast(n, "%d"))
	}, ",\n", "\n]}}\n")},
	{"prd", jsonform.PRD{}, repeated("{\"userStories\": [\n", func(n int) string {
		return fmt.Sprintf("  {\n    \"id\": \"US-%06d\",\n    \"title\": \"Round totals number %d\",\n    \"description\": \"In the cart.\",\n    \"acceptanceCriteria\": [\"1.005 becomes 1.01\"],\n    \"priority\": %d,\n    \"passes\": false\n  }", n, n, n)
	}, ",\n", "\n]}\n")},
}

func dependsOnLast(n int, format string) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(format, n-1)
}

// readAndMark reads a list and marks its last task as done.
func readAndMark(f form.Form, data []byte) (ledger.Snapshot, error) {
	s, err := f.Parse("list", data)
	if err != nil {
		return s, err
	}
	id := s.Tasks[len(s.Tasks)-1].ID
	marked, gone, err := f.Mark("list", data, []ledger.Marking{{Task: id, Mark: ledger.MarkDone}})
	if err == nil && (len(gone) > 0 || bytes.Equal(marked, data)) {
		err = fmt.Errorf("%s is not marked", id)
	}
	return s, err
}

// largeIn names the variable with the form and the file that the helper process of
// BenchmarkLargeList reads.
const largeIn = "NIGHTPORTER_TEST_LARGE"

// largeFigures is what that process prints.
type largeFigures struct {
	Took time.Duration
	CPU  time.Duration // of the process, its collector with it
	RSS  int           // kB, the most that the process had
}

// TestLargeHelper is that process.
func TestLargeHelper(t *testing.T) {
	name, file, ok := strings.Cut(os.Getenv(largeIn), "=")
	if !ok {
		return // it has no list to read
	}
	debug.SetGCPercent(50) // as in the program
	for _, l := range largeLists {
		if l.name != name {
			continue
		}
		began, before := time.Now(), processTime(t)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := readAndMark(l.form, data)
		took := time.Since(began)
		if err != nil {
			t.Fatal(err)
		}
		figures, err := json.Marshal(largeFigures{Took: took, CPU: processTime(t) - before, RSS: highestRSS(t)})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("figures: %s\n", figures)
		runtime.KeepAlive(s)
	}
}

func processTime(t *testing.T) time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func highestRSS(t *testing.T) (kB int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			if _, err := fmt.Sscan(v, &kB); err != nil {
				t.Fatal(err)
			}
		}
	}
	return kB
}

// BenchmarkLargeList reads 100,000 tasks of each form and writes one status, in a
// process of its own, whose memory is measured. The rule is at most 1 s and 200 MB.
//
// Baselines: SHA-256 of the same text, which every look at a source takes, and a tenth
// of the tasks.
func BenchmarkLargeList(b *testing.B) {
	const n = 100_000
	for _, l := range largeLists {
		b.Run(l.name, func(b *testing.B) {
			files := map[int]string{}
			for _, size := range []int{n, n / 10} {
				files[size] = filepath.Join(b.TempDir(), "list")
				if err := os.WriteFile(files[size], l.text(size), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			data := l.text(n)
			best, used, most := map[int]time.Duration{}, map[int]time.Duration{}, 0
			hash := time.Hour
			for b.Loop() {
				for size, file := range files {
					f := inProcess(b, l.name, file)
					if best[size] == 0 || f.Took < best[size] {
						best[size] = f.Took
					}
					if used[size] == 0 || f.CPU < used[size] {
						used[size] = f.CPU
					}
					most = max(most, f.RSS)
				}
				began := time.Now()
				sha256.Sum256(data)
				hash = min(hash, time.Since(began))
			}
			b.ReportMetric(best[n].Seconds(), "s")
			b.ReportMetric(used[n].Seconds(), "cpu-s")
			b.ReportMetric(float64(best[n])/float64(hash), "s/hash")
			b.ReportMetric(float64(used[n])/float64(used[n/10]), "cpu-100k/10k")
			b.ReportMetric(float64(most)/1000, "rss-MB")
			b.ReportMetric(float64(len(data))/1e6, "file-MB")
			b.ReportMetric(0, "ns/op") // of all processes: says nothing
		})
	}
}

// inProcess reads and marks a file in a process of its own.
func inProcess(b *testing.B, name, file string) (f largeFigures) {
	cmd := exec.CommandContext(b.Context(), os.Args[0], "-test.run", "^TestLargeHelper$")
	cmd.Env = append(os.Environ(), largeIn+"="+name+"="+file)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if text, ok := strings.CutPrefix(line, "figures: "); ok {
			if err := json.Unmarshal([]byte(text), &f); err != nil {
				b.Fatal(err)
			}
			return f
		}
	}
	b.Fatalf("no figures:\n%s", out)
	return f
}
