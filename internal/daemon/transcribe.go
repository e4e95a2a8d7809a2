package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Bounds of the program that turns speech into words.
const (
	transcribeTime = 5 * time.Minute
	maxHeard       = 64 << 10 // bytes of its output that are read
	transcribeKept = 5        // calls whose folders stay
)

// transcribe turns a recording into words by the program of the configuration: a
// session without an agent, because the program may lie in a repository that sessions
// write.
func (d *Daemon) transcribe(ctx context.Context, id, typ string, data []byte) (string, error) {
	program := d.Projects.Config().Transcribe
	if len(program) == 0 {
		return "", errors.New("transcribe is not set any more")
	}
	calls := "voice-" + id + "-"
	name := fmt.Sprintf("%s%d", calls, time.Now().UnixNano())
	run := filepath.Join(d.o.State, "runs", name)
	work := filepath.Join(run, "work")
	_, ext, _ := strings.Cut(typ, "/")
	file := "voice." + ext
	if err := os.MkdirAll(work, 0o700); err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(run) }() // it is removed with those of old runs, else
	if err := os.WriteFile(filepath.Join(work, file), data, 0o600); err != nil {
		return "", err
	}
	var words []string
	for _, word := range append(append([]string(nil), program...), file) {
		words = append(words, project.Quote(word))
	}
	runner := commands{d.runners, d.sockets}
	err := runner.Start(ctx, ledger.Launch{
		Session: name, Run: name, Project: "voice_", Kind: ledger.KindHook, Work: work,
		Command: "exec " + strings.Join(words, " ") + " >words.txt", Wall: ledger.Duration(transcribeTime),
	})
	if err != nil {
		return "", err
	}
	x, err := runner.Wait(ctx, name)
	if err != nil {
		return "", err
	}
	_ = d.runners.TidyLast("voice-", transcribeKept) // what stays is removed with old sessions
	if x.Reason != ledger.ExitSelf || x.Code != 0 {
		lines := strings.Split(strings.TrimSpace(x.Tail), "\n")
		return "", fmt.Errorf("%s failed: exit code %d. %s", filepath.Base(program[0]), x.Code, strings.TrimSpace(x.Text+" "+lines[len(lines)-1]))
	}
	return readWords(filepath.Join(work, "words.txt"))
}

// readWords reads what the program printed. Its folder was the program's own: only a
// regular file is read.
func readWords(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("the program replaced its output")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxHeard))
	return strings.TrimSpace(string(text)), err
}
