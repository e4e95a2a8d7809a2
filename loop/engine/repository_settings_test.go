package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestReadsRepository: a run begins with a warning of an agent whose program reads settings
// of a repository that is not trusted, unless its network is closed.
func TestReadsRepository(t *testing.T) {
	for _, c := range []struct {
		paths   []string
		network ledger.NetworkMode
		warned  bool
	}{
		{[]string{".gemini"}, ledger.NetworkOpen, true},
		{[]string{".gemini"}, ledger.NetworkNone, false},
		{nil, ledger.NetworkOpen, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			f, s := newFixture(t, succeeded), settings()
			s.Network.Mode = c.network
			f.wrap = func(p engine.Ports) engine.Ports {
				p.Reads = func(context.Context, string, string) ([]string, error) { return c.paths, nil }
				return p
			}
			f.restart()
			f.do(loop.StartRun{Settings: s, MaxSessions: 1}, "")
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			said := ""
			err := f.ledger.Records(t.Context(), ledger.ProjectStream("p"), 0, func(r ledger.Record) error {
				e, err := r.Entry()
				if b, ok := e.Body.(ledger.PreflightDone); ok {
					for _, d := range b.Warnings {
						said += d.Text + "\n"
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if warned := strings.Contains(said, `agent "a" reads .gemini of this repository`); warned != c.warned || strings.Count(said, ".gemini") > 1 {
				t.Errorf("%v, %s: %q", c.paths, c.network, said)
			}
		})
	}
}
