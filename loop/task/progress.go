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
)

// maxProgressBytes is the largest log that is searched for a key; nobody
// reads that far.
const maxProgressBytes = 64 << 20

// Log implements Source: it appends to NAME.progress.md beside the plan, and
// makes the file if need be. With Options.CommitStatus it does nothing.
func (s *planSource) Log(ctx context.Context, p ledger.Progress) error {
	if ctx.Err() != nil || s.opts.CommitStatus {
		return context.Cause(ctx)
	}
	if err := s.appendLog(ctx, p); err != nil {
		return fmt.Errorf("log to %s: %w", s.log.rel, err)
	}
	return nil
}

func (s *planSource) appendLog(ctx context.Context, p ledger.Progress) error {
	file, path, err := lockFile(ctx, s.openLog)
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
	added := progressEntry(planName(s.rel), old, p, s.opts.Zone)
	if len(added) == 0 {
		return nil
	}
	if _, err := file.Write(added); err != nil {
		// Half an entry helps nobody, and the whole one will come again.
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

// openLog opens the log's real file for appending, and makes it with the
// plan's mode and owner if it is missing.
func (s *planSource) openLog() (*os.File, string, error) {
	const flags = os.O_RDWR | os.O_APPEND | unix.O_NOFOLLOW | unix.O_NONBLOCK
	path, err := s.log.target()
	if err == nil {
		file, err := os.OpenFile(path, flags, 0)
		return file, path, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	if _, err := os.Lstat(s.log.path); err == nil {
		return nil, "", inputError(s.log.rel, "is a link to nowhere", "Remove it")
	}
	path = s.log.path
	plan, err := s.target()
	if err != nil {
		return nil, "", err
	}
	like, err := os.Stat(plan)
	if err != nil {
		return nil, "", err
	}
	file, err := os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL, like.Mode().Perm()|0o200)
	if errors.Is(err, fs.ErrExist) {
		return s.openLog() // another process made it in this moment
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
	return file, path, nil
}

// AppendProgress returns the text of a progress log with p added at its end;
// the same text when it has an entry with p's key. name is the plan's, for the
// title of a new log; zone may be nil.
func AppendProgress(name string, log []byte, p ledger.Progress, zone *time.Location) []byte {
	return append(bytes.Clone(log), progressEntry(name, log, p, zone)...)
}

// progressKey is the line that ends an entry and makes it findable. It comes
// last, so that half an entry after a power cut does not pass for one.
func progressKey(key string) string {
	return "<!-- nightporter: " + oneLine(key) + " -->"
}

// progressEntry is what is to be appended to log, nil when the entry is there.
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

// entryText writes a text of several lines, none of which can be taken for a
// heading, a rule, a block or a key of the log itself.
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
		// List items stay what they are; other marks of structure do not.
		if line != "" && (strings.IndexByte("#=`~<_", line[0]) >= 0 || strings.Trim(line, "-* ") == "") {
			line = `\` + line
		}
		if line != "" {
			line = indent[:min(len(indent), 3)] + line // four would be code
		}
		b.WriteString(line + "\n")
	}
}

// oneLine makes text safe inside one line of a Markdown file.
func oneLine(s string) string { return text.Markdown(text.OneLine(s)) }

// codeSpan quotes a command whatever backticks it has.
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

// localTime writes a time for a person, in zone if there is one; what is no
// time stays as it is.
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
