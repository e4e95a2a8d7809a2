package task

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// reportFiles is a folder of reports as people and sites leave it.
var reportFiles = map[string]string{
	"README.md":        "# How to report\n",
	"cart total.json":  "{\n  \"body\": \"I clicked Pay and saw NaN.\",\n  \"severity\": \"high\",\n  \"page\": \"/cart\"\n}\n",
	"B7.json":          `{"body":"It hangs","status":"new"}`,
	"login.md":         "# The login hangs\r\n\r\nI typed a name.\r\n",
	"label.md":         "---\nseverity: low # really\npage: /cart\ntags: [cart, label]\nstatus: \"triaged\" # by Ann\n---\nThe label says Pey.\n",
	"spelling.txt":     "---\nseverity: low\n---\nIt says teh.\n",
	"bugs.progress.md": "# Progress\n",
	"shot.png":         "\x89PNG\x00",
}

// Folders of reports for the conformance suite, and places of statuses in them.
var (
	reportFolders = []map[string]string{
		{"B1.json": "{\n  \"body\": \"I clicked Pay and saw NaN.\",\n  \"status\": \"new\"\n}\n", "B2.md": "---\nseverity: low\nstatus: \"triaged\" # by Ann\n---\nThe label says Pey.\n", "B3.txt": "It hangs.\n", "README.md": "# How to report\n"},
		{"B1.json": "{\"body\":\"I clicked Pay\"}\n", "B2.md": "# The login hangs\r\n\r\nI typed a name.\r\n", "B3.json": "{ \"status\":\"fixed\" , \"body\" : \"status: new\" }\r\n"},
	}
	reportStatus = regexp.MustCompile(`(?m)"status"\s*:\s*"[^"]*"(?:,\s*)?|^status\s*:[ \t]*("[^"\n]*"|\w+)|^---\r?\nstatus: \w+\r?\n---\r?\n`)
)

