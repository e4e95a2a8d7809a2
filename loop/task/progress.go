package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// maxProgressBytes is the size above which a log is no longer searched for a
// key. No person reads a log of that size.
const maxProgressBytes = 64 << 20

// Log implements Source. It appends to NAME.progress.md beside the plan, and
// creates that file if needed. With Options.CommitStatus it does nothing.
func (s *fileSource) Log(ctx context.Context, p ledger.Progress) error {
	if ctx.Err() != nil || s.opts.CommitStatus {
		return context.Cause(ctx)
	}
	err := s.log.append(ctx, func(log []byte) []byte { return progressEntry(form.Name(s.rel), log, p, s.opts.Zone) })
	if err = s.blameRepository(err); err != nil {
		return fmt.Errorf("log to %s: %w", s.log.rel, err)
	}
	return nil
}

// appendedFile is a file that is made if needed and only ever grows.
type appendedFile struct {
	sourcePath
	like sourcePath // of the source's file, whose mode and owner a new one gets
}

// append adds what entry returns for the file's text, which may be nothing.
func (a appendedFile) append(ctx context.Context, entry func(old []byte) []byte) error {
	file, path, err := lockFile(ctx, a.open)
	if err != nil {
		return err
	}
	defer file.Close()
	old, err := io.ReadAll(io.LimitReader(file, maxProgressBytes+1))
	if err != nil {
		return err
	}
	if len(old) > maxProgressBytes {
		return fmt.Errorf("the file is larger than %d MB: move it away", maxProgressBytes>>20)
	}
	added := entry(old)
	if len(added) == 0 {
		return nil
	}
	if _, err := file.Write(added); err != nil {
		// Removes the incomplete entry: the whole one will be written again.
		return errors.Join(err, file.Truncate(int64(len(old))))
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if len(old) == 0 {
		return fsutil.SyncDir(dirOf(path))
	}
	return nil
}

// open opens the real file for appending. It creates a missing one, and its folder,
// with the mode and owner of the source's file.
func (a appendedFile) open() (*os.File, string, error) {
	const flags = os.O_RDWR | os.O_APPEND | unix.O_NOFOLLOW | unix.O_NONBLOCK
	path, err := a.target()
	if err == nil {
		file, err := os.OpenFile(path, flags, 0)
		return file, path, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	if info, err := os.Lstat(a.path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, "", inputError(a.rel, "is a link to nowhere", "Remove it")
	} else if err == nil {
		return a.open() // another process has just created it
	}
	like, err := a.like.info()
	if err != nil {
		return nil, "", err
	}
	if err := makeFolder(dirOf(a.path), dirOf(a.like.path)); err != nil {
		return nil, "", err
	}
	file, err := os.OpenFile(a.path, flags|os.O_CREATE|os.O_EXCL, like.Mode().Perm()|0o200)
	if errors.Is(err, fs.ErrExist) {
		return a.open() // another process has just created it
	}
	if err != nil {
		return nil, "", err
	}
	if uid, gid := owner(like); os.Geteuid() == 0 {
		if err := file.Chown(uid, gid); err != nil {
			file.Close()
			return nil, "", err
		}
	}
	return file, a.path, nil
}

// info describes the path's real file.
func (p sourcePath) info() (fs.FileInfo, error) {
	path, err := p.target()
	if err != nil {
		return nil, err
	}
	return os.Stat(path)
}

// makeFolder makes a folder like its sibling or parent, if it is missing. The
// folder above it exists.
func makeFolder(dir, like string) error {
	if dir == like {
		return nil
	}
	info, err := os.Stat(like)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, info.Mode().Perm()); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	if uid, gid := owner(info); os.Geteuid() == 0 {
		return os.Chown(dir, uid, gid)
	}
	return nil
}

// AppendProgress returns a progress log with p added at its end, or the log
// unchanged if it has an entry with p's key. name is the plan's name, for the
// title of a new log; zone may be nil.
func AppendProgress(name string, log []byte, p ledger.Progress, zone *time.Location) []byte {
	return append(bytes.Clone(log), progressEntry(name, log, p, zone)...)
}

// progressKey returns the last line of an entry, by which the entry is found.
// It comes last, so that an entry cut off by a power failure is not taken for a
// complete one.
func progressKey(key string) string {
	return "<!-- nightporter: " + oneLine(key) + " -->"
}

// progressEntry returns the text to append to log, or nil if the log has the
// entry.
func progressEntry(name string, log []byte, p ledger.Progress, zone *time.Location) []byte {
	key := progressKey(p.Key)
	for line := range bytes.Lines(log) {
		if p.Key != "" && string(bytes.TrimRight(line, " \t\r\n")) == key {
			return nil
		}
	}
	var b strings.Builder
	switch ends := func(s string) bool { return bytes.HasSuffix(log, []byte(s)) }; {
	case len(log) == 0:
		fmt.Fprintf(&b, "# Progress: %s\n\n", oneLine(name))
	case !ends("\n"):
		b.WriteString("\n\n")
	case !ends("\n\n") && !ends("\n\r\n"):
		b.WriteString("\n")
	}
	switch {
	case p.Task != "":
		fmt.Fprintf(&b, "## %s\n\n", strings.TrimSuffix(oneLine(p.Task)+": "+oneLine(p.Title), ": "))
	case p.Text != "":
		fmt.Fprintf(&b, "## %s\n\n", oneLine(p.Text))
	default:
		fmt.Fprintf(&b, "## %s\n\n", oneLine(p.Status))
	}
	entryField(&b, "Time", localTime(p.Time, zone))
	entryField(&b, "Status", oneLine(p.Status))
	if p.Attempt > 0 {
		entryField(&b, "Attempt", fmt.Sprint(p.Attempt))
	}
	entryField(&b, "Commit", oneLine(p.Commit))
	entryField(&b, "Proof", oneLine(p.Proof))
	if p.Task != "" {
		entryText(&b, "", p.Text)
	}
	if len(p.Changes) > 0 {
		b.WriteString("\n### Changes\n\n")
		for _, c := range p.Changes {
			fmt.Fprintf(&b, "- %s\n", oneLine(c))
		}
	}
	if len(p.Commands) > 0 {
		b.WriteString("\n### Commands Run\n\n")
		for _, c := range p.Commands {
			sign := "✗"
			if c.OK {
				sign = "✓"
			}
			fmt.Fprintf(&b, "- %s %s\n", sign, codeSpan(c.Run))
		}
	}
	entryText(&b, "Learnings", p.Learnings)
	entryText(&b, "Blockers", p.Blockers)
	entryText(&b, "Next", p.Next)
	b.WriteString("\n---\n")
	if p.Key != "" {
		b.WriteString(key + "\n")
	}
	text := b.String()
	if first, _, ok := bytes.Cut(log, []byte("\n")); ok && bytes.HasSuffix(first, []byte("\r")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text)
}

func entryField(b *strings.Builder, name, value string) {
	if value != "" {
		fmt.Fprintf(b, "**%s**: %s\n", name, value)
	}
}

// entryText writes a text of several lines. It escapes lines that could be read
// as a heading, a rule, a block or an entry's key.
func entryText(b *strings.Builder, heading, text string) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if text == "" {
		return
	}
	b.WriteByte('\n')
	if heading != "" {
		fmt.Fprintf(b, "### %s\n\n", heading)
	}
	for line := range strings.SplitSeq(text, "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		line = oneLine(line)
		// List items keep their meaning; other Markdown structure is escaped.
		if line != "" && (strings.IndexByte("#=`~<_", line[0]) >= 0 || strings.Trim(line, "-* ") == "") {
			line = `\` + line
		}
		if line != "" {
			line = indent[:min(len(indent), 3)] + line // four spaces would make a code block
		}
		b.WriteString(line + "\n")
	}
}

// oneLine escapes text for use inside one line of a Markdown file.
func oneLine(s string) string { return text.Markdown(text.OneLine(s)) }

// codeSpan quotes a command that may contain backticks.
func codeSpan(s string) string {
	s = oneLine(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || s == "" {
		s = " " + s + " "
	}
	return fence + s + fence
}

// localTime formats a time for a person, in zone unless that is nil. It returns
// a text that is no time unchanged.
func localTime(s string, zone *time.Location) string {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return oneLine(s)
	}
	if zone != nil {
		t = t.In(zone)
	}
	return t.Format("2006-01-02 15:04:05 -07:00")
}
