package agent

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestMemoryBomb: a session whose processes use more memory together than the
// limit ends, all of it, and says why. Memory that processes share counts once.
func TestMemoryBomb(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level, func(o *Options) { o.Limits = Limits{Memory: 100e6} })
		// Three processes of 60 MB each; the machine survives a limit that fails.
		m := uniqueSleep(t)
		x := h.run("r1-1", `for i in 1 2 3; do perl -e '$x = "x" x 30e6; sleep `+m+`' & done; wait`)
		if x.Reason != ledger.ExitMemory || !strings.Contains(x.Text, "of 100 MB") {
			t.Errorf("exit %+v\n%s", x, h.log("r1-1"))
		}
		if took := x.Took(); took > 30*time.Second {
			t.Errorf("it took %s", took)
		}
		none(t, m)
		// One block of 60 MB, shared by four processes after a fork.
		x = h.run("r1-2", `perl -e '$x = "x" x 30e6; for (1..3) { last unless fork } select undef, undef, undef, 1.5'`)
		if x.Reason != ledger.ExitSelf || x.Code != 0 {
			t.Errorf("shared memory: %+v", x)
		}
	})
}

// TestForkBomb: a session that only makes processes ends, all of it. Its limit of
// processes is small, and the kernel enforces it too, so that the machine
// survives.
func TestForkBomb(t *testing.T) {
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level, func(o *Options) { o.Limits = Limits{Processes: 100} })
		began, m := time.Now(), uniqueSleep(t)
		x := h.run("r1-1", `perl -e 'while (1) { fork } sleep `+m+`'`) // a shell's bomb ends by itself where it cannot fork
		if x.Reason != ledger.ExitProcesses || !strings.Contains(x.Text, "limit of 100") {
			t.Errorf("exit %+v\n%s", x, h.log("r1-1"))
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("it took %s", took)
		}
		none(t, m)
	})
}

// TestFileLimit: no process of a session opens more files than the limit, or
// raises it.
func TestFileLimit(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level, func(o *Options) { o.Limits = Limits{Files: 64} })
		x := h.run("r1-1", `ulimit -n; ulimit -Hn; ulimit -Hn 128 2>/dev/null && echo BAD; echo end`)
		if x.Tail != "64\n64\nend\n" {
			t.Errorf("exit %+v", x)
		}
	})
}
