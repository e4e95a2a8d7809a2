package task

import (
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Stamp returns the file and its progress log of a commit's tree with marks and
// a log entry added, by path below the repository. read returns a file of that
// tree, or nil. A file that is not in the tree, or that lacks a task, stays as
// it is: the ledger alone decides which tasks are done.
func (s *fileSource) Stamp(read func(path string) ([]byte, error), marks []ledger.Marking, p ledger.Progress) (map[string][]byte, error) {
	text, err := read(s.rel)
	if err != nil || text == nil {
		return nil, err
	}
	marked, _, err := s.form.Mark(s.rel, text, marks)
	if err != nil {
		return nil, fmt.Errorf("mark %s: %w", s.rel, err)
	}
	log, err := read(s.log.rel)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		s.rel:     marked,
		s.log.rel: AppendProgress(form.Name(s.rel), log, p, s.opts.Zone),
	}, nil
}
