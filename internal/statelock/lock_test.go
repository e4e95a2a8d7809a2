package statelock

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
)

const holdEnv = "STATELOCK_TEST_HOLD"

// TestMain makes the test binary the second process: with holdEnv set it takes
// the lock of that folder, prints a line, and holds the lock until its input
// ends.
func TestMain(m *testing.M) {
	if dir := os.Getenv(holdEnv); dir != "" {
		l, err := Take(dir)
		if err != nil {
			fmt.Println("no:", err)
			os.Exit(1)
		}
		fmt.Println("held")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		if err := l.Release(); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	leaktest.Main(m.Run)
}

// hold starts a process that holds the lock of dir when hold returns.
func hold(t *testing.T, dir string) (cmd *exec.Cmd, release func()) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "held\n" {
		t.Fatalf("holder said %q, %v", line, err)
	}
	return cmd, func() {
		t.Helper()
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Fatalf("holder: %v", err)
		}
	}
}

func wantHeld(t *testing.T, dir string, pid int, held bool) {
	t.Helper()
	p, h, err := Held(dir)
	if err != nil || p != pid || h != held {
		t.Errorf("Held = %d, %v, %v; want %d, %v", p, h, err, pid, held)
	}
}

func TestOtherProcessHolds(t *testing.T) {
	dir := t.TempDir()
	wantHeld(t, dir, 0, false) // no file yet
	cmd, release := hold(t, dir)
	wantHeld(t, dir, cmd.Process.Pid, true)

	_, err := Take(dir)
	var in *InUseError
	if !errors.As(err, &in) || in.PID != cmd.Process.Pid {
		t.Fatalf("Take = %v, want an *InUseError with pid %d", err, cmd.Process.Pid)
	}
	if want := fmt.Sprintf("another nightporter has this state folder (pid %d)", in.PID); !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}

	release()
	wantHeld(t, dir, 0, false)
	l, err := Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	wantHeld(t, dir, os.Getpid(), true)
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestKilledHolderReleases(t *testing.T) {
	dir := t.TempDir()
	cmd, _ := hold(t, dir)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	wantHeld(t, dir, 0, false) // the holder's id remains in the file
	l, err := Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Release() }()
	wantHeld(t, dir, os.Getpid(), true)
}

// TestSurvivesCloseOfTheSameFile checks that the lock survives another open and
// close of the file in this process, and that Held neither takes nor drops it.
func TestSurvivesCloseOfTheSameFile(t *testing.T) {
	dir := t.TempDir()
	l, err := Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(filepath.Join(dir, Name)); err != nil {
		t.Fatal(err)
	}
	wantHeld(t, dir, os.Getpid(), true)
	wantHeld(t, dir, os.Getpid(), true)
	if _, err := Take(dir); !errors.As(err, new(*InUseError)) {
		t.Errorf("second Take in one process = %v, want *InUseError", err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	wantHeld(t, dir, 0, false)
	if _, err := os.Stat(filepath.Join(dir, Name)); err != nil {
		t.Errorf("the lock file is gone after Release: %v", err)
	}
}

func TestQueryOnReadOnlyFile(t *testing.T) {
	dir := t.TempDir()
	l, err := Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, Name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if pid, held, err := Query(f); err != nil || !held || pid != os.Getpid() {
		t.Errorf("Query = %d, %v, %v while held", pid, held, err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if _, held, err := Query(f); err != nil || held {
		t.Errorf("Query = %v, %v after Release", held, err)
	}
}

func TestGarbageInFile(t *testing.T) {
	for _, text := range []string{"", "garbage", "-4", strings.Repeat("9", 40)} {
		dir := t.TempDir()
		l, err := Take(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, Name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		wantHeld(t, dir, 0, true)
		_, err = Take(dir)
		if err == nil || !strings.Contains(err.Error(), "pid not known") {
			t.Errorf("with %q in the file: %v", text, err)
		}
		_ = l.Release()
	}
}

func TestFolderMissing(t *testing.T) {
	if _, err := Take(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Take = %v, want ErrNotExist", err)
	}
}
