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

// readFailures returns what failed in a command, nil if it was not red or its
// output cannot be read. Reading 20 MB takes a second or two and as much
// memory; Wait is called outside of the engine's goroutine.
func readFailures(x ledger.Exit, s spec, folder string) (_ *ledger.Failures, err error) {
	end := testreport.Ended{Exit: x.Code, Dirs: []string{s.Plan.Dir, folder}}
	switch {
	case x.Reason == ledger.ExitWall || x.Reason == ledger.ExitStall:
		end.Stopped = string(x.Reason)
	case x.Reason != ledger.ExitSelf || x.Code == 0:
		return nil, nil
	}
	// The output is written by what a session may have changed. Parse never
	// panics, by its tests; if it does, the daemon must not end by it.
	defer func() {
		if p := recover(); p != nil {
			err = errors.Join(err, fmt.Errorf("read failures: %v", p))
		}
	}()
	out, err := openOutput(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	var text strings.Builder
	if _, err := io.Copy(&text, io.LimitReader(out, headSize+2*tailSize)); err != nil {
		return nil, err
	}
	f := testreport.Parse(text.String(), end).Summary(maxFailures)
	return &f, nil
}
