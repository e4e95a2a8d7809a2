package loop

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// proseFields names the fields of entries, effects and states that hold
// sentences for people. Codes and reasons that programs compare have types of
// their own.
var proseFields = map[string]bool{"Text": true, "Why": true, "Note": true, "Reason": true, "Then": true, "Trouble": true, "LastFail": true}

// rewrite changes every sentence in v, which must be addressable.
func rewrite(v reflect.Value, to func(string) string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			rewrite(v.Elem(), to)
		}
	case reflect.Slice:
		for i := range v.Len() {
			rewrite(v.Index(i), to)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f, def := v.Field(i), v.Type().Field(i)
			switch {
			case !def.IsExported():
			case proseFields[def.Name] && f.Type() == reflect.TypeFor[string]():
				if f.String() != "" {
					f.SetString(to(f.String()))
				}
			default:
				rewrite(f, to)
			}
		}
	}
}

// reworded returns a copy of e with its sentences changed by to.
func reworded(t faults, e ledger.Entry, to func(string) string) ledger.Entry {
	t.Helper()
	r, err := e.Record()
	if err != nil {
		t.Fatalf("%v", err)
	}
	if e, err = r.Entry(); err != nil {
		t.Fatalf("%v", err)
	}
	body := reflect.New(reflect.TypeOf(e.Body)).Elem()
	body.Set(reflect.ValueOf(e.Body))
	rewrite(body, to)
	e.Body = body.Interface().(ledger.Body)
	return e
}

// proseless plays a transcript and returns everything but its sentences. With
// tilde, it puts a ~ in front of every sentence of an entry before the entry is
// folded, so that later decisions see a state with other sentences.
func proseless(t *testing.T, file, script string, tilde bool) (out []string, changed int) {
	t.Helper()
	var d *director
	blank := func(string) string { return "" }
	for _, line := range strings.Split(script, "\n") {
		switch {
		case strings.HasPrefix(line, "== "):
			out = append(out, line)
			d = newDirector(t, filepath.Base(file)+" "+line)
			d.decided = func(old State, dec *Decision) {
				s := old
				for at, e := range dec.Entries {
					bare := reworded(t, e, blank)
					if !onlyWords(s, e) {
						out = append(out, "  "+bare.Body.EntryType()+" "+e.Task+" "+e.Session+" "+mustJSON(t, bare.Body))
					}
					if tilde {
						dec.Entries[at] = reworded(t, e, func(text string) string { changed++; return "~" + text })
					}
					s = Apply(s, dec.Entries[at])
					dec.After[at] = s
				}
				dec.State = s
				for _, e := range dec.Effects {
					out = append(out, "  → "+e.Body.EffectKind())
				}
				a := dec.Answer
				out = append(out, "  « "+mustJSON(t, []any{a.OK, a.Code, a.ID, a.Forecast, Settled(s), Due(s)}))
			}
		case strings.HasPrefix(line, "> ") && d != nil:
			out = append(out, line)
			d.play(line[2:])
		}
	}
	return out, changed
}

// onlyWords reports whether an entry changes only sentences of the state.
func onlyWords(s State, e ledger.Entry) bool {
	switch b := e.Body.(type) {
	case ledger.TaskSet:
		t, ok := s.Project.Find(e.Task)
		return ok && t.Status == b.To && !b.Fresh
	case ledger.RunStateSet:
		r := s.Project.Run
		return r != nil && r.State == b.State && r.Wait == b.Wait && r.Until.Equal(b.Until) && r.WaitAgent == b.Agent
	case ledger.HatsRead: // in trouble again
		return b.Trouble != "" && s.Project.Run != nil && s.Project.Run.HatsBad != ""
	case ledger.SourceRead:
		return b.Trouble != "" && s.Project.Run != nil && s.Project.Run.Source != ""
	}
	return false
}

// TestDecisionsIgnoreSentences checks that no decision depends on a sentence:
// with every sentence changed, the core makes the same decisions with the same
// codes, exit codes and times.
func TestDecisionsIgnoreSentences(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := proseless(t, file, string(script), false)
		got, changed := proseless(t, file, string(script), true)
		if changed == 0 {
			t.Errorf("%s: no sentence was changed", file)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: other sentences, other decisions: (-as made +with ~)\n%s", file, diff)
		}
	}
}
