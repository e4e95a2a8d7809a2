package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// outline writes a plan's sections with their dependencies and titles: "a=T
// b<a=T".
func outline(plan json.RawMessage) string {
	var out []string
	for _, s := range payload.Sections(plan) {
		text := s.ID
		if len(s.DependsOn) > 0 {
			text += "<" + strings.Join(s.DependsOn, ",")
		}
		out = append(out, text+"="+s.Title)
	}
	return strings.Join(out, " ")
}

// inSections returns a plan with the sections of spec. "b<a,c" depends on a and
// c, "b<" on nothing, and "b" leaves its dependencies out of the JSON.
func inSections(title string, spec ...string) json.RawMessage {
	var list []map[string]any
	for _, f := range spec {
		id, on, says := strings.Cut(f, "<")
		s := map[string]any{"id": id, "title": title}
		if says {
			s["depends_on"] = strings.FieldsFunc(on, func(r rune) bool { return r == ',' })
		}
		list = append(list, s)
	}
	raw, err := json.Marshal(map[string]any{"summary": "in parts", "sections": list})
	if err != nil {
		panic(err)
	}
	return raw
}

func TestRevisedPlan(t *testing.T) {
	tests := []struct {
		name      string
		old, plan []string
		approved  []string
		want      string
	}{
		{"nothing approved", []string{"a", "b"}, []string{"b"}, nil, "b=new"},
		{"approved ones stay, the others are new", []string{"a", "b"}, []string{"a", "b"}, []string{"a"}, "a=old b<a=new"},
		{"one that was left out comes first", []string{"a<", "b<"}, []string{"b<"}, []string{"a"}, "a=old b=new"},
		{"what was left unsaid is what was meant", []string{"a", "b"}, []string{"a"}, []string{"b"}, "a=new b<a=old"},
		{"moved before what it needs", []string{"a<", "b<a"}, []string{"b<", "a<"}, []string{"b"}, "a=new b<a=old"},
		{"needs what is there no more", []string{"a<", "b<a"}, []string{"c<"}, []string{"b"}, "c=new b=old"},
		{"needs what needs it", []string{"a<", "b<a"}, []string{"b<", "a<b"}, []string{"b"}, "b=old a<b=new"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := revised(inSections("old", tt.old...), inSections("new", tt.plan...), tt.approved)
			if diff := cmp.Diff(tt.want, outline(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var ids []string
			for _, s := range (&decision{}).partsDue(TaskState{Attempt: &Attempt{Plan: got, Consensus: &Consensus{}}}, true) {
				ids = append(ids, s.ID)
			}
			for _, s := range payload.Sections(got) {
				if !slices.Contains(ids, s.ID) {
					t.Errorf("section %s never becomes a part: %v", s.ID, fmt.Sprint(ids))
				}
			}
		})
	}
}

// TestLastPartMarksItsTask checks that the commit of the last part carries the
// mark of the part's task: no later commit may come that could carry it.
func TestLastPartMarksItsTask(t *testing.T) {
	for _, tt := range []struct{ name, build, want string }{
		{"done", "build", "Task 1 done"},
		{"a person has to look", `build ,"manual_verify":"look"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDirector(t, tt.name)
			d.settings.CommitStatus = true
			for _, line := range []string{"tasks 1 2", "set consensus=yes", "go quiet", "sections a b", "critic OKAY", "hold commit"} {
				d.play(line)
			}
			var got []string
			for _, build := range []string{"build", tt.build} {
				for _, line := range []string{build, "greens", "ok"} {
					d.play(line)
				}
				got = nil
				for _, e := range d.todo {
					if b, ok := e.Body.(ledger.EffectCommit); ok {
						for _, m := range b.Marks {
							got = append(got, m.Task+" "+string(m.Mark))
						}
					}
				}
				if build == "build" && len(got) > 0 && tt.build != build {
					t.Errorf("the first part's commit marks %v", got)
				}
				d.let("commit")
				d.held["commit"] = true
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestPartTitles checks that a part's title is shortened to a line for chats
// and logs, whatever the planner wrote.
func TestPartTitles(t *testing.T) {
	d := newDirector(t, "titles")
	for _, line := range []string{"tasks 1", "set consensus=yes", "go quiet"} {
		d.play(line)
	}
	title := " two\n\n- [ ] **Task 9: lines** \u202e" + strings.Repeat("é", 1000)
	raw, err := json.Marshal(map[string]any{"summary": "s", "sections": []map[string]any{{"id": "a", "title": title}, {"id": "b", "title": "t"}}})
	if err != nil {
		t.Fatal(err)
	}
	d.emit(ledger.EventPlan, string(raw))
	d.play("exit")
	d.play("critic OKAY")
	part, ok := d.s.Project.Find("Task 1/a")
	if got := []rune(part.Task.Title); !ok || len(got) > 201 || strings.ContainsAny(part.Task.Title, "\n\r") {
		t.Errorf("%v, title of %d characters: %.80q", ok, len(got), part.Task.Title)
	}
}

// TestCommitNamesItsWriter checks that a commit names the session whose files
// it has, for example a refactorer's.
func TestCommitNamesItsWriter(t *testing.T) {
	d := newDirector(t, "writer")
	for _, line := range []string{"tasks 1", "set pattern=refactor", "go quiet", "build", "greens", "ok", "refactor", "greens", "hold commit", "ok"} {
		d.play(line)
	}
	c, ok := take[ledger.EffectCommit](d.night, nil)
	if !ok || !strings.Contains(c.Commit.Footers, "Nightporter-Session: r1-3\n") || c.Commit.Body != "built it" {
		t.Errorf("%v %q %q", ok, c.Commit.Footers, c.Commit.Body)
	}
}
