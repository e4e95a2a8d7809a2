package bench

import (
	"context"
	"encoding/json"
	"log/slog"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// sessionAPI answers a session's socket from the engine.
type sessionAPI struct{ w *fixture }

func (d sessionAPI) Emit(ctx context.Context, session string, e api.Emit) (api.Reply, error) {
	a, err := d.w.engine.Do(context.WithoutCancel(ctx), loop.Input{
		Project: d.w.project, Actor: "agent", Body: loop.Emit{Session: session, Type: e.Type, Data: e.Data},
	})
	return api.Reply{OK: a.OK, Text: a.Text, Receipt: a.Receipt}, err
}

func (sessionAPI) Task(context.Context, string, api.TaskQuery) (api.Reply, error) {
	return api.Reply{}, nil
}
func (sessionAPI) Guidance(context.Context, string) (api.Reply, error) { return api.Reply{}, nil }
func (sessionAPI) Note(context.Context, string, string, api.Note) (api.Reply, error) {
	return api.Reply{}, nil
}
func (sessionAPI) Throttled(context.Context, string, int) {}

func (sessionAPI) Session(context.Context, string) (api.Reply, error) { return api.Reply{}, nil }

func (sessionAPI) Write(context.Context, string, api.Write) (api.Reply, error) {
	return api.Reply{}, nil
}

// BenchmarkHatEmit is what an agent waits for: the whole process of `hat
// emit`, from its start until the event is durable, decided and answered, with
// the real client, socket, engine, core and store (synchronous=FULL).
//
// Baseline: an empty Go program, built the same way, in turns with it. Figure:
// hat/empty ≤ 2.2. For comparison also the transaction alone.
func BenchmarkHatEmit(b *testing.B) {
	hat := program(b, "hat", "./cmd/hat", false)
	empty := source(b, "empty", "package main\n\nfunc main() {}\n")
	w := newFixture(b)
	dir := b.TempDir()
	log := slog.New(slog.DiscardHandler)
	timed := func(env []string, args ...string) time.Duration {
		cmd := exec.CommandContext(b.Context(), args[0], args[1:]...)
		cmd.Env = env
		began := time.Now()
		out, err := cmd.CombinedOutput()
		took := time.Since(began)
		if err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
		return took
	}
	var bare, emit, commit []time.Duration
	for b.Loop() {
		l := w.next()
		path := filepath.Join(dir, "hat.sock")
		listener, err := socket.Listen(path, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		server := socket.ServeSession(listener, sessionAPI{w}, l.Token, l.Session, log)
		e := events[l.Hat]

		bare = append(bare, timed([]string{}, empty))
		emit = append(emit, timed([]string{
			api.EnvSocket + "=" + path, api.EnvToken + "=" + l.Token, api.EnvSession + "=" + l.Session,
		}, hat, "emit", e.kind, "--data", e.data))
		commit = append(commit, w.commit())

		if err := server.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
		w.exit(l.Session)
	}
	emptyAt, _ := median(bare)
	emitAt, emitHigh := median(emit)
	commitAt, _ := median(commit)
	b.ReportMetric(ms(emptyAt), "empty-ms")
	b.ReportMetric(ms(emitAt), "hat-ms")
	b.ReportMetric(ms(emitHigh), "hat-p95-ms")
	b.ReportMetric(ms(commitAt), "commit-ms")
	b.ReportMetric(float64(emitAt)/float64(emptyAt), "hat/empty")
	b.ReportMetric(float64(emitAt)/float64(emptyAt+commitAt), "hat/(empty+commit)")
	b.ReportMetric(0, "ns/op") // of a whole turn: says nothing
}

// commit is one durable transaction of the store, of about an event's size.
func (w *fixture) commit() time.Duration {
	began := time.Now()
	_, err := w.ledger.Commit(w.b.Context(), ledger.Batch{Time: began, Records: []ledger.Record{{
		Stream: ledger.ProjectStream("baseline"), Time: began, Type: "baseline", V: 1, Actor: "bench",
		Body: json.RawMessage(events["builder"].data),
	}}})
	if err != nil {
		w.b.Fatal(err)
	}
	return time.Since(began)
}
