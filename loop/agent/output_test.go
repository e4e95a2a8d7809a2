package agent

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// floodHelper prints numbered lines of 100 bytes, up to the given size.
func floodHelper(size string) int {
	n, err := strconv.Atoi(size)
	if err != nil {
		return 2
	}
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	for i := 0; i < n/100; i++ {
		if _, err := fmt.Fprintf(w, "%099d\n", i); err != nil {
			return 1
		}
	}
	if w.Flush() != nil {
		return 1
	}
	return 0
}

// floodSize returns the size of the flood test's output. NIGHTPORTER_SOAK=1
// makes it 1 GB.
func floodSize() int {
	if os.Getenv("NIGHTPORTER_SOAK") != "" {
		return 1 << 30
	}
	return 32 << 20
}

func TestFlood(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 0)
	size := floodSize()
	x := h.run("r1-1", fmt.Sprintf("%s flood %d", h.program(), size))
	if x.Reason != ledger.ExitSelf || x.Code != 0 {
		t.Fatalf("exit = %+v", x)
	}
	last := fmt.Sprintf("%099d\n", size/100-1)
	if !strings.HasSuffix(x.Tail, last) || len(x.Tail) > lastSize || len(x.Tail)%100 != 0 {
		t.Errorf("tail of %d bytes is not the end, or not whole lines", len(x.Tail))
	}
	folder := h.runner.folder("r1-1")
	head, tail := readWhole(t, folder)
	if len(head) > headSize || len(head) < headSize-100 || len(tail) > tailSize+100 || len(tail) < tailSize-200 {
		t.Errorf("kept %d and %d bytes", len(head), len(tail))
	}
	if !bytes.HasSuffix(tail, []byte(last)) {
		t.Error("the tail does not end with the output's end")
	}
	checkWholeLines(t, head)
	checkWholeLines(t, tail)
}

func readWhole(t *testing.T, folder string) (head, tail []byte) {
	t.Helper()
	head, err := os.ReadFile(filepath.Join(folder, fileHead))
	if err != nil {
		t.Fatal(err)
	}
	if tail, err = os.ReadFile(filepath.Join(folder, fileTail)); err != nil && !isGone(err) {
		t.Fatal(err)
	}
	return head, tail
}

// checkWholeLines fails the test unless every line is one that the flood
// printed, or a mark.
func checkWholeLines(t *testing.T, text []byte) {
	t.Helper()
	for line := range bytes.Lines(text) {
		if len(line) != 100 && len(line) > 1 && !bytes.HasPrefix(line, []byte("[nightporter: ")) {
			t.Errorf("cut line %q", line)
			return
		}
	}
}

// TestOutputPieces: for any output in any pieces, head and tail are its start
// and end, cut between lines. If the output fits, it is complete.
func TestOutputPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		dir := t.TempDir()
		const headMax, tailMax = 500, 200
		o, err := newOutput(dir, headMax, tailMax)
		if err != nil {
			t.Fatal(err)
		}
		var all []byte
		for range rng.IntN(30) {
			line := strconv.Itoa(len(all)) + strings.Repeat("x", rng.IntN(40))
			all = append(all, line...)
			if rng.IntN(8) > 0 {
				all = append(all, '\n')
			}
		}
		for rest := all; len(rest) > 0; {
			n := min(len(rest), 1+rng.IntN(300))
			if _, err := o.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := o.close(); err != nil {
			t.Fatal(err)
		}
		head, tail := readWhole(t, dir)
		if !bytes.HasPrefix(all, head) {
			t.Fatalf("%d: the head is not the start", i)
		}
		if len(all) <= headMax {
			if !bytes.Equal(head, all) || tail != nil {
				t.Fatalf("%d: not everything is there", i)
			}
			continue
		}
		if head[len(head)-1] != '\n' || len(head) > headMax {
			t.Fatalf("%d: the head is cut in mid-line", i)
		}
		if bytes.Equal(append(bytes.Clone(head), tail...), all) {
			continue
		}
		_, end, marked := bytes.Cut(tail, []byte("]\n"))
		if !marked || len(end) > tailMax || !bytes.HasSuffix(all, end) {
			t.Fatalf("%d: the tail is not the end: %q", i, tail)
		}
		if before := all[:len(all)-len(end)]; before[len(before)-1] != '\n' && !bytes.Contains(tail, []byte("start of this line")) {
			t.Fatalf("%d: the tail begins in mid-line: %q", i, tail)
		}
	}
}

// TestOutputLongLine writes one line longer than all kept parts, and text after
// it.
func TestOutputLongLine(t *testing.T) {
	for _, end := range []string{"", "\n", "\nresult\n"} {
		dir := t.TempDir()
		o, err := newOutput(dir, 1000, 300)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Repeat("y", 50_000) + end
		if _, err := io.Copy(struct{ io.Writer }{o}, strings.NewReader(all)); err != nil {
			t.Fatal(err)
		}
		if err := o.close(); err != nil {
			t.Fatal(err)
		}
		head, tail := readWhole(t, dir)
		if !bytes.Contains(head, []byte("[nightporter: ")) || !bytes.Contains(tail, []byte("[nightporter: ")) {
			t.Errorf("no mark: %q … %q", head[len(head)-80:], tail[:80])
		}
		if !bytes.HasSuffix(tail, []byte(end)) || len(tail) > 400 {
			t.Errorf("tail = %q", tail)
		}
		if len(o.lastLines()) > lastSize {
			t.Error("last lines are too long")
		}
	}
}

// TestOutputDiskFull: a full disk does not stop the reading of the output, so
// that the session can be ended.
func TestOutputDiskFull(t *testing.T) {
	dir := t.TempDir()
	o, err := newOutput(dir, 1000, 300)
	if err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("SKIPPED: no /dev/full: %v", err)
	}
	if err := o.head.Close(); err != nil {
		t.Fatal(err)
	}
	o.head = full
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &supervisor{out: o}
	in := &reaperProcess{pipe: r, printed: make(chan struct{})}
	go s.copyOutput(in)
	if _, err := w.Write(bytes.Repeat([]byte("line\n"), 100_000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	<-in.printed
	if !s.diskFull.Load() || s.printed.Load() != 500_000 {
		t.Errorf("disk full: %v, read %d", s.diskFull.Load(), s.printed.Load())
	}
}

// TestExitSpaceIsReserved: when the state folder's disk is full, a session's
// exit is still recorded, with that reason.
func TestExitSpaceIsReserved(t *testing.T) {
	dir := t.TempDir()
	if err := reserveExitSpace(dir); err != nil {
		t.Fatal(err)
	}
	want := ledger.Exit{Session: "r1-1", Reason: ledger.ExitDisk, Tail: strings.Repeat("\x01", lastSize)}
	if err := saveExit(dir, want); err != nil {
		t.Fatal(err)
	}
	var got ledger.Exit
	if err := readJSON(filepath.Join(dir, fileExit), &got); err != nil || got.Tail != want.Tail {
		t.Errorf("%v", err)
	}
	if fi, err := os.Stat(filepath.Join(dir, fileExit)); err != nil || fi.Size() > exitSize {
		t.Errorf("exit.json outgrew its reserve: %v, %v", fi.Size(), err)
	}
}
