package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/sqlitefault"
	"github.com/nightporter/nightporter/loop/ledger"
)

// ledgerStore is the common interface of Store and Memory.
type ledgerStore interface {
	Commit(ctx context.Context, b ledger.Batch) (ledger.Receipt, error)
	Records(ctx context.Context, stream string, after int64, yield func(ledger.Record) error) error
	RecordsOfTask(ctx context.Context, stream, task string, yield func(ledger.Record) error) error
	RecordsOfRun(ctx context.Context, stream, run string, yield func(ledger.Record) error) error
	RecordsAfter(ctx context.Context, stream string, after int64, types []string, yield func(ledger.Record) error) error
	LastRecord(ctx context.Context, stream string, upTo int64, types ...string) (ledger.Record, bool, error)
	RecordsOfTypes(ctx context.Context, stream, run string, types []string, yield func(ledger.Record) error) error
	RunsOf(ctx context.Context, stream string) ([]string, error)
	Streams(ctx context.Context) ([]string, error)
	Head(ctx context.Context, stream string) (seq int64, hash []byte, err error)
	Pending(ctx context.Context) ([]ledger.PendingEffect, error)
	Snapshot(ctx context.Context, stream string, version int) (ledger.SnapshotRow, error)
	SaveSnapshot(ctx context.Context, row ledger.SnapshotRow) error
	outbox
}

const shop = "project/shop"

// entryTime is the time of every entry in these tests. The database must not keep
// its zone.
var entryTime = time.Date(2026, 11, 20, 23, 4, 5, 120000000, time.FixedZone("CET", 3600))

func rec(stream, typ string) ledger.Record {
	return ledger.Record{
		Stream: stream, Time: entryTime, Type: typ, V: 1, Run: "r14", Task: "Task 5", Attempt: "a1",
		Session: "r14-25", Actor: "agent", Cause: "emit:r14-25", Body: []byte(`{"n": 1}`),
	}
}

func effect(stream, kind, key string) ledger.PendingEffect {
	return ledger.PendingEffect{Stream: stream, Kind: kind, Class: ledger.Findable, Key: key, Body: []byte(`{}`), Time: entryTime}
}

