package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// compactsAgain is what opencode prints when it has compacted a conversation.
const compactsAgain = `{"type":"text","part":{"type":"text","metadata":{"compaction_continue":true},"synthetic":true,"text":"Go on."}}`

// TestCircle: a session whose output shows that it goes in a circle is ended, and its
// exit says why, although the stream's last error would be another reason. The same
// output of an agent that prints no such events is text.
func TestCircle(t *testing.T) {
	t.Parallel()
	script := strings.Repeat("echo '"+compactsAgain+"'\n", 3) + `echo '{"type":"error","error":{"name":"ContextOverflowError"}}'` + "\n"
	for output, want := range map[string]ledger.ExitReason{adapter.Opencode: ledger.ExitCircle, adapter.Text: ledger.ExitSelf} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			m := uniqueSleep(t)
			end := ""
			if want == ledger.ExitCircle {
				end = "sleep " + m + "\n"
			}
			h := newFixture(t, supportedLevel())
			path := filepath.Join(h.out, "opencode.sh")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+end), 0o755); err != nil {
				t.Fatal(err)
			}
			h.runner.o.Agents["mine"] = Definition{Name: "mine", Dir: h.out, Command: []string{path, "run"}, Output: output}
			h.start(h.launch("r1-1"))
			x := h.wait("r1-1")
			none(t, m)
			if x.Reason != want || want == ledger.ExitCircle && x.Text != "it compacted its conversation 3 times in a row without a tool call" {
				t.Errorf("exit = %+v\n%s", x, h.log("r1-1"))
			}
		})
	}
}

// TestCircleLines: the output is read by lines however it comes, lines that are too long
// to keep come without their end, and a reason is given once.
func TestCircleLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*circleLine)
	output := "first\n\n" + long + "\nbad\nbad\nnever ended"
	for size := 1; size <= len(output); size = size*3/2 + 1 {
		var lines []string
		w := &circleWatch{found: make(chan string, 1), read: func(line []byte) string {
			lines = append(lines, string(line))
			return map[bool]string{true: "a circle"}[string(line) == "bad"]
		}}
		for rest := output; rest != ""; {
			n := min(size, len(rest))
			w.next([]byte(rest[:n]))
			rest = rest[n:]
		}
		if got, want := fmt.Sprint(lines), fmt.Sprint([]string{"first", "", long[:circleLine], "bad"}); got != want {
			t.Fatalf("in pieces of %d: %.200s", size, got)
		}
		select {
		case why := <-w.reason():
			if why != "a circle" {
				t.Errorf("in pieces of %d: %q", size, why)
			}
		default:
			t.Errorf("in pieces of %d: no reason", size)
		}
	}
	var none *circleWatch
	none.next([]byte("x\n"))
	select {
	case <-none.reason():
		t.Error("no watch has a reason")
	case <-time.After(0):
	}
}
