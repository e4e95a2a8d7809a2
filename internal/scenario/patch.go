package scenario

import (
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Changes returns the files of a patch of git's format, counted as git does.
func Changes(text string) []ledger.Change {
	var out []ledger.Change
	for n, part := range strings.Split("\n"+text, "\ndiff --git ") {
		if n > 0 {
			out = append(out, change("diff --git "+strings.TrimSuffix(part, "\n")+"\n"))
		}
	}
	return out
}

// change returns the change that a file's patch describes, counted as git does.
func change(text string) ledger.Change {
	c := ledger.Change{Patch: text, Status: ledger.ChangeModified}
	inHunk := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			_, c.Path, _ = strings.Cut(line, " b/")
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case !inHunk && strings.HasPrefix(line, "new file"):
			c.Status = ledger.ChangeAdded
		case !inHunk && strings.HasPrefix(line, "deleted file"):
			c.Status = ledger.ChangeDeleted
		case !inHunk && strings.HasPrefix(line, "rename from "):
			c.Status, c.From = ledger.ChangeRenamed, strings.TrimPrefix(line, "rename from ")
		case !inHunk && strings.HasPrefix(line, "Binary files"):
			c.Added, c.Removed = -1, -1
		case inHunk && strings.HasPrefix(line, "+"):
			c.Added++
		case inHunk && strings.HasPrefix(line, "-"):
			c.Removed++
		}
	}
	return c
}
