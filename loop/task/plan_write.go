package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// MarkPlan returns the text of a plan with statuses written into it: of each
// task only the characters of its status change, every other byte stays. The
// second result are the ids that the text does not have; everything else is
// marked all the same. A text with errors is marked too as long as each task's
// line can be told; where it cannot (an id that is there twice, no text at
// all), the error is a *ledger.InputError and nothing is to be written.
func MarkPlan(file string, data []byte, marks []ledger.Marking) (marked []byte, gone []string, err error) {
	p := scanPlan(filepath.Base(file), data)
	if len(p.lines) == 0 && len(p.findings) > 0 && len(data) > 0 {
		return nil, nil, p.err()
	}
	index := map[string][]int{}
	for n, t := range p.tasks {
		index[ledger.FoldID(t.id)] = append(index[ledger.FoldID(t.id)], n)
	}
	want := map[int]ledger.Mark{} // the last one of several for one task
	for _, m := range marks {
		switch m.Mark {
		case ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify:
		default:
			return nil, nil, fmt.Errorf("mark %s: unknown mark %q", m.Task, m.Mark)
		}
		switch at := index[ledger.FoldID(m.Task)]; len(at) {
		case 0:
			gone = append(gone, m.Task)
		case 1:
			want[at[0]] = m.Mark
		default:
			p.read() // finds the lines that share the id
			return nil, nil, p.err()
		}
	}
	var edits []edit
	for n, m := range want {
		edits = append(edits, p.tasks[n].edits(data, m)...)
	}
	marked = apply(data, edits)
	return marked, gone, p.check(marked, want)
}

// edit replaces a span of the text.
type edit struct {
	span
	text string
}

func apply(data []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Or(a.start-b.start, a.end-b.end) })
	out := make([]byte, 0, len(data)+16*len(edits))
	last := 0
	for _, e := range edits {
		out = append(append(out, data[last:e.start]...), e.text...)
		last = e.end
	}
	return append(out, data[last:]...)
}

// edits are what makes the line say m, nothing where it does.
func (t taskLine) edits(data []byte, m ledger.Mark) []edit {
	var edits []edit
	box := string(data[t.box.start:t.box.end])
	switch done := m == ledger.MarkDone; {
	case done && box != "x" && box != "X":
		edits = append(edits, edit{t.box, "x"})
	case !done && box != " ":
		edits = append(edits, edit{t.box, " "})
	}
	words, marked := planWord(m)
	for n, k := range t.marks {
		switch {
		case !marked || n > 0:
			edits = append(edits, edit{k.withSpace(data), ""})
		case k.mark != m:
			edits = append(edits, edit{k.span, words})
		}
	}
	if marked && len(t.marks) == 0 {
		at := t.box.end + 1
		edits = append(edits, edit{span{at, at}, " " + words})
	}
	return edits
}

// withSpace is the mark and the one space that came with it. Before the title
// one must stay: "[ ] (blocked)**Task" has only the box's own. One behind a
// backslash keeps that from escaping what follows.
func (m planMark) withSpace(data []byte) span {
	space := func(i int) bool { return i < len(data) && (data[i] == ' ' || data[i] == '\t') }
	before, after := space(m.start-1) && data[m.start-2] != '\\', space(m.end)
	switch {
	case before && (after || !m.lead):
		return span{m.start - 1, m.end}
	case after && m.lead:
		return span{m.start, m.end + 1}
	}
	return m.span
}

// check reads the marked text again before anybody writes it: each task must
// be where it was and say what was asked for, or for the others what it said.
func (p *plan) check(marked []byte, want map[int]ledger.Mark) error {
	again := scanPlan(p.file, marked)
	same := len(again.tasks) == len(p.tasks) && len(again.lines) == len(p.lines)
	for n := 0; same && n < len(p.tasks); n++ {
		old, now := p.tasks[n], again.tasks[n]
		m, ok := want[n]
		if !ok {
			m = old.state(p.data)
		}
		same = old.id == now.id && old.line == now.line && old.title == now.title && now.state(marked) == m
	}
	if !same {
		return fmt.Errorf("mark %s: the marked text does not read back as intended; nothing was written", p.file)
	}
	return nil
}

// planSource is a plan in a checkout.
type planSource struct {
	place
	log  place
	opts Options
	file *sharedFile
}

func openPlan(k *Kind, path, repo string, opts Options) (Source, error) {
	at, err := newPlace(k, path, repo)
	if err != nil {
		return nil, err
	}
	if name := planName(at.rel); filepath.Ext(name) == ".progress" {
		return nil, inputError(at.rel, "is a progress log, not a plan", "Name the plan beside it")
	}
	if _, err := at.target(); err != nil {
		return nil, at.readError(err)
	}
	log, err := newPlace(k, filepath.Join(filepath.Dir(at.path), planName(at.rel)+".progress.md"), at.repo)
	if err != nil {
		return nil, err
	}
	return &planSource{place: at, log: log, opts: opts, file: &sharedFile{place: at, exchange: exchange}}, nil
}

// readError makes what keeps a file from being read something that a person
// can mend.
func (p place) readError(err error) error {
	if input := (*ledger.InputError)(nil); errors.As(err, &input) {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return inputError(p.rel, "there is no such file in "+p.repo, "Check the path after "+p.kind.Name+":")
	case errors.Is(err, fs.ErrPermission):
		return inputError(p.rel, "cannot be read: "+err.Error(), "Give the user that runs nightporter access to it")
	}
	return fmt.Errorf("read %s: %w", p.rel, err)
}

// Read implements Source.
func (s *planSource) Read(ctx context.Context) (ledger.Snapshot, error) {
	if ctx.Err() != nil {
		return ledger.Snapshot{}, context.Cause(ctx)
	}
	data, err := s.file.read(ctx)
	if err != nil {
		return ledger.Snapshot{}, s.readError(err)
	}
	snapshot, err := ParsePlan(s.rel, data)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	snapshot.Warnings = append(snapshot.Warnings, s.kind.Lint(snapshot)...)
	slices.SortStableFunc(snapshot.Warnings, func(a, b ledger.Diagnostic) int { return a.Line - b.Line })
	return snapshot, nil
}

// Mark implements Source. With Options.CommitStatus it does nothing.
func (s *planSource) Mark(ctx context.Context, marks []ledger.Marking) error {
	if ctx.Err() != nil || s.opts.CommitStatus || len(marks) == 0 {
		return context.Cause(ctx)
	}
	var gone []string
	err := s.file.rewrite(ctx, func(fresh []byte) ([]byte, error) {
		next, missing, err := MarkPlan(s.rel, fresh, marks)
		gone = missing
		return next, err
	})
	input := (*ledger.InputError)(nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		for _, m := range marks {
			gone = append(gone, m.Task)
		}
		return &GoneError{File: s.short(), Tasks: gone, Err: fs.ErrNotExist}
	case errors.As(err, &input):
		return err
	case err != nil:
		return fmt.Errorf("mark %s: %w", s.rel, err)
	case len(gone) > 0:
		return &GoneError{File: s.short(), Tasks: gone}
	}
	return nil
}

// Owned implements Source.
func (s *planSource) Owned() []string {
	return slices.Concat(s.place.owned(), s.log.owned())
}
