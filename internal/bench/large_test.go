package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// A large repository: nested folders, with files of 1 to 20 kB.
const (
	largeModules = 30
	largeParts   = 10 // in each
	largeUnits   = 5  // in each part
	largeFiles   = 10 // in each unit: 15,000 in all
)

// BenchmarkLarge is a night in a repository of 15,000 files: its preflight, from a
// repository that nightporter sees for the first time until the first task begins,
// and the gaps between two sessions, the longest of which is that after a builder,
// whose files are captured. Real programs, git and boundary; no verification.
//
// Two nights, and a third one with a recorder in git's place, which counts git's
// processes. The baselines are measured before each night: `git clone --shared` of
// the same repository, which writes the same files and fetches nothing, and
// `git status` in it. Processor time is that of nightporter and of the git that it
// started; the two ways of measuring differ less by what else the machine does.
//
// Figures: preflight ≤ 5 s; the gap after a builder ≤ 1.5 s, with ≤ 20 processes
// of git.
func BenchmarkLarge(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("processor time is read from Linux's /proc")
	}
	bin := programs(b)
	repo := filepath.Join(shared(b), "shop")
	largeRepository(b, repo)
	for b.Loop() {
	}
	walls, cpus := map[string][]time.Duration{}, map[string][]time.Duration{}
	for range 2 {
		baselines(b, repo, walls, cpus)
		spans, used := night(b, bin, os.Getenv("PATH"), repo)
		for _, s := range spans {
			walls[s.from] = append(walls[s.from], s.took())
			cpus[s.from] = append(cpus[s.from], used.of(s))
		}
	}
	path, log := record(b)
	recorded, _ := night(b, bin, path, repo)
	attribute(b, log, recorded)

	least := func(name string) (wall, cpu time.Duration) { return slices.Min(walls[name]), slices.Min(cpus[name]) }
	report := func(name string, wall, cpu time.Duration) {
		b.ReportMetric(ms(wall), name+"-ms")
		b.ReportMetric(ms(cpu), name+"-cpu-ms")
	}
	cloneWall, cloneCPU := least("clone")
	report("clone", cloneWall, cloneCPU)
	statusWall, statusCPU := least("status")
	report("status", statusWall, statusCPU)
	wall, cpu := least("preflight")
	report("preflight", wall, cpu)
	b.ReportMetric(float64(wall)/float64(cloneWall), "preflight/clone")
	b.ReportMetric(float64(cpu)/float64(cloneCPU), "preflight/clone-cpu")
	for _, from := range []string{"planner", "builder", "reviewer"} {
		wall, _ := median(walls[from])
		cpu, _ := median(cpus[from])
		report(from+"-gap", wall, cpu)
		b.ReportMetric(float64(wall)/float64(statusWall), from+"-gap/status")
		b.ReportMetric(float64(cpu)/float64(statusCPU), from+"-gap/status-cpu")
	}
	procs := map[string][]int{}
	for _, s := range recorded {
		procs[s.from] = append(procs[s.from], s.gitProcs)
	}
	for from, all := range procs {
		middle, _ := median(all)
		b.ReportMetric(float64(middle), from+"-git-processes")
	}
	b.ReportMetric(0, "ns/op") // of an empty turn: says nothing
}

// baselines measures the git commands that figures are compared with.
func baselines(b *testing.B, repo string, walls, cpus map[string][]time.Duration) {
	b.Helper()
	measure := func(name string, args ...string) {
		cmd := exec.CommandContext(b.Context(), "git", args...)
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
		walls[name] = append(walls[name], time.Since(began))
		cpus[name] = append(cpus[name], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	clone := filepath.Join(b.TempDir(), "clone")
	// The clones stay until the end: ext4 is slow at making files right after as many
	// were removed.
	measure("clone", "clone", "--quiet", "--shared", repo, clone)
	for range 5 {
		measure("status", "-C", repo, "status", "--porcelain")
	}
}

// largeRepository makes a repository like one that was cloned: its objects are in
// one pack.
func largeRepository(b *testing.B, repo string) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same files each time
	words := strings.Fields("func return if err nil range string int error the cart total sum round half price line of a for var const type struct map key value append len test want got t b c x y")
	var text strings.Builder
	write := func(name string) {
		size := int(math.Exp(math.Log(1000) + random.Float64()*math.Log(20))) // as many of 1 to 2 kB as of 10 to 20
		for text.Reset(); text.Len() < size; {
			for range 4 + random.IntN(8) {
				fmt.Fprintf(&text, "%s%d ", words[random.IntN(len(words))], random.IntN(50))
			}
			text.WriteByte('\n')
		}
		if err := os.WriteFile(name, []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for m := range largeModules {
		module := filepath.Join(repo, fmt.Sprintf("folder%d", m))
		for p := range largeParts {
			for u := range largeUnits {
				unit := filepath.Join(module, fmt.Sprintf("part%d", p), fmt.Sprintf("unit%d", u))
				if err := os.MkdirAll(unit, 0o755); err != nil {
					b.Fatal(err)
				}
				for f := range largeFiles {
					write(filepath.Join(unit, fmt.Sprintf("file%d.go", f)))
				}
			}
		}
		write(filepath.Join(module, "file7.txt"))
	}
	writePlan(b, repo)
	commitAll(b, repo)
	runGit(b, repo, "repack", "-a", "-d", "--quiet")
}
