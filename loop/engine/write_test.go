package engine_test

import (
	"context"
	"path"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUndoes: a session that writes is told of files of its work folder, by their paths in
// the repository; nothing is said of others, and to sessions that there are not.
func TestUndoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := false
		f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
			if l.Kind == ledger.KindAgent && !asked {
				asked = true
				say := func(project, session, path string) string {
					rel, err := f.current().Undoes(t.Context(), project, session, path)
					if err != nil {
						t.Error(err)
					}
					return rel
				}
				want := map[string]string{
					l.Work + "/out.txt": "out.txt", l.Work + "/sub/out.txt": "sub/out.txt",
					l.Work + "/in.txt": "", l.Work: "", l.Work + "er/out.txt": "", "/etc/out.txt": "", "out.txt": "",
				}
				got := map[string]string{}
				for path := range want {
					got[path] = say("p", l.Session, path)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Error(d)
				}
				if rel := say("p", "r1-99", l.Work+"/out.txt") + say("q", l.Session, l.Work+"/out.txt"); rel != "" {
					t.Errorf("told to another: %q", rel)
				}
			}
			return succeeded(f, l)
		})
		f.wrap = func(p engine.Ports) engine.Ports {
			p.Place.Folders = outTxt{p.Place.Folders}
			return p
		}
		f.restart()
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if !asked {
			t.Error("no session")
		}
	})
}

// outTxt takes files by the name of out.txt for out of scope.
type outTxt struct{ engine.WorkFolders }

func (outTxt) Undoes(_ context.Context, _ ledger.WorkUse, _ string, _ ledger.Scope, p string) (bool, error) {
	return path.Base(p) == "out.txt", nil
}
