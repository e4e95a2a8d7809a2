package store

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestHashGolden pins the encoding: a chain that was written once must verify
// for ever. Another program computed these hashes from the comment of row.sum;
// they must never change.
func TestHashGolden(t *testing.T) {
	full := ledger.Record{
		Stream: "project/shop", Seq: 41, Time: time.Date(2026, 11, 20, 22, 4, 5, 120000000, time.UTC),
		Type: "session.ended", V: 2, Run: "r14", Task: "Task 5", Attempt: "a1", Session: "r14-25",
		Actor: "telegram:48213377", Cause: "exit:r14-25", Body: []byte(`{"why":"exited","text":"fünf"}`),
		Prev: bytes.Repeat([]byte{0xab}, 32),
	}
	first := ledger.Record{Stream: "house", Seq: 1, Type: "x"}
	for name, c := range map[string]struct {
		rec  ledger.Record
		want string
	}{
		"full":  {full, "046d5cb12cf592d6d5f0a4566b7b973908bcdb3ab1bf27b2d6c8df520be9269f"},
		"first": {first, "0eba4b777f95b9a79958e93662756473df5123c9f60925c04b28b6248378aaa6"},
	} {
		r := newRow(c.rec)
		if got := hex.EncodeToString(r.sum()); got != c.want {
			t.Errorf("%s: hash %s, want %s", name, got, c.want)
		}
	}
}

// TestHashCoversEveryField changes each field, and moves bytes between
// neighbours.
func TestHashCoversEveryField(t *testing.T) {
	base := row{
		stream: "ab", time: "t", typ: "type", run: "r", task: "k", attempt: "a", session: "s", actor: "c", cause: "d",
		seq: 7, v: 1, body: []byte("body"), prev: []byte("prev"),
	}
	seen := map[string]string{hex.EncodeToString(base.sum()): "base"}
	for name, change := range map[string]func(*row){
		"stream":  func(r *row) { r.stream += "x" },
		"seq":     func(r *row) { r.seq++ },
		"time":    func(r *row) { r.time += "x" },
		"type":    func(r *row) { r.typ += "x" },
		"v":       func(r *row) { r.v++ },
		"run":     func(r *row) { r.run += "x" },
		"task":    func(r *row) { r.task += "x" },
		"attempt": func(r *row) { r.attempt += "x" },
		"session": func(r *row) { r.session += "x" },
		"actor":   func(r *row) { r.actor += "x" },
		"cause":   func(r *row) { r.cause += "x" },
		"body":    func(r *row) { r.body = []byte("bodyx") },
		"prev":    func(r *row) { r.prev = nil },
		"shift":   func(r *row) { r.run, r.task = "rk", "" },
		"shift 2": func(r *row) { r.cause, r.body = "dbody", nil },
	} {
		r := base
		change(&r)
		sum := hex.EncodeToString(r.sum())
		if other, ok := seen[sum]; ok {
			t.Errorf("changing %s gives the hash of %s", name, other)
		}
		seen[sum] = name
	}
}

func TestAnchor(t *testing.T) {
	sum := strings.Repeat("0f", 32)
	want := Anchor{Stream: "project/shop", Seq: 41, Hash: bytes.Repeat([]byte{0x0f}, 32)}
	text := "project/shop@41:" + sum
	if got := want.String(); got != text {
		t.Errorf("String = %q, want %q", got, text)
	}
	for _, s := range []string{text, "Nightporter-Head: " + text, "  " + text + "\n"} {
		got, err := ParseAnchor(s)
		if err != nil {
			t.Errorf("ParseAnchor(%q): %v", s, err)
		}
		wantEqual(t, s, got, want)
	}
	for s, why := range map[string]string{
		"":                                 "no stream",
		"@4:" + sum:                        "no stream",
		"project/shop":                     "no stream",
		"project/shop@41":                  "no hash",
		"project/shop@0:" + sum:            "number",
		"project/shop@-1:" + sum:           "number",
		"project/shop@x:" + sum:            "number",
		"project/shop@41:" + sum[:62]:      "64 hex",
		"project/shop@41:" + sum + "00":    "64 hex",
		"project/shop@41:zz" + sum[:62]:    "64 hex",
		"Nightporter-Session: r14@1:" + "": "64 hex",
	} {
		if _, err := ParseAnchor(s); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("ParseAnchor(%q) = %v, want an error with %q", s, err, why)
		}
	}
}
