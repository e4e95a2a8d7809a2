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

// ruleFile is the content of one .gitignore file.
type ruleFile struct {
	path string // below the repository's top folder
	text []byte
}

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
	rules, err := w.rulesOf(ctx, entries)
	if err != nil {
		return "", err
	}
	return writeRules(dir, "ignore", rules)
}

// rulesOf returns the .gitignore files among the files of a tree.
func (w *Workspace) rulesOf(ctx context.Context, entries []treeEntry) ([]ruleFile, error) {
	var rules []ruleFile
	for _, e := range entries {
		// git does not follow a .gitignore that is a symbolic link.
		if path.Base(e.path) != ignoreName || e.mode == modeSymlink {
			continue
		}
		text, known := w.rules.get(e.hash)
		if !known {
			data, err := w.fileContent(ctx, e.hash)
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", e.path, err)
			}
			if text = string(data); len(text) <= maxKeptRules {
				w.rules.put(e.hash, text)
			}
		}
		rules = append(rules, ruleFile{e.path, []byte(text)})
	}
	return rules, nil
}

// maxKeptRules is the size in bytes of the largest ignore file whose content is
// kept in memory: sessions write these files.
const maxKeptRules = 16 << 10

// ignoreName is the name of a file with ignore rules.
const ignoreName = ".gitignore"

// writeRules writes ignore rules, with the user's private ones of the run's
// start, into the exclude file of that name beside the work folder, and returns
// its path.
func writeRules(dir, name string, rules []ruleFile) (string, error) {
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, joinRules(dir, rules), 0o600); err != nil {
		return "", fmt.Errorf("write ignore rules: %w", err)
	}
	return file, nil
}

// joinRules returns ignore rules as one file of the top folder, with the user's private
// ones, which lie beside the work folder in dir.
func joinRules(dir string, rules []ruleFile) []byte {
	// The last matching rule decides, so rules of a deeper folder come later.
	sort.SliceStable(rules, func(i, j int) bool {
		return strings.Count(rules[i].path, "/") < strings.Count(rules[j].path, "/")
	})
	var out bytes.Buffer
	if data, err := os.ReadFile(filepath.Join(dir, "exclude")); err == nil {
		out.Write(data)
		out.WriteByte('\n')
	}
	for _, r := range rules {
		flatten(&out, path.Dir(r.path), r.text)
	}
	return out.Bytes()
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
