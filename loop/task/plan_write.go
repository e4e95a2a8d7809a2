package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/nightporter/nightporter/internal/exchange"
	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
)

// MarkPlan returns a plan's text with statuses written into it. It changes only
// the characters of each task's status. gone lists the ids that the plan does
// not have; the other tasks are still marked. A plan with other errors is
// marked as long as each task's line is unambiguous. Otherwise (a duplicate id,
// a file that is no text) the error is a *ledger.InputError, and the caller
// must not write.
func MarkPlan(file string, data []byte, marks []ledger.Marking) (marked []byte, gone []string, err error) {
	p := scanPlan(filepath.Base(file), data)
	if len(p.lines) == 0 && len(p.findings) > 0 && len(data) > 0 {
		return nil, nil, p.err()
	}
	index := map[string][]int{}
	for n, t := range p.tasks {
		index[ledger.FoldID(t.id)] = append(index[ledger.FoldID(t.id)], n)
	}
	want := map[int]ledger.Mark{} // the last mark of each task
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
			p.read() // reports the lines that share the id
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

// edit replaces one span of the text.
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

// edits returns the changes that give the line the status m; none if it has it
// already.
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

// withSpace returns the mark's span with the one space that separates it. A
// lone space before the title stays, because in "[ ] (blocked)**Task" it
// belongs to the box. A space behind a backslash stays, because without it the
// backslash would escape the next character.
func (m planMark) withSpace(data []byte) span {
	space := func(i int) bool { return i < len(data) && (data[i] == ' ' || data[i] == '\t') }
	before, after := space(m.start-1) && data[m.start-2] != '\\', space(m.end)
	switch {
	case before && (after || !m.beforeTitle):
		return span{m.start - 1, m.end}
	case after && m.beforeTitle:
		return span{m.start, m.end + 1}
	}
	return m.span
}

// check parses the marked text again before it is written. Every task must be
// at its old position, with its new status if it was marked and its old one if
// not.
func (p *plan) check(marked []byte, want map[int]ledger.Mark) error {
	reparsed := scanPlan(p.file, marked)
	same := len(reparsed.tasks) == len(p.tasks) && len(reparsed.lines) == len(p.lines)
	for n := 0; same && n < len(p.tasks); n++ {
		old, now := p.tasks[n], reparsed.tasks[n]
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

// planSource is a plan file in the user's checkout.
type planSource struct {
	sourcePath
	log  sourcePath
	opts Options
	file *sharedFile
}

func openPlan(k *Kind, path, repo string, opts Options) (Source, error) {
	at, err := newSourcePath(k, path, repo)
	if err != nil {
		return nil, err
	}
	if name := planName(at.rel); filepath.Ext(name) == ".progress" {
		return nil, inputError(at.rel, "is a progress log, not a plan", "Name the plan beside it")
	}
	if _, err := at.target(); err != nil {
		return nil, at.readError(err)
	}
	log, err := newSourcePath(k, filepath.Join(filepath.Dir(at.path), planName(at.rel)+".progress.md"), at.repo)
	if err != nil {
		return nil, err
	}
	return &planSource{sourcePath: at, log: log, opts: opts, file: &sharedFile{sourcePath: at, exchange: exchange.Files}}, nil
}

// readError turns an error of reading a file into an input error with a remedy.
func (p sourcePath) readError(err error) error {
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
	if err = s.blameRepository(err); fault.Of(err) != "" {
		return err
	}
	input := (*ledger.InputError)(nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		for _, m := range marks {
			gone = append(gone, m.Task)
		}
		return &GoneError{File: s.displayName(), Tasks: gone, Err: fs.ErrNotExist}
	case errors.As(err, &input):
		return err
	case err != nil:
		return fmt.Errorf("mark %s: %w", s.rel, err)
	case len(gone) > 0:
		return &GoneError{File: s.displayName(), Tasks: gone}
	}
	return nil
}

// blameRepository returns what is wrong with the repository in the place of err, a
// failure to find or reach a file of it, where all of it is away: then nothing is
// known of the file.
func (p sourcePath) blameRepository(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		if away := fault.Away(p.repo); away != nil {
			return away
		}
	}
	return err
}

// Owned implements Source.
func (s *planSource) Owned() []string {
	return slices.Concat(s.sourcePath.owned(), s.log.owned())
}
