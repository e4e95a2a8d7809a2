package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
)

// bdProgram is the program that beads' database is written through.
const bdProgram = "bd"

// Limits of a call of bd: it may commit and push.
const (
	bdTime = 2 * time.Minute
	bdRest = 5 * time.Second // for a process that bd leaves behind and that holds its output
)

// beadsSource is an export of bd whose issues are closed through bd. The file itself is
// never written.
type beadsSource struct {
	*fileSource
	lookPath func(string) (string, error)
}

// openBeads opens an export of bd. With Options.BdWrite its issues are closed through
// bd, without it nothing is written.
func openBeads(k *Kind, path, repo string, opts Options) (Source, error) {
	source, err := openFile(k, path, repo, opts)
	if err != nil || !opts.BdWrite {
		return source, err
	}
	return &beadsSource{fileSource: source.(*fileSource), lookPath: exec.LookPath}, nil
}

// program returns the path of bd, or a *ledger.InputError.
func (s *beadsSource) program() (string, error) {
	program, err := s.lookPath(bdProgram)
	if err != nil {
		return "", inputError(s.rel, "bd_write = true, and bd is not on PATH", "Install bd, or take bd_write out: then nothing is closed")
	}
	return program, nil
}

// Read implements Source. Without bd there is an error before a night begins, not at
// its first finished task.
func (s *beadsSource) Read(ctx context.Context) (ledger.Snapshot, error) {
	if _, err := s.program(); err != nil {
		return ledger.Snapshot{}, err
	}
	return s.fileSource.Read(ctx)
}

// Mark implements Source. It closes the issues that are done and that the export does
// not call closed; other marks change nothing.
func (s *beadsSource) Mark(ctx context.Context, marks []ledger.Marking) error {
	err := s.fileSource.Mark(ctx, marks) // finds what is gone
	gone := (*GoneError)(nil)
	if err != nil && !errors.As(err, &gone) || gone != nil && gone.Err != nil {
		return err
	}
	now, readErr := s.Read(ctx)
	if readErr != nil {
		return readErr
	}
	for n, m := range marks {
		later := slices.ContainsFunc(marks[n+1:], func(o ledger.Marking) bool { return ledger.SameID(o.Task, m.Task) })
		i := slices.IndexFunc(now.Tasks, func(t ledger.Task) bool { return ledger.SameID(t.ID, m.Task) })
		if later || i < 0 || m.Mark != ledger.MarkDone || now.Tasks[i].Mark == ledger.MarkDone {
			continue
		}
		if err := s.closeIssue(ctx, now.Tasks[i].ID); err != nil {
			return err
		}
	}
	return err
}

// closeIssue has bd close an issue. bd is the user's own program, at work on their
// database in their checkout: it runs as a person runs it, outside of any boundary.
func (s *beadsSource) closeIssue(ctx context.Context, id string) error {
	program, err := s.program()
	if err != nil {
		return err
	}
	if strings.HasPrefix(id, "-") {
		return inputError(s.rel, fmt.Sprintf("the id %q looks like an option of bd", id), "Give the issue another id")
	}
	ctx, cancel := context.WithTimeout(ctx, bdTime)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "close", id, "--reason", "Done and verified by nightporter")
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = s.repo, &out, &out, bdRest
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		said := strings.TrimSpace(out.String())
		return inputError(s.rel, fmt.Sprintf("bd close %s failed: %s", id, text.First(text.OneLine(said[strings.LastIndexByte(said, '\n')+1:]+" ("+err.Error()+")"), 300)), "Close it yourself: bd close "+id)
	}
	return nil
}