func testReportsConformance(t *testing.T) {
	t.Parallel()
	words := map[ledger.Mark]string{}
	for m, word := range FindKind(KindBugs).Statuses {
		words[m] = strings.Trim(word, `"`)
	}
	testSource(t, FindKind(KindBugs), len(reportFolders), func(t testing.TB, dir string, variant int) fixture {
		at := filepath.Join(dir, "bugs")
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range reportFolders[variant] {
			write(t, filepath.Join(at, name), []byte(text))
		}
		open := func() Source {
			s, err := Open(KindBugs, "bugs", dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		files := func() []string {
			files, _ := filepath.Glob(filepath.Join(at, "B*"))
			return files
		}
		return fixture{
			source: open(), reopen: open, path: filepath.Join(at, "B1.json"), words: words, files: files,
			maskStatuses: func(text []byte) []byte { return reportStatus.ReplaceAll(text, nil) },
			statusOf: func(task ledger.Task) string {
				found, _ := filepath.Glob(filepath.Join(at, task.ID+".*"))
				text, _ := os.ReadFile(found[0])
				return string(reportStatus.Find(text))
			},
			edit: func(text []byte, note string) []byte {
				return bytes.Replace(text, []byte("{"), []byte(`{"note:`+note+`": 1, `), 1)
			},
			notes: func(text []byte) (map[string]bool, []byte) {
				found := map[string]bool{}
				for _, m := range jsonNote.FindAllSubmatch(text, -1) {
					found[string(m[1])] = true
				}
				return found, jsonNote.ReplaceAll(text, nil)
			},
		}
	})
}

func openReportsT(t *testing.T, files map[string]string) (Source, string) {
	t.Helper()
	repo := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(repo, "bugs"), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(repo, "bugs", name), []byte(text))
	}
	s, err := Open(KindBugs, "bugs", repo, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s, filepath.Join(repo, "bugs")
}

// filesIn returns the texts of a folder by name.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}

// TestReports: a folder of reports is read, and of its files only statuses change.
func TestReports(t *testing.T) {
	s, dir := openReportsT(t, reportFiles)
	read, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, task := range read.Tasks {
		got = append(got, task.ID+" | "+task.Title+" | "+task.Report.Severity+" | "+task.Report.Page+" | "+strings.Join(task.Report.Tags, " "))
	}
	want := []string{"B7 | It hangs |  |  | ", "cart-total | I clicked Pay and saw NaN. | high | /cart | ", "label | The label says Pey. | low | /cart | cart label", "login | The login hangs |  |  | ", "spelling | It says teh. | low |  | "}
	if d := cmp.Diff(want, got); d != "" || len(read.Warnings) > 0 {
		t.Fatalf("%s%v", d, read.Warnings)
	}
	var marks []ledger.Marking
	for _, task := range read.Tasks {
		marks = append(marks, ledger.Marking{Task: task.ID, Mark: ledger.MarkOpen})
	}
	if err := s.Mark(t.Context(), marks); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(reportFiles, filesIn(t, dir)); d != "" {
		t.Fatalf("open changed it: %s", d)
	}
	for n := range marks {
		marks[n].Mark = ledger.MarkDone
	}
	gone := (*GoneError)(nil)
	if err := s.Mark(t.Context(), append(marks, ledger.Marking{Task: "x", Mark: ledger.MarkDone})); !errors.As(err, &gone) || len(gone.Tasks) != 1 {
		t.Fatal(err)
	}
	after := map[string]string{}
	for name, text := range reportFiles {
		after[name] = text
	}
	after["cart total.json"] = "{\n  \"status\": \"fixed\",\n  \"body\": \"I clicked Pay and saw NaN.\",\n  \"severity\": \"high\",\n  \"page\": \"/cart\"\n}\n"
	after["B7.json"] = `{"body":"It hangs","status":"fixed"}`
	after["login.md"] = "---\r\nstatus: fixed\r\n---\r\n" + reportFiles["login.md"]
	after["label.md"] = strings.Replace(reportFiles["label.md"], `"triaged"`, "fixed", 1)
	after["spelling.txt"] = "---\nstatus: fixed\nseverity: low\n---\nIt says teh.\n"
	if d := cmp.Diff(after, filesIn(t, dir)); d != "" {
		t.Fatalf("(-want +got)\n%s", d)
	}
	read, err = s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range read.Tasks {
		if task.Mark != ledger.MarkDone {
			t.Errorf("%s reads back as %s", task.ID, task.Mark)
		}
	}
	if err := s.Log(t.Context(), ledger.Progress{Key: "k", Time: "2026-11-26T18:00:00Z", Task: "B7", Status: "completed"}); err != nil || !strings.Contains(filesIn(t, dir)["bugs.progress.md"], "B7") {
		t.Errorf("logged: %v", err)
	}
}

// TestReportsBad: what is wrong with a file is told, and the others go on.
func TestReportsBad(t *testing.T) {
	s, _ := openReportsT(t, map[string]string{
		"good.md": "It hangs.\n", "empty.md": " \n", "empty.json": "", "binary.txt": "a\x00b", "list.json": "[]", "broken.json": `{"body": }`, "nothing.json": `{"page":"/"}`,
		"huge.txt": strings.Repeat("x", maxReportBytes+1), "good.json": `{"body":"It hangs again"}`, "words.md": "---\nstatus: frobbed\n---\nIt hangs.\n", "yaml.md": "---\na: [\n---\nIt hangs.\n",
	})
	read, err := s.Read(t.Context())
	if err != nil || len(read.Tasks) != 1 || read.Tasks[0].ID != "good" {
		t.Fatalf("%+v %v", read.Tasks, err)
	}
	told := map[string]string{}
	for _, w := range read.Warnings {
		if told[w.File] = w.Text; w.Remedy == "" {
			t.Errorf("%s: no remedy for %q", w.File, w.Text)
		}
	}
	for file, text := range map[string]string{
		"empty.md": "is empty", "empty.json": "is empty", "binary.txt": "NUL", "list.json": "expected a bug report", "broken.json": "is no JSON", "nothing.json": "has no text",
		"huge.txt": "larger than 1 MB", "good.md": "is the id of good.json", "words.md": "frobbed", "yaml.md": "is no YAML",
	} {
		if !strings.Contains(told[file], text) {
			t.Errorf("%s: told %q, want %q", file, told[file], text)
		}
	}
	s, _ = openReportsT(t, map[string]string{"empty.md": ""})
	if _, err := s.Read(t.Context()); !errors.As(err, new(*ledger.InputError)) {
		t.Errorf("nothing can be read: %v", err)
	}
	if _, err := Open(KindBugs, "none", t.TempDir(), Options{}); !errors.As(err, new(*ledger.InputError)) {
		t.Errorf("no folder: %v", err)
	}
}

// TestReportsAdded: a report becomes a file, once, and is taken out as it was written.
func TestReportsAdded(t *testing.T) {
	s, dir := openReportsT(t, reportFiles)
	add := ledger.AddTasks{Tasks: []ledger.Task{{Title: "Crash", Body: "It crashes", Report: &ledger.Report{Untitled: true, Severity: "high"}}, {ID: "B1a2b3c4d", Title: "Crash", Body: "It crashes at night", Report: &ledger.Report{Untitled: true}}}}
	added, err := AddOnce(t.Context(), s, add)
	if d := cmp.Diff([]string{"B8", "B1a2b3c4d"}, added.IDs); err != nil || d != "" {
		t.Fatal(err, d)
	}
	now := filesIn(t, dir)
	if want := "{\n  \"body\": \"It crashes\",\n  \"severity\": \"high\"\n}\n"; now["B8.json"] != want {
		t.Errorf("the file is %q", now["B8.json"])
	}
	if info, err := os.Stat(filepath.Join(dir, "B8.json")); err != nil || info.Mode()&0o111 != 0 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	again, err := AddOnce(t.Context(), s, add)
	if d := cmp.Diff(now, filesIn(t, dir)); err != nil || d != "" || !again.Found {
		t.Errorf("again: %+v %v %s", again, err, d)
	}
	undo := ledger.RemoveTasks{IDs: added.IDs, Text: added.Text}
	for range 2 {
		if err := RemoveAdded(t.Context(), s, undo); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(reportFiles, filesIn(t, dir)); d != "" {
		t.Errorf("taken out: %s", d)
	}
	for _, id := range []string{"../x", "label", ".x"} {
		if _, err := AddOnce(t.Context(), s, ledger.AddTasks{Tasks: []ledger.Task{{ID: id, Title: "X"}}}); !errors.As(err, new(*ledger.InputError)) {
			t.Errorf("the id %q: %v", id, err)
		}
	}
}

// TestReportsWatched: a new report, a changed one and one that is gone are noticed.
func TestReportsWatched(t *testing.T) {
	s, dir := openReportsT(t, reportFiles)
	if _, err := s.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	changed, ended := make(chan struct{}), make(chan error)
	go func() {
		ended <- s.Watch(ctx, func() {
			select {
			case changed <- struct{}{}:
			case <-ctx.Done():
			}
		})
	}()
	for _, change := range []func(){
		func() { write(t, filepath.Join(dir, "new.txt"), []byte("It hangs")) },
		func() { write(t, filepath.Join(dir, "new.txt"), []byte("It hangs on the phone")) },
		func() {
			if err := os.Remove(filepath.Join(dir, "new.txt")); err != nil {
				t.Error(err)
			}
		},
	} {
		change()
		<-changed
		if _, err := s.Read(t.Context()); err != nil {
			t.Error(err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestClaims: who works on a report of a folder stands in its file, and leaves no byte
// behind there.
func TestClaims(t *testing.T) {
	s, dir := openReportsT(t, reportFiles)
	before := filesIn(t, dir)
	at := time.Date(2026, 11, 27, 4, 0, 0, 0, time.UTC)
	claim := &ledger.Claiming{At: at, Respect: at.Add(-ledger.StaleClaim)}
	mark := func(s Source, id string, m ledger.Mark, c *ledger.Claiming) error {
		return s.Mark(t.Context(), []ledger.Marking{{Task: id, Mark: m, Claim: c}})
	}
	claims := func(s Source) (by []string) {
		t.Helper()
		read, err := s.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range read.Tasks {
			if task.Report.Claim != nil {
				by = append(by, task.ID+" "+task.Report.Claim.By+" "+task.Report.Claim.Since.Format(time.TimeOnly))
			}
		}
		return by
	}
	other, err := Open(KindBugs, "bugs", filepath.Dir(dir), Options{Self: "porter-2"})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{"B7", "cart-total", "label", "login", "spelling"}
	for _, id := range ids {
		for range 2 {
			if err := mark(s, id, ledger.MarkWorking, claim); err != nil {
				t.Fatal(id, err)
			}
		}
		if err := mark(other, id, ledger.MarkWorking, claim); !errors.As(err, new(*ledger.ClaimedError)) {
			t.Errorf("%s: two claim it: %v", id, err)
		}
	}
	if got := claims(s); len(got) > 0 {
		t.Errorf("its own claims: %q", got)
	}
	if got := claims(other); len(got) != len(ids) || got[0] != "B7 nightporter 04:00:00" {
		t.Errorf("claims of the other one: %q", got)
	}
	if got := filesIn(t, dir)["login.md"]; !strings.HasPrefix(got, "---\r\nstatus: in_progress\r\nclaimed: {by: \"nightporter\", at: \"2026-11-27T04:00:00Z\"}\r\n---\r\n# The login") {
		t.Errorf("%q", got)
	}
	// One that shows no progress is taken over.
	if err := mark(other, "login", ledger.MarkWorking, &ledger.Claiming{At: at.Add(25 * time.Hour), Respect: at.Add(time.Hour)}); err != nil {
		t.Error(err)
	}
	if got := claims(s); len(got) != 1 || got[0] != "login porter-2 05:00:00" {
		t.Errorf("%q", got)
	}
	if err := mark(other, "login", ledger.MarkOpen, nil); err != nil {
		t.Error(err)
	}
	plain, plainDir := openReportsT(t, before)
	for _, id := range ids {
		if err := errors.Join(mark(s, id, ledger.MarkBlocked, nil), mark(plain, id, ledger.MarkBlocked, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(filesIn(t, plainDir), filesIn(t, dir)); d != "" {
		t.Errorf("a claim left something behind:\n%s", d)
	}
}
