package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Changes lists the files in which two trees or commits differ, sorted by path,
// with their patches. A file that is at least half the same under another path
// counts as renamed.
//
// The patches have at most limit bytes in all, and one file at most an eighth of
// them, so that no file keeps the others out. Patches of deleted files come
// first, then those of other files that existed, then those of new files: what
// the limit cuts off is the newest.
func (w *Workspace) Changes(ctx context.Context, from, to string, limit int) ([]ledger.Change, error) {
	list, err := w.reviewChanges(ctx, from, to, limit)
	if err != nil {
		return nil, fmt.Errorf("changed files: %w", err)
	}
	return list, nil
}

func (w *Workspace) reviewChanges(ctx context.Context, from, to string, limit int) ([]ledger.Change, error) {
	a, err := w.tree(ctx, from)
	if err != nil {
		return nil, err
	}
	b, err := w.tree(ctx, to)
	if err != nil {
		return nil, err
	}
	trees := []string{"-M", "--no-rename-empty", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", a, b}
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: append([]string{"diff-tree", "-r", "-z", "--raw", "--numstat"}, trees...)})
	if err != nil {
		return nil, err
	}
	list, err := parseChanges(zlist(out))
	if err != nil {
		return nil, err
	}
	left := limit
	for _, group := range []struct {
		filter string // of git diff
		has    func(ledger.ChangeStatus) bool
	}{
		{"D", func(s ledger.ChangeStatus) bool { return s == ledger.ChangeDeleted }},
		{"ad", func(s ledger.ChangeStatus) bool { return s != ledger.ChangeDeleted && s != ledger.ChangeAdded }},
		{"A", func(s ledger.ChangeStatus) bool { return s == ledger.ChangeAdded }},
	} {
		p := patches{list: list, fileMax: limit / 8, left: left}
		for n, c := range list {
			if group.has(c.Status) {
				p.order = append(p.order, n)
			}
			if c.Status == ledger.ChangeType { // git prints it as removed and added
				p.order = append(p.order, n)
			}
		}
		if len(p.order) == 0 || left <= 0 {
			continue
		}
		if err := w.readPatches(ctx, &p, append([]string{"diff-tree", "-r", "-p", "--diff-filter=" + group.filter}, trees...)); err != nil {
			return nil, err
		}
		left = p.left
	}
	return list, nil
}

// readPatches runs git and stops it once no space is left.
func (w *Workspace) readPatches(ctx context.Context, p *patches, args []string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.full = func() { cancel(errEnough) }
	_, err := w.run(ctx, call{gitDir: w.gitDir, out: p, args: args})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	p.flush()
	return nil
}

// parseChanges parses the output of git diff-tree --raw --numstat -z: all raw
// records, then the counts in the same order. A renamed file has two paths.
func parseChanges(recs []string) ([]ledger.Change, error) {
	var list []ledger.Change
	for len(recs) > 0 && strings.HasPrefix(recs[0], ":") {
		f := strings.Fields(recs[0])
		paths := 1
		if len(f) == 5 && (f[4][0] == 'R' || f[4][0] == 'C') {
			paths = 2
		}
		if len(f) != 5 || len(recs) < 1+paths {
			return nil, fmt.Errorf("git diff-tree answered %q", recs[0])
		}
		c := ledger.Change{FileChange: ledger.FileChange{Path: strings.ToValidUTF8(recs[paths], "\uFFFD")}}
		switch f[4][0] {
		case 'A':
			c.Status = ledger.ChangeAdded
		case 'D':
			c.Status = ledger.ChangeDeleted
		case 'T':
			c.Status = ledger.ChangeType
		case 'R', 'C':
			c.Status, c.From = ledger.ChangeRenamed, strings.ToValidUTF8(recs[1], "\uFFFD")
		default:
			c.Status = ledger.ChangeModified
			if f[2] == f[3] {
				c.Status = ledger.ChangeMode
			}
		}
		list = append(list, c)
		recs = recs[1+paths:]
	}
	for n := range list {
		if len(recs) == 0 {
			return nil, fmt.Errorf("git diff-tree counted %d of %d files", n, len(list))
		}
		f := strings.SplitN(recs[0], "\t", 3)
		recs = recs[1:]
		if len(f) == 3 && f[2] == "" && len(recs) >= 2 { // the paths of a renamed file follow
			recs = recs[2:]
		}
		if len(f) != 3 {
			return nil, fmt.Errorf("git diff-tree answered %q", f)
		}
		list[n].Added, list[n].Removed = lineCount(f[0]), lineCount(f[1])
	}
	return list, nil
}

// patches is an io.Writer that splits a patch of many files.
type patches struct {
	list    []ledger.Change
	order   []int // indexes into list, in the order of the patch
	fileMax int   // limit of one file, in bytes
	left    int   // bytes left for all files
	full    func()

	at   int // number of files begun
	file bytes.Buffer
	done bool // the file gets no more lines: a patch with a gap would mislead
	line []byte
	long bool // the line is too long to be kept
}

var patchHeader = []byte("diff --git ")

// Write implements io.Writer.
func (p *patches) Write(data []byte) (int, error) {
	for rest := data; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		rest = after
		if p.long = p.long || len(p.line)+len(line) > p.fileMax; !p.long {
			p.line = append(p.line, line...)
		}
		if ended {
			p.endLine()
		}
	}
	return len(data), nil
}

// endLine adds a line to the patch of its file. Every line of content begins
// with a sign, so a line that looks like a header is one.
func (p *patches) endLine() {
	if bytes.HasPrefix(p.line, patchHeader) {
		p.flush()
		p.at++
	}
	size := len(p.line) + len("\n")
	p.done = p.done || p.long || size > p.left || p.file.Len()+size > p.fileMax
	if !p.done {
		p.file.Write(p.line)
		p.file.WriteByte('\n')
		p.left -= size
	} else if size > p.left {
		p.left = 0
		p.full()
	}
	p.line, p.long = p.line[:0], false
}

// flush stores what was collected of the current file.
func (p *patches) flush() {
	if p.at > 0 && p.at <= len(p.order) {
		p.list[p.order[p.at-1]].Patch += strings.ToValidUTF8(p.file.String(), "\uFFFD")
	}
	p.file.Reset()
	p.done = false
}
