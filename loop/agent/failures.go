package agent

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/testreport"
)

// maxFailures is the number of failures that the ledger keeps by name. More of
// them say that everything is broken, and their names help nobody.
const maxFailures = 200

// readReport adds to a command's exit what failed in it, if it was red, and how
// many tests ran, if its output can be read. Reading 20 MB takes a second or two
// and as much memory; Wait is called outside of the engine's goroutine.
func readReport(x *ledger.Exit, s spec, folder string) (err error) {
	end := testreport.Ended{Exit: x.Code, Dirs: []string{s.Plan.Dir, folder}}
	switch {
	case x.Reason == ledger.ExitWall || x.Reason == ledger.ExitStall:
		end.Stopped = string(x.Reason)
	case x.Reason != ledger.ExitSelf, x.Code == 0 && s.Kind == ledger.KindSetup:
		return nil
	}
	// The output is written by what a session may have changed. Parse never
	// panics, by its tests; if it does, the daemon must not end by it.
	defer func() {
		if p := recover(); p != nil {
			err = errors.Join(err, fmt.Errorf("read output: %v", p))
		}
	}()
	out, err := openOutput(folder)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	var text strings.Builder
	if _, err := io.Copy(&text, io.LimitReader(out, headSize+2*tailSize)); err != nil {
		return err
	}
	if x.Code == 0 && end.Stopped == "" {
		x.Ran = testreport.Count(text.String())
		return nil
	}
	r := testreport.Parse(text.String(), end)
	f := r.Summary(maxFailures)
	x.Failures, x.Ran = &f, r.Ran
	return nil
}
