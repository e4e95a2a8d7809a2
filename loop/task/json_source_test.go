package task

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

var (
	jsonStatus = regexp.MustCompile(`("(?:st(?:a|\\u0061)tus|passes)"\s*:\s*)(?:"[^"]*"|true|false)`)
	jsonNote   = regexp.MustCompile(`"note:([^"]*)": 1, `)
)

// maskJSON removes every status.
func maskJSON(text []byte) []byte { return jsonStatus.ReplaceAll(text, []byte("$1")) }

// testJSONConformance runs the conformance suite over JSON files of a kind. words
// returns how a variant writes statuses, nil for the kind's own words.
func testJSONConformance(t *testing.T, kind, name string, variants []string, words func(variant int) map[ledger.Mark]string) {
	k := FindKind(kind)
	testSource(t, k, len(variants), func(t testing.TB, dir string, variant int) fixture {
		path := filepath.Join(dir, "work", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, []byte(variants[variant]))
		open := func() Source {
			s, err := Open(kind, "work/"+name, dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		return fixture{
			source: open(), reopen: open, path: path, maskStatuses: maskJSON,
			words: words(variant), manyLines: true, readOnly: kind == KindBeads,
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

func ownWords(int) map[ledger.Mark]string { return nil }

func testTasksConformance(t *testing.T) {
	taskMaster := map[ledger.Mark]string{
		ledger.MarkOpen: `"pending"`, ledger.MarkDone: `"done"`, ledger.MarkBlocked: `"blocked"`, ledger.MarkManualVerify: `"review"`,
	}
	t.Run("wreck-it", func(t *testing.T) { testJSONConformance(t, KindTasks, "tasks.json", formtest.WreckIt, ownWords) })
	t.Run("Task Master", func(t *testing.T) {
		testJSONConformance(t, KindTasks, "tasks.json", formtest.TaskMaster, func(int) map[ledger.Mark]string { return taskMaster })
	})
}

func testPRDConformance(t *testing.T) {
	status := map[ledger.Mark]string{
		ledger.MarkOpen: `"open"`, ledger.MarkDone: `"done"`, ledger.MarkBlocked: `"open"`, ledger.MarkManualVerify: `"open"`,
	}
	testJSONConformance(t, KindPRD, "prd.json", append(slices.Clone(formtest.PRDs), formtest.PRDStatus), func(variant int) map[ledger.Mark]string {
		if variant < len(formtest.PRDs) {
			return nil
		}
		return status
	})
}

func testBugsConformance(t *testing.T) {
	t.Run("a file", func(t *testing.T) { testJSONConformance(t, KindBugs, "bugs.json", formtest.Bugs, ownWords) })
	t.Run("a folder", testReportsConformance)
	t.Run("issues", func(t *testing.T) { testIssueSource(t, KindBugs) })
}

func testBeadsConformance(t *testing.T) {
	testJSONConformance(t, KindBeads, "issues.jsonl", formtest.Beads, ownWords)
}

// TestCurrentTag: of Task Master's file the tag counts that its state names, for as
// long as the source is open.
func TestCurrentTag(t *testing.T) {
	repo := t.TempDir()
	task := func(title string) string {
		return `{"tasks":[{"id":1,"title":"` + title + `","status":"pending"}]}`
	}
	writeBelow(t, repo, taskMasterFile, `{"master":`+task("of master")+`,"night":`+task("of the night")+`}`)
	title := func(s Source) string {
		t.Helper()
		snapshot, err := s.Read(t.Context())
		if err != nil || len(snapshot.Tasks) != 1 {
			t.Fatal(snapshot.Tasks, err)
		}
		return snapshot.Tasks[0].Title
	}
	open := func() Source {
		t.Helper()
		s, err := Open(KindTasks, taskMasterFile, repo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := open()
	for state, want := range map[string]string{
		`{"currentTag":"night"}`: "of the night", `{"currentTag":"gone"}`: "of master", `{`: "of master",
	} {
		writeBelow(t, repo, ".taskmaster/state.json", state)
		if got := title(open()); got != want {
			t.Errorf("with %s: %q, want %q", state, got, want)
		}
	}
	writeBelow(t, repo, ".taskmaster/state.json", `{"currentTag":"night"}`)
	if got := title(before); got != "of master" {
		t.Errorf("an open source has changed to %q", got)
	}
}

// TestFindJSON: files of the forms are found in their places, others of the same
// name are not.
func TestFindJSON(t *testing.T) {
	for name, c := range map[string]struct {
		kind  string
		files map[string]string
		want  []string
	}{
		"wreck-it's configuration": {KindTasks, map[string]string{
			wreckItConfig:     "tasks_dir = \"tasks\"\n[[ralphs]]\ntask_file = \"a.json\"\n[[ralphs]]\ntask_file = \"none.json\"\n[[ralphs]]\ntask_file = \"../../out.json\"\n",
			"tasks/a.json":    formtest.WreckIt[0],
			"tasks/b.json":    formtest.WreckIt[0],
			"tasks.json":      `{"version":"2.0.0","tasks":[{"label":"build","command":"make"}]}`,
			taskMasterFile:    formtest.TaskMaster[0],
			"sub/tasks.json":  formtest.WreckIt[0],
			"tasks/x/prd.txt": "x",
		}, []string{taskMasterFile, "tasks/a.json"}},
		"a mistake": {KindTasks, map[string]string{"tasks.json": "[{},]"}, []string{"tasks.json"}},
		"stories": {KindPRD, map[string]string{
			"scripts/ralph/prd.json": formtest.PRDs[0], ".agents/tasks/prd-shop.json": formtest.PRDStatus, "prd.json": `{"title":"a product"}`,
		}, []string{"scripts/ralph/prd.json", ".agents/tasks/prd-shop.json"}},
		"beads":       {KindBeads, map[string]string{".beads/issues.jsonl": formtest.Beads[0]}, []string{".beads/issues.jsonl"}},
		"empty beads": {KindBeads, map[string]string{".beads/issues.jsonl": ""}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			repo := t.TempDir()
			for path, text := range c.files {
				writeBelow(t, repo, path, text)
			}
			found, err := FindKind(c.kind).Find(repo)
			if err != nil || !slices.Equal(found, c.want) {
				t.Errorf("found %q, %v; want %q", found, err, c.want)
			}
		})
	}
}

// TestFindStaysInside: a link out of the repository is not followed.
func TestFindStaysInside(t *testing.T) {
	repo, out := t.TempDir(), filepath.Join(t.TempDir(), "tasks.json")
	write(t, out, []byte(formtest.WreckIt[0]))
	if err := os.Symlink(out, filepath.Join(repo, "tasks.json")); err != nil {
		t.Fatal(err)
	}
	if found, err := FindKind(KindTasks).Find(repo); len(found) > 0 || err != nil {
		t.Errorf("found %q, %v", found, err)
	}
}
