package task

import (
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Stamp returns the plan and its progress log of a commit's tree with marks and
// a log entry added, by path below the repository. read returns a file of that
// tree, or nil. A plan that is not in the tree, or that lacks a task, stays as
// it is: the ledger alone decides which tasks are done.
func (s *planSource) Stamp(read func(path string) ([]byte, error), marks []ledger.Marking, p ledger.Progress) (map[string][]byte, error) {
	plan, err := read(s.rel)
	if err != nil || plan == nil {
		return nil, err
	}
	marked, _, err := MarkPlan(s.rel, plan, marks)
	if err != nil {
		return nil, fmt.Errorf("mark %s: %w", s.rel, err)
	}
	log, err := read(s.log.rel)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		s.rel:     marked,
		s.log.rel: AppendProgress(planName(s.rel), log, p, s.opts.Zone),
	}, nil
}