func mustCommit(t testing.TB, l ledgerStore, b ledger.Batch) ledger.Receipt {
	t.Helper()
	r, err := l.Commit(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustOpen(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func records(t testing.TB, l ledgerStore, stream string, after int64) []ledger.Record {
	t.Helper()
	var got []ledger.Record
	if err := l.Records(t.Context(), stream, after, collect(&got)); err != nil {
		t.Fatal(err)
	}
	return got
}

func collect(to *[]ledger.Record) func(ledger.Record) error {
	return func(r ledger.Record) error { *to = append(*to, r); return nil }
}

func pending(t testing.TB, l ledgerStore) []ledger.PendingEffect {
	t.Helper()
	p, err := l.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wantEqual fails the test if got differs from want; nil and empty differ.
func wantEqual(t testing.TB, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// conformance is a test of one behaviour that Store and Memory share.
type conformance struct {
	name string
	test func(*testing.T, ledgerStore)
}

func TestConformance(t *testing.T) {
	makers := map[string]func(*testing.T) ledgerStore{
		"Store":  func(t *testing.T) ledgerStore { return mustOpen(t, t.TempDir()) },
		"Memory": func(*testing.T) ledgerStore { return NewMemory() },
		"OpenOn": func(t *testing.T) ledgerStore { return mustOpenOn(t, sqlitefault.New(1)) },
	}
	suite := []conformance{
		{"records are chained", testChained},
		{"bytes and texts come back as they were", testBytes},
		{"nothing is shared with the caller", testShared},
		{"a key is answered once", testRepeated},
		{"a batch is whole or not at all", testAtomic},
		{"effects name the head of their stream", testEffectHeads},
		{"effects are pending until settled", testSettle},
		{"an effect is committed once ever", testEffectOnce},
		{"what only a fault can make is refused", testRefused},
		{"snapshots", testSnapshots},
		{"records of a task and of a run", testSelections},
		{"streams and heads", testStreams},
		{"yield can stop and can use the ledger", testYield},
		{"an ended context writes nothing", testContext},
		{"many writers", testManyWriters},
	}
	suite = append(suite, outboxSuite...)
	for name, open := range makers {
		for _, c := range suite {
			t.Run(name+"/"+c.name, func(t *testing.T) { c.test(t, open(t)) })
		}
	}
}

func testChained(t *testing.T, l ledgerStore) {
	first := mustCommit(t, l, ledger.Batch{Time: entryTime, Records: []ledger.Record{rec(shop, "a"), rec(ledger.SharedStream, "h"), rec(shop, "b")}})
	second := mustCommit(t, l, ledger.Batch{Time: entryTime, Records: []ledger.Record{rec(shop, "c")}})

	written := []ledger.Record{first.Records[0], first.Records[2], second.Records[0]}
	wantEqual(t, "records", records(t, l, shop, 0), written)
	wantEqual(t, "records after 2", records(t, l, shop, 2), written[2:])
	wantEqual(t, "records of house", records(t, l, ledger.SharedStream, 0), first.Records[1:2])
	wantEqual(t, "records of nobody", records(t, l, "project/none", 0), []ledger.Record(nil))

	var prev []byte
	for i, r := range written {
		if r.Seq != int64(i+1) || !bytes.Equal(r.Prev, prev) {
			t.Errorf("entry %d has seq %d and prev %x, want prev %x", i+1, r.Seq, r.Prev, prev)
		}
		raw := newRow(r)
		if !bytes.Equal(raw.sum(), r.Hash) {
			t.Errorf("entry %d: hash %x is not that of its content", i+1, r.Hash)
		}
		prev = r.Hash
	}
}

func testBytes(t *testing.T, l ledgerStore) {
	want := rec(shop, "odd")
	want.Time = time.Date(2026, 3, 29, 1, 2, 3, 4, time.FixedZone("X", -7200))
	want.V = -3
	want.Task = "TÄSK \x00 'quoted'; --"
	want.Cause = "not utf-8: \xff\xfe"
	want.Body = []byte("{\"a\":  1,\r\n\"b\": \"\\u0000\x00\xff\"}  ")
	empty := ledger.Record{Stream: shop, Type: "empty", Body: []byte{}}
	r := mustCommit(t, l, ledger.Batch{Key: "k", Records: []ledger.Record{want, empty}, Answer: []byte{}})

	want.Seq, want.Hash = 1, r.Records[0].Hash
	empty.Seq, empty.Body, empty.Prev, empty.Hash = 2, nil, want.Hash, r.Records[1].Hash
	got := records(t, l, shop, 0)
	wantEqual(t, "read", got, []ledger.Record{want, empty})
	wantEqual(t, "receipt", r.Records, got)
	if zone := got[0].Time.Location(); zone != time.UTC {
		t.Errorf("the time came back in zone %v, want UTC", zone)
	}
	wantEqual(t, "empty answer", r.Answer, []byte(nil))
	wantEqual(t, "empty answer again", mustCommit(t, l, ledger.Batch{Key: "k"}).Answer, []byte(nil))
}

func testShared(t *testing.T, l ledgerStore) {
	body, answer, text := []byte("body"), []byte("answer"), []byte("text")
	r := rec(shop, "a")
	r.Body = body
	e := effect(shop, "start", "1")
	e.Body = body
	got := mustCommit(t, l, ledger.Batch{
		Key: "k", Records: []ledger.Record{r}, Effects: []ledger.PendingEffect{e}, Answer: answer,
		Messages: []ledger.Outgoing{{Chat: mira, Key: "q5", Class: ledger.ClassAsk, Body: text}},
	})
	head := bytes.Clone(got.Effects[0].Head)
	for _, b := range [][]byte{body, answer, text, got.Records[0].Body, got.Records[0].Hash, got.Effects[0].Body, got.Effects[0].Head, got.Answer} {
		clear(b)
	}
	clear(records(t, l, shop, 0)[0].Body)
	clear(pending(t, l)[0].Body)
	clear(queue(t, l, mira)[0].Body)
	settle(t, l, mira, "100")
	clear(shownAt(t, l, mira, "100").Body)

	if b := records(t, l, shop, 0)[0].Body; string(b) != "body" {
		t.Errorf("entry's body became %q", b)
	}
	p := pending(t, l)[0]
	if string(p.Body) != "body" || !bytes.Equal(p.Head, head) {
		t.Errorf("effect became %q, head %x, want head %x", p.Body, p.Head, head)
	}
	if m := shownAt(t, l, mira, "100"); string(m.Body) != "text" {
		t.Errorf("message became %q", m.Body)
	}
	if a := mustCommit(t, l, ledger.Batch{Key: "k"}).Answer; string(a) != "answer" {
		t.Errorf("answer became %q", a)
	}
}

func testRepeated(t *testing.T, l ledgerStore) {
	b := ledger.Batch{Key: "emit:r14-25", Time: entryTime, Records: []ledger.Record{rec(shop, "a")}, Answer: []byte("first")}
	if r := mustCommit(t, l, b); r.Repeated || string(r.Answer) != "first" {
		t.Errorf("first: %+v", r)
	}
	b.Records = append(b.Records, rec(shop, "other"))
	b.Effects = []ledger.PendingEffect{effect(shop, "start", "1")}
	b.Answer = []byte("second")
	b.Messages = []ledger.Outgoing{{Chat: mira, Class: ledger.ClassReply}}
	b.Cursor = &ledger.Cursor{Name: "telegram:1", Value: "9"}
	r := mustCommit(t, l, b)
	wantEqual(t, "second", r, ledger.Receipt{Repeated: true, Answer: []byte("first")})
	if n := len(records(t, l, shop, 0)) + len(pending(t, l)); n != 1 {
		t.Errorf("the repeated input wrote something: %d entries and effects, want 1", n)
	}
	if q := queue(t, l, mira); len(q) != 0 {
		t.Errorf("the repeated input queued %+v", q)
	}
	if c, ok, err := l.Cursor(t.Context(), "telegram:1"); ok || err != nil {
		t.Errorf("the repeated input moved the cursor: %+v, %v", c, err)
	}
	// A batch without a key is never a repetition.
	for range 2 {
		if r := mustCommit(t, l, ledger.Batch{Records: []ledger.Record{rec(shop, "b")}}); r.Repeated {
			t.Error("a batch without key was taken for a repetition")
		}
	}
	// Keys are compared byte by byte.
	if r := mustCommit(t, l, ledger.Batch{Key: "EMIT:r14-25"}); r.Repeated {
		t.Error("keys were compared without case")
	}
}

func testAtomic(t *testing.T, l ledgerStore) {
	mustCommit(t, l, ledger.Batch{
		Records: []ledger.Record{rec(shop, "a")}, Effects: []ledger.PendingEffect{effect(shop, "start", "1")},
	})
	before := pending(t, l)
	for name, spoil := range map[string]func(*ledger.Batch){
		"effect again":   func(b *ledger.Batch) { b.Effects = append(b.Effects, effect(shop, "start", "1")) },
		"unknown effect": func(b *ledger.Batch) { b.Settles = append(b.Settles, 999) },
		"bad message":    func(b *ledger.Batch) { b.Messages = append(b.Messages, ledger.Outgoing{Chat: mira}) },
		"bad record":     func(b *ledger.Batch) { b.Records = append(b.Records, rec(shop, "")) },
	} {
		b := ledger.Batch{
			Key: "k", Records: []ledger.Record{rec(shop, "b"), rec("project/new", "b")},
			Effects: []ledger.PendingEffect{effect(shop, "start", "2")}, Settles: []int64{before[0].ID},
			Messages: []ledger.Outgoing{{Chat: mira, Class: ledger.ClassReply}}, Cursor: &ledger.Cursor{Name: "telegram:1", Value: "9"},
		}
		spoil(&b)
		if _, err := l.Commit(t.Context(), b); err == nil {
			t.Fatalf("%s: was committed", name)
		}
		if n := len(records(t, l, shop, 0)); n != 1 {
			t.Errorf("%s: %d entries, want 1", name, n)
		}
		if s, _ := l.Streams(t.Context()); len(s) != 1 {
			t.Errorf("%s: streams %q, want one", name, s)
		}
		wantEqual(t, name+": pending", pending(t, l), before)
		if _, ok, err := l.Cursor(t.Context(), "telegram:1"); ok || err != nil || len(queue(t, l, mira)) > 0 {
			t.Errorf("%s: a message was queued or the cursor moved (%v)", name, err)
		}
	}
	if r := mustCommit(t, l, ledger.Batch{Key: "k", Records: []ledger.Record{rec(shop, "b")}}); r.Repeated || r.Records[0].Seq != 2 {
		t.Errorf("after refusals: %+v, want seq 2 and no repetition", r)
	}
}

func testEffectHeads(t *testing.T, l ledgerStore) {
	a := mustCommit(t, l, ledger.Batch{Records: []ledger.Record{rec(shop, "a")}})
	r := mustCommit(t, l, ledger.Batch{
		Records: []ledger.Record{rec(ledger.SharedStream, "h"), rec(ledger.SharedStream, "i")},
		Effects: []ledger.PendingEffect{effect(ledger.SharedStream, "k", "1"), effect(shop, "k", "2"), effect("project/new", "k", "3")},
	})
	for i, want := range []struct {
		seq  int64
		head []byte
	}{{2, r.Records[1].Hash}, {1, a.Records[0].Hash}, {0, nil}} {
		e := r.Effects[i]
		if e.Seq != want.seq || !bytes.Equal(e.Head, want.head) {
			t.Errorf("effect %d: seq %d head %x, want %d %x", i, e.Seq, e.Head, want.seq, want.head)
		}
	}
	wantEqual(t, "pending", pending(t, l), r.Effects)
}

func testSettle(t *testing.T, l ledgerStore) {
	r := mustCommit(t, l, ledger.Batch{Effects: []ledger.PendingEffect{
		effect(shop, "k", "1"), effect("a/first", "k", "2"), effect(shop, "k", "3"),
	}})
	ids := []int64{r.Effects[0].ID, r.Effects[1].ID, r.Effects[2].ID}
	if ids[0] < 1 || ids[0] >= ids[1] || ids[1] >= ids[2] {
		t.Fatalf("ids %v do not rise", ids)
	}
	mustCommit(t, l, ledger.Batch{Settles: []int64{ids[1]}})
	wantEqual(t, "pending", pending(t, l), []ledger.PendingEffect{r.Effects[0], r.Effects[2]})
	mustCommit(t, l, ledger.Batch{Settles: []int64{ids[1], ids[0]}}) // settling an effect again is no error
	mustCommit(t, l, ledger.Batch{Settles: []int64{ids[2]}})
	wantEqual(t, "pending at last", pending(t, l), []ledger.PendingEffect(nil))
}

func testEffectOnce(t *testing.T, l ledgerStore) {
	e := effect(shop, "start", "r14-25")
	r := mustCommit(t, l, ledger.Batch{Effects: []ledger.PendingEffect{e, effect(shop, "end", "r14-25")}})
	mustCommit(t, l, ledger.Batch{Settles: []int64{r.Effects[0].ID, r.Effects[1].ID}})
	e.Stream = "project/other"
	if _, err := l.Commit(t.Context(), ledger.Batch{Effects: []ledger.PendingEffect{e}}); !errors.Is(err, ErrEffect) {
		t.Errorf("a settled effect again: %v, want ErrEffect", err)
	}
	n := effect(shop, "start", "r14-26")
	if _, err := l.Commit(t.Context(), ledger.Batch{Effects: []ledger.PendingEffect{n, n}}); !errors.Is(err, ErrEffect) {
		t.Errorf("an effect twice in a batch: %v, want ErrEffect", err)
	}
}

func testRefused(t *testing.T, l ledgerStore) {
	with := func(change func(*ledger.PendingEffect)) ledger.Batch {
		e := effect(shop, "k", "1")
		change(&e)
		return ledger.Batch{Effects: []ledger.PendingEffect{e}}
	}
	late := rec(shop, "a")
	late.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, b := range map[string]ledger.Batch{
		"record without stream": {Records: []ledger.Record{rec("", "a")}},
		"record without type":   {Records: []ledger.Record{rec(shop, "")}},
		"record of year 10000":  {Records: []ledger.Record{late}},
		"effect without stream": with(func(e *ledger.PendingEffect) { e.Stream = "" }),
		"effect without kind":   with(func(e *ledger.PendingEffect) { e.Kind = "" }),
		"effect without key":    with(func(e *ledger.PendingEffect) { e.Key = "" }),
		"effect without class":  with(func(e *ledger.PendingEffect) { e.Class = "" }),
		"effect of new class":   with(func(e *ledger.PendingEffect) { e.Class = "perhaps" }),
		"message without chat":  {Messages: []ledger.Outgoing{{Class: ledger.ClassAsk}}},
		"message without class": {Messages: []ledger.Outgoing{{Chat: mira}}},
		"message of new class":  {Messages: []ledger.Outgoing{{Chat: mira, Class: "perhaps"}}},
		"edit of nothing":       {Messages: []ledger.Outgoing{{Chat: mira, Class: ledger.ClassAsk, Edit: true}}},
		"cursor without name":   {Cursor: &ledger.Cursor{Value: "1"}},
		"cursor of year 10000":  {Cursor: &ledger.Cursor{Name: "telegram:1", Time: late.Time}},
		"settles 0":             {Settles: []int64{0}},
		"settles -1":            {Settles: []int64{-1}},
	} {
		if _, err := l.Commit(t.Context(), b); err == nil {
			t.Errorf("%s: was committed", name)
		}
	}
}

func testSnapshots(t *testing.T, l ledgerStore) {
	mustCommit(t, l, ledger.Batch{Records: []ledger.Record{rec(shop, "a"), rec(shop, "b"), rec(shop, "c"), rec("project/blog", "a")}})
	want := func(stream string, version int, seq int64, body string) {
		t.Helper()
		got, err := l.Snapshot(t.Context(), stream, version)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "snapshot", got, ledger.SnapshotRow{Stream: stream, Version: version, Seq: seq, Body: cloneBytes([]byte(body))})
	}
	save := func(stream string, version int, seq int64, body string) error {
		return l.SaveSnapshot(t.Context(), ledger.SnapshotRow{Stream: stream, Version: version, Seq: seq, Body: []byte(body)})
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want(shop, 1, 0, "")
	must(save(shop, 1, 2, "two"))
	must(save("project/blog", 1, 1, "blog"))
	want(shop, 1, 2, "two")
	want(shop, 2, 0, "") // another version of the core wrote the snapshot
	must(save(shop, 1, 2, "two again"))
	want(shop, 1, 2, "two again")
	must(save(shop, 2, 3, "three"))
	want(shop, 2, 3, "three")
	want(shop, 1, 0, "") // deleted
	want("project/blog", 1, 1, "blog")
	must(save(shop, 2, 1, "late")) // an older snapshot must not delete the newer one
	want(shop, 2, 3, "three")

	for _, seq := range []int64{-1, 0, 4} {
		if err := save(shop, 2, seq, "x"); err == nil {
			t.Errorf("a snapshot of entry %d of 3 was kept", seq)
		}
	}
	if err := save("project/none", 2, 1, "x"); err == nil {
		t.Error("a snapshot of a stream without entries was kept")
	}
	want(shop, 2, 3, "three")
}

func testSelections(t *testing.T, l ledgerStore) {
	of := func(stream, task, run string) ledger.Record {
		r := rec(stream, "a")
		r.Task, r.Run = task, run
		return r
	}
	mustCommit(t, l, ledger.Batch{Records: []ledger.Record{
		of(shop, "Task 5", "r14"), of(shop, "", "r14"), of(shop, "task  5", "r15"), of(shop, "Task 50", "r1"),
		of("project/blog", "Task 5", "r14"), of(shop, "Task 5", ""),
	}})
	seqs := func(read func(context.Context, string, string, func(ledger.Record) error) error, stream, of string) []int64 {
		t.Helper()
		var got []ledger.Record
		if err := read(t.Context(), stream, of, collect(&got)); err != nil {
			t.Fatal(err)
		}
		var n []int64
		for _, r := range got {
			n = append(n, r.Seq)
		}
		return n
	}
	wantEqual(t, "TASK 5", seqs(l.RecordsOfTask, shop, "TASK 5"), []int64{1, 3, 5})
	wantEqual(t, "Task 5 of blog", seqs(l.RecordsOfTask, "project/blog", "Task 5"), []int64{1})
	wantEqual(t, "Task 7", seqs(l.RecordsOfTask, shop, "Task 7"), []int64(nil))
	wantEqual(t, "no task", seqs(l.RecordsOfTask, shop, ""), []int64(nil))
	wantEqual(t, "r14", seqs(l.RecordsOfRun, shop, "r14"), []int64{1, 2})
	wantEqual(t, "r1", seqs(l.RecordsOfRun, shop, "r1"), []int64{4})
	runs := func(stream string, want ...string) {
		t.Helper()
		got, err := l.RunsOf(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "runs of "+stream, got, want)
	}
	runs(shop, "r1", "r14", "r15")
	runs("project/blog", "r14")
	runs("project/none")
	b := rec(shop, "a")
	b.Run, b.Type = "r14", "task.set"
	mustCommit(t, l, ledger.Batch{Records: []ledger.Record{b}})
	typed := func(types ...string) func(context.Context, string, string, func(ledger.Record) error) error {
		return func(ctx context.Context, stream, run string, yield func(ledger.Record) error) error {
			return l.RecordsOfTypes(ctx, stream, run, types, yield)
		}
	}
	wantEqual(t, "one type", seqs(typed("task.set"), shop, "r14"), []int64{6})
	wantEqual(t, "both", seqs(typed("task.set", rec(shop, "a").Type, "nothing"), shop, "r14"), []int64{1, 2, 6})
	wantEqual(t, "no type", seqs(typed(), shop, "r14"), []int64(nil))
	wantEqual(t, "no run", seqs(l.RecordsOfRun, shop, ""), []int64(nil))

	mustCommit(t, l, ledger.Batch{Records: []ledger.Record{rec(shop, "b"), rec(shop, "c"), rec(shop, "b"), rec(shop, "d")}})
	ofTypes := func(after int64, types ...string) []int64 {
		return seqs(func(ctx context.Context, stream, _ string, yield func(ledger.Record) error) error {
			return l.RecordsAfter(ctx, stream, after, types, yield)
		}, shop, "")
	}
	wantEqual(t, "b and d", ofTypes(0, "b", "d"), []int64{7, 9, 10})
	wantEqual(t, "b after 7", ofTypes(7, "b"), []int64{9})
	wantEqual(t, "no type", ofTypes(0), []int64(nil))
	for _, c := range []struct {
		stream string
		upTo   int64
		types  []string
		want   int64
	}{
		{shop, 10, []string{"b", "c"}, 9}, {shop, 9, []string{"b"}, 9}, {shop, 8, []string{"b", "c"}, 8}, {shop, 8, []string{"b"}, 7},
		{shop, 6, []string{"b"}, 0}, {shop, 99, []string{"d"}, 10}, {shop, 99, []string{"e"}, 0}, {shop, 99, nil, 0},
		{"project/blog", 99, []string{"b"}, 0}, {"project/none", 99, []string{"a"}, 0},
	} {
		r, found, err := l.LastRecord(t.Context(), c.stream, c.upTo, c.types...)
		if err != nil || r.Seq != c.want || found != (c.want != 0) {
			t.Errorf("the last of %q up to %d in %s is %d, %t, %v; want %d", c.types, c.upTo, c.stream, r.Seq, found, err, c.want)
		}
	}
}

func testStreams(t *testing.T, l ledgerStore) {
	if s, err := l.Streams(t.Context()); err != nil || len(s) != 0 {
		t.Errorf("Streams = %q, %v of an empty ledger", s, err)
	}
	if seq, hash, err := l.Head(t.Context(), shop); seq != 0 || hash != nil || err != nil {
		t.Errorf("Head = %d, %x, %v of an empty stream", seq, hash, err)
	}
	r := mustCommit(t, l, ledger.Batch{Records: []ledger.Record{rec(shop, "a"), rec("project/blog", "a"), rec(ledger.SharedStream, "a"), rec(shop, "b")}})
	s, err := l.Streams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "streams", s, []string{ledger.SharedStream, "project/blog", shop})
	seq, hash, err := l.Head(t.Context(), shop)
	if err != nil || seq != 2 || !bytes.Equal(hash, r.Records[3].Hash) {
		t.Errorf("Head = %d, %x, %v", seq, hash, err)
	}
}

func testYield(t *testing.T, l ledgerStore) {
	mustCommit(t, l, ledger.Batch{Records: []ledger.Record{rec(shop, "a"), rec(shop, "b"), rec(shop, "c")}})
	stop := errors.New("enough")
	n := 0
	err := l.Records(t.Context(), shop, 0, func(r ledger.Record) error {
		n++
		if _, err := l.Pending(t.Context()); err != nil {
			return err
		}
		if _, err := l.Commit(t.Context(), ledger.Batch{Records: []ledger.Record{rec(shop, "later")}}); err != nil {
			return err
		}
		if r.Seq == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 2 {
		t.Errorf("Records = %v after %d entries, want %v after 2", err, n, stop)
	}
	n = 0
	if err := l.Records(t.Context(), shop, 0, func(ledger.Record) error {
		n++
		_, err := l.Commit(t.Context(), ledger.Batch{Records: []ledger.Record{rec(shop, "later")}})
		return err
	}); err != nil || n != 5 {
		t.Errorf("Records = %v after %d entries, want the 5 that were there", err, n)
	}
}

func testContext(t *testing.T, l ledgerStore) {
	why := errors.New("going down")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := l.Commit(ctx, ledger.Batch{Key: "k", Records: []ledger.Record{rec(shop, "a")}}); !errors.Is(err, why) {
		t.Errorf("Commit = %v, want %v", err, why)
	}
	if n := len(records(t, l, shop, 0)); n != 0 {
		t.Errorf("%d entries were written", n)
	}
	if r := mustCommit(t, l, ledger.Batch{Key: "k", Records: []ledger.Record{rec(shop, "a")}}); r.Repeated {
		t.Error("the key was written")
	}
}

func testManyWriters(t *testing.T, l ledgerStore) {
	const writers, each = 4, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				key := fmt.Sprintf("k%d-%d", w, i)
				if _, err := l.Commit(t.Context(), ledger.Batch{Key: key, Records: []ledger.Record{rec(shop, key)}}); err != nil {
					t.Errorf("commit %s: %v", key, err)
				}
				if err := l.Records(t.Context(), shop, int64(i), func(ledger.Record) error { return nil }); err != nil {
					t.Errorf("records: %v", err)
				}
			}
		})
	}
	wg.Wait()
	var prev []byte
	got := records(t, l, shop, 0)
	for i, r := range got {
		if r.Seq != int64(i+1) || !bytes.Equal(r.Prev, prev) {
			t.Fatalf("entry %d is out of line", i+1)
		}
		prev = r.Hash
	}
	if len(got) != writers*each {
		t.Errorf("%d entries, want %d", len(got), writers*each)
	}
}
