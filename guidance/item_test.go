package guidance

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		addr Address
		text string
	}{
		{"", Address{}, ""},
		{"  be brief ", Address{}, "be brief"},
		{"@builder be brief", Address{Hat: "builder"}, "be brief"},
		{"@Builder: be brief", Address{Hat: "builder"}, "be brief"},
		{"#12 be brief", Address{Task: "12"}, "be brief"},
		{"#TECH-069 be brief", Address{Task: "TECH-069"}, "be brief"},
		{"!sticky be brief", Address{Sticky: true}, "be brief"},
		{"!sticky @builder #12 be brief", Address{Hat: "builder", Task: "12", Sticky: true}, "be brief"},
		{"#12 @builder be brief", Address{Hat: "builder", Task: "12"}, "be brief"},
		{"be brief, @builder and #12", Address{}, "be brief, @builder and #12"},
		{"@builder @fixer be brief", Address{Hat: "builder"}, "@fixer be brief"},
		{"@builder", Address{Hat: "builder"}, ""},
		{"#12\nline one\nline two", Address{Task: "12"}, "line one\nline two"},
		{"@builder\tbe brief", Address{Hat: "builder"}, "be brief"},
		{"!sticky\n\n  tabs", Address{Sticky: true}, "tabs"},
		{"@ be brief", Address{}, "@ be brief"},
		{"# heading", Address{}, "# heading"},
		{"## heading", Address{}, "## heading"},
		{"!important: be brief", Address{}, "!important: be brief"},
	} {
		addr, text := Parse(c.in)
		if addr != c.addr || text != c.text {
			t.Errorf("Parse(%q) = %+v %q, want %+v %q", c.in, addr, text, c.addr, c.text)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"@a #b !sticky c", "@", "#", "!sticky", "@a: b", "#\x00", "\xff @a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		addr, text := Parse(s)
		if !strings.HasSuffix(strings.TrimSpace(s), text) {
			t.Errorf("%q: the words became %q", s, text)
		}
		if strings.ContainsAny(addr.Hat+addr.Task, " \t\n") {
			t.Errorf("%q: address %+v", s, addr)
		}
	})
}

func TestReaches(t *testing.T) {
	build := Target{Session: "r1-2", Hat: "builder", Task: "task 1", Writes: true}
	review := Target{Session: "r1-3", Hat: "reviewer", Task: "task 1"}
	other := Target{Session: "r1-4", Hat: "builder", Task: "task 2", Writes: true}
	type reach struct{ Binds, Shows bool }
	for _, c := range []struct {
		name                 string
		item                 Item
		build, review, other reach
	}{
		{"plain", Item{}, reach{true, false}, reach{false, true}, reach{true, false}},
		{"held for task 1", Item{Bound: "task 1", State: Injected}, reach{true, false}, reach{false, true}, reach{}},
		{"for task 2", Item{Task: "task 2"}, reach{}, reach{}, reach{true, false}},
		{"for the reviewer", Item{Hat: "reviewer"}, reach{}, reach{true, false}, reach{}},
		{"for the reviewer, held", Item{Hat: "reviewer", Bound: "task 1"}, reach{false, true}, reach{true, false}, reach{}},
		{"sticky", Item{Sticky: true}, reach{true, false}, reach{false, true}, reach{true, false}},
		{"dropped", Item{State: Dropped}, reach{}, reach{}, reach{}},
		{"expired", Item{State: Expired, Bound: "task 1"}, reach{}, reach{}, reach{}},
		{"its task is over", Item{Bound: "-", State: Addressed}, reach{}, reach{}, reach{}},
	} {
		var got [3]reach
		for n, target := range []Target{build, review, other} {
			got[n].Binds, got[n].Shows = c.item.reaches(target)
		}
		if diff := cmp.Diff([3]reach{c.build, c.review, c.other}, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
}
