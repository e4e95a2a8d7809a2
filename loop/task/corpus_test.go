package task

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// corpusManifest lists public files and what is read of each. The files themselves are
// not in this repository: their licences are their authors'.
const corpusManifest = "testdata/corpus.tsv"

var writeCorpus = flag.Bool("write-corpus", false, "write what is read of the files in NIGHTPORTER_CORPUS into "+corpusManifest)

// corpusFile is a line of the manifest.
type corpusFile struct {
	format, repository, commit, path, sha256 string
	kind                                     string // "" for a refusal
	tasks, open                              int
	refusal                                  string // the first mistake, without its file
	holds                                    string // "tasks", or "none" if a person finds no list of tasks in it
}

func (f corpusFile) String() string {
	return strings.Join([]string{f.format, f.repository, f.commit, f.path, f.sha256, f.kind, strconv.Itoa(f.tasks), strconv.Itoa(f.open), f.refusal, f.holds}, "\t")
}

// TestCorpus reads public files of every format, as docs/formats.md counts them:
// what is read of each is what the manifest says, and marks change the characters of
// statuses alone. Each file lies at REPOSITORY/COMMIT/PATH below the folder in
// NIGHTPORTER_CORPUS.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("NIGHTPORTER_CORPUS")
	if dir == "" {
		t.Skip("NIGHTPORTER_CORPUS names no folder with the files of " + corpusManifest)
	}
	files := readCorpus(t)
	for i, want := range files {
		data, err := os.ReadFile(filepath.Join(dir, want.repository, want.commit, filepath.FromSlash(want.path)))
		if err != nil {
			t.Error(err)
			continue
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != want.sha256 {
			t.Errorf("%s %s: other content than the manifest means", want.repository, want.path)
			continue
		}
		got := want
		got.kind, got.tasks, got.open, got.refusal = readOfCorpus(t, want.path, data)
		if files[i] = got; got != want && !*writeCorpus {
			t.Errorf("%s %s:\n got %s\nwant %s", want.repository, want.path, got, want)
		}
	}
	if *writeCorpus {
		var b strings.Builder
		for _, f := range files {
			fmt.Fprintln(&b, f)
		}
		if err := os.WriteFile(corpusManifest, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readCorpus returns the lines of the manifest.
func readCorpus(t *testing.T) (files []corpusFile) {
	data, err := os.ReadFile(corpusManifest)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		c := strings.Split(lines.Text(), "\t")
		if len(c) != 10 {
			t.Fatalf("%s: %d columns in %q", corpusManifest, len(c), lines.Text())
		}
		f := corpusFile{format: c[0], repository: c[1], commit: c[2], path: c[3], sha256: c[4], kind: c[5], refusal: c[8], holds: c[9]}
		f.tasks, _ = strconv.Atoi(c[6])
		f.open, _ = strconv.Atoi(c[7])
		files = append(files, f)
	}
	return files
}

// TestFormatsPage: the numbers of docs/formats.md are those of the manifest.
func TestFormatsPage(t *testing.T) {
	const page = "../../docs/formats.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(data), formatsMark)
	if !ok {
		t.Fatalf("%s lacks %q", page, formatsMark)
	}
	want := head + formatsMark + formatsTable(readCorpus(t))
	if *writeCorpus {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(data) {
		t.Errorf("%s differs from %s: go test ./loop/task -run TestFormatsPage -write-corpus", page, corpusManifest)
	}
}

// formatsMark stands above what TestFormatsPage writes.
const formatsMark = "<!-- What stands below is written by -write-corpus. -->\n"

// formatsTable counts the files of each format.
func formatsTable(files []corpusFile) string {
	type count struct {
		files, holding, read, tasks, open int
		repositories                      map[string]bool
	}
	counts := map[string]*count{}
	refused := map[string]int{}
	total := &count{repositories: map[string]bool{}}
	for _, f := range files {
		if counts[f.format] == nil {
			counts[f.format] = &count{repositories: map[string]bool{}}
		}
		for _, c := range []*count{counts[f.format], total} {
			c.files++
			c.tasks += f.tasks
			c.open += f.open
			c.repositories[f.repository] = true
			if f.holds == "tasks" {
				c.holding++
			}
			if f.kind != "" {
				c.read++
			}
		}
		if f.kind == "" && f.holds == "tasks" {
			refused[f.format+", "+f.repository+": "+f.refusal]++
		}
	}
	var b strings.Builder
	row := func(name string, c *count) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", name, c.files, len(c.repositories), c.holding, c.read, c.holding-c.read, c.tasks, c.open)
	}
	b.WriteString("\n| format | files | repositories | hold tasks | read | refused | tasks | open |\n|---|---|---|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		row(name, counts[name])
	}
	row("all", total)
	fmt.Fprintf(&b, "\n## Refused, with tasks in them\n\n")
	for _, line := range slices.Sorted(maps.Keys(refused)) {
		fmt.Fprintf(&b, "- %s (%d)\n", line, refused[line])
	}
	return b.String()
}

// readOfCorpus reads a file as "auto" does, and marks its tasks.
func readOfCorpus(t *testing.T, path string, data []byte) (kind string, tasks, open int, refusal string) {
	found := recogniseData(path, false, data)
	k := FindKind(likelyKind(path))
	switch {
	case len(found) > 1 && named(path, found) != nil:
		k = named(path, found)
	case len(found) > 1:
		return "", 0, 0, "can be read in more than one way: " + strings.Join(kindsOf(found), ", ")
	case len(found) == 1:
		k = found[0].Kind
	}
	s, err := k.Form.Parse(path, data)
	if err != nil {
		input, ok := err.(*ledger.InputError)
		if !ok {
			t.Errorf("%s: %v", path, err)
			return "", 0, 0, err.Error()
		}
		d := input.Diagnostics[0]
		if d.Remedy == "" {
			t.Errorf("%s: refused without a remedy: %s", path, d)
		}
		if n := len(input.Diagnostics); n > 1 {
			return "", 0, 0, fmt.Sprintf("line %d: %s (and %d more)", d.Line, d.Text, n-1)
		}
		return "", 0, 0, fmt.Sprintf("line %d: %s", d.Line, d.Text)
	}
	for _, task := range s.Tasks {
		if task.Mark != ledger.MarkDone {
			open++
		}
	}
	if k.Name != KindBeads { // never written
		markCorpus(t, k, path, data, s)
	}
	return k.Name, len(s.Tasks), open, ""
}

// statusCell is a word of a backlog's statuses, in whichever column it stands.
var statusCell = regexp.MustCompile(`(?i)\b(?:queued|resumed|done|blocked|manual_verify|in_progress|open)\b`)

func maskCells(text []byte) []byte { return statusCell.ReplaceAll(text, []byte("STATUS")) }

// markCorpus marks some of a file's tasks as done and open again, and compares what
// is not a status.
func markCorpus(t *testing.T, k *Kind, path string, data []byte, s ledger.Snapshot) {
	mask := map[string]func([]byte) []byte{KindPlan: maskDocument, KindBacklog: maskCells, KindTasks: maskJSON, KindPRD: maskJSON}[k.Name]
	for i := 0; i < len(s.Tasks); i += 1 + len(s.Tasks)/5 {
		id := s.Tasks[i].ID
		for _, mark := range []ledger.Mark{ledger.MarkDone, ledger.MarkOpen} {
			text := slices.Clone(data)
			marked, gone, err := k.Form.Mark(path, text, []ledger.Marking{{Task: id, Mark: mark}})
			switch {
			case err != nil || len(gone) > 0:
				t.Errorf("%s: %s as %s: %v %v", path, id, mark, gone, err)
				continue
			case !bytes.Equal(mask(marked), mask(data)):
				t.Errorf("%s: %s as %s changed more than statuses", path, id, mark)
				continue
			}
			after, err := k.Form.Parse(path, marked)
			if err != nil || len(after.Tasks) != len(s.Tasks) {
				t.Errorf("%s: %s as %s: %d of %d tasks left, %v", path, id, mark, len(after.Tasks), len(s.Tasks), err)
				continue
			}
			for n, task := range after.Tasks {
				if want := s.Tasks[n]; task.ID != want.ID || n == i && task.Mark != mark && !heldByParent(k, mark, task) || n != i && task.Mark != want.Mark {
					t.Errorf("%s: after %s as %s: task %s is %s, was %s %s", path, id, mark, task.ID, task.Mark, want.ID, want.Mark)
					break
				}
			}
		}
	}
}

// heldByParent reports whether a subtask stays blocked although it was opened: Task
// Master deferred or cancelled the whole task.
func heldByParent(k *Kind, mark ledger.Mark, t ledger.Task) bool {
	return k.Name == KindTasks && mark == ledger.MarkOpen && t.Mark == ledger.MarkBlocked && strings.Contains(t.ID, ".")
}
