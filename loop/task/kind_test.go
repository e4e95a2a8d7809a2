package task

import (
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// conformanceTests maps each built kind to its run of the conformance suite.
var conformanceTests = map[string]func(t *testing.T){
	KindPlan:    testPlanConformance,
	KindBacklog: testBacklogConformance,
	KindTasks:   testTasksConformance,
	KindPRD:     testPRDConformance,
	KindBeads:   testBeadsConformance,
	KindBugs:    testBugsConformance,
	KindForge:   testForgeConformance,
}

// optionalCells lists the cells whose zero value is a valid choice.
var optionalCells = []string{"Reserved", "Foreign", "Default", "MaxTasks", "Form", "Recognise"}

// fileCells lists the cells that kinds without files lack.
var fileCells = []string{"Folder", "Sample"}

// TestEveryCell: a built kind sets every cell and passes the conformance suite.
// A cell that does not apply has its empty value.
func TestEveryCell(t *testing.T) {
	typ := reflect.TypeFor[Kind]()
	open, _ := typ.FieldByName("Open")
	for _, k := range kinds {
		row := reflect.ValueOf(*k)
		for i := range typ.NumField() {
			cell := typ.Field(i)
			empty := row.Field(i).IsZero()
			switch {
			case k.Reserved && i >= open.Index[0]:
				if !empty {
					t.Errorf("%s is reserved, and has %s", k.Name, cell.Name)
				}
			case k.Labels == AllLabels && slices.Contains(fileCells, cell.Name):
				if !empty {
					t.Errorf("%s has no files, and has %s", k.Name, cell.Name)
				}
			case empty && !slices.Contains(optionalCells, cell.Name):
				t.Errorf("%s lacks %s: where it does not apply, say so by its empty value", k.Name, cell.Name)
			}
		}
		if k.Reserved {
			continue
		}
		for _, m := range []ledger.Mark{ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify} {
			if k.Statuses[m] == "" {
				t.Errorf("%s has no wording of the status %q", k.Name, m)
			}
		}
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			conforms, ok := conformanceTests[k.Name]
			if !ok {
				t.Fatalf("%s does not run the conformance suite: add it to conforming", k.Name)
			}
			conforms(t)
		})
	}
}

// TestSamples: Find finds each kind's sample, and Lint has no warnings about
// it.
func TestSamples(t *testing.T) {
	for _, k := range kinds {
		if k.Reserved || k.Labels == AllLabels {
			continue
		}
		repo := t.TempDir()
		if found, err := k.Find(repo); len(found) > 0 || err != nil {
			t.Errorf("%s: in an empty repository: %q, %v", k.Name, found, err)
		}
		writeBelow(t, repo, k.Sample.Path, k.Sample.Text)
		found, err := k.Find(repo)
		if err != nil || !slices.Equal(found, []string{k.Sample.Path}) {
			t.Fatalf("%s: found %q, %v", k.Name, found, err)
		}
		source, err := Open(k.Name, found[0], repo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		snapshot, err := source.Read(t.Context())
		if err != nil || len(snapshot.Tasks) == 0 || len(snapshot.Warnings) > 0 {
			t.Errorf("%s: the sample has %d tasks and warnings %v, %v", k.Name, len(snapshot.Tasks), snapshot.Warnings, err)
		}
		if example, ok := strings.CutPrefix(k.Example, k.Name+":"); path.Dir(k.Sample.Path) != k.Folder || !ok || path.Dir(example) != k.Folder {
			t.Errorf("%s: sample %s and example %s are not in %s", k.Name, k.Sample.Path, k.Example, k.Folder)
		}
	}
}

// TestNames checks the notation of a source of each kind.
func TestNames(t *testing.T) {
	for _, name := range strings.Fields("plan backlog tasks prd beads bugs forge") {
		if !slices.Contains(KindNames(), name) {
			t.Errorf("%s, which configurations name, is no kind any more", name)
		}
	}
	if Proposed().Reserved {
		t.Errorf("%s is proposed, and not built", Proposed().Name)
	}
	for _, c := range []struct{ kind, path, label, form string }{
		{"plan", "a.md", "", "plan:PATH"},
		{"bugs", "bugs.md", "", "bugs:PATH"},
		{"bugs", "forge:bug", "bug", "bugs:forge:LABEL"},
		{"forge", "bug", "bug", "forge:LABEL"},
	} {
		k := FindKind(c.kind)
		label, is := k.Label(c.path)
		if is != (c.label != "") || is && label != c.label || k.Notation(c.path) != c.form {
			t.Errorf("%s:%s is the label %q (%v), of the form %s", c.kind, c.path, label, is, k.Notation(c.path))
		}
	}
	for file, want := range map[string]string{"a/b.md": "plan", "ai/backlog.md": "backlog", "x/prd.json": "prd", "my.json": "tasks", "b/issues.jsonl": "beads", "x.txt": ""} {
		got := ""
		if k := GuessKind(file); k != nil {
			got = k.Name
		}
		if got != want {
			t.Errorf("%s is guessed to be %q, want %q", file, got, want)
		}
	}
}
