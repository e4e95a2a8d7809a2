package workspace

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

// ignoreFile writes the ignore rules of a tree, and the user's private ones of
// the run's start, into one exclude file and returns its path.
//
// git reads .gitignore files from the folder itself, where a session may have
// changed or added some. With all rules of the right tree in one file,
// "ls-files --exclude-from" never opens those.
func (w *Workspace) ignoreFile(ctx context.Context, dir, tree string) (string, error) {
	entries, err := w.listTree(ctx, tree)
	if err != nil {
		return "", fmt.Errorf("read ignore rules: %w", err)
	}
	var files []treeEntry
	for _, e := range entries {
		// git does not follow a .gitignore that is a symbolic link.
		if path.Base(e.path) == ".gitignore" && e.mode != modeSymlink {
			files = append(files, e)
		}
	}
	// The last matching rule decides, so rules of a deeper folder come later.
	sort.SliceStable(files, func(i, j int) bool {
		return strings.Count(files[i].path, "/") < strings.Count(files[j].path, "/")
	})
	var rules bytes.Buffer
	if data, err := os.ReadFile(filepath.Join(dir, "exclude")); err == nil {
		rules.Write(data)
		rules.WriteByte('\n')
	}
	for _, e := range files {
		data, err := w.fileContent(ctx, e.hash)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", e.path, err)
		}
		flatten(&rules, path.Dir(e.path), data)
	}
	file := filepath.Join(dir, "ignore")
	if err := os.WriteFile(file, rules.Bytes(), 0o600); err != nil {
		return "", fmt.Errorf("write ignore rules: %w", err)
	}
	return file, nil
}

// flatten writes the rules of dir/.gitignore as rules of the top folder: in
// folder a, "foo" becomes "/a/**/foo", and "/foo" and "x/foo" become "/a/foo"
// and "/a/x/foo".
func flatten(out *bytes.Buffer, dir string, rules []byte) {
	prefix := "/"
	if dir != "." {
		if strings.ContainsAny(dir, "\r\n") {
			return // no pattern can express such a name, so its rules are omitted
		}
		prefix = "/" + escapeIgnore(dir) + "/"
	}
	rules = bytes.TrimPrefix(rules, []byte("\xef\xbb\xbf"))
	for _, line := range strings.Split(string(rules), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if dir == "." {
			out.WriteString(line + "\n")
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		not := ""
		if line[0] == '!' {
			not, line = "!", line[1:]
		}
		// git ignores unescaped spaces at the end; they must not hide where the
		// pattern ends.
		body := line
		for strings.HasSuffix(body, " ") && !strings.HasSuffix(body, `\ `) {
			body = body[:len(body)-1]
		}
		switch inner := strings.TrimSuffix(body, "/"); {
		case inner == "":
			continue
		case strings.HasPrefix(inner, "/"):
			out.WriteString(not + prefix + body[1:] + "\n")
		case strings.Contains(inner, "/"):
			out.WriteString(not + prefix + body + "\n")
		default:
			out.WriteString(not + prefix + "**/" + body + "\n")
		}
	}
}

// escapeIgnore returns a pattern that matches the folder's name literally.
func escapeIgnore(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}
