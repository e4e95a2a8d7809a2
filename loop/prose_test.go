package loop

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/ledger/ledgertest"
)

// textPrint matches the fingerprint of a request's text, which quotes sentences.
var textPrint = regexp.MustCompile(`"print":"[0-9a-f]+"`)

// proseless plays a transcript and returns what programs see of it. With tilde,
// every sentence of every entry has a ~ in front as soon as it is added, so that
// the rest of its own decision and all later ones see other sentences.
func proseless(t *testing.T, file, script string, tilde bool) (out []string, changed int) {
	t.Helper()
	var d *director
	blank := func(string) string { return "" }
	for _, line := range strings.Split(script, "\n") {
		switch {
		case strings.HasPrefix(line, "== "):
			out = append(out, line)
			d = newDirector(t, filepath.Base(file)+" "+line)
			d.trusts, d.unread = true, true // TestTranscripts plays them too
			d.decided = func(old State, dec *Decision) {
				if tilde {
					again := &decision{State: old, in: d.last, answer: ledger.Answer{OK: true}}
					again.reword = func(e ledger.Entry) ledger.Entry {
						return ledgertest.Reword(t, e, func(text string) string { changed++; return "~" + text })
					}
					*dec = again.decide()
				}
				s := old
				for at, e := range dec.Entries {
					bare := ledgertest.Reword(t, e, blank)
					if !onlyWords(s, e) {
						body := textPrint.ReplaceAllString(mustJSON(t, bare.Body), "")
						out = append(out, "  "+bare.Body.EntryType()+" "+e.Task+" "+e.Session+" "+body)
					}
					s = dec.After[at]
				}
				for _, e := range dec.Effects {
					out = append(out, "  → "+e.Body.EffectKind())
				}
				a := dec.Answer
				out = append(out, "  « "+mustJSON(t, []any{a.OK, a.Code, a.ID, a.Forecast, Settled(dec.State), Due(dec.State)}))
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
