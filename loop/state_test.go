package loop

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestSnapshotOfPeople: the state of package people stands in snapshots beside the
// other fields of Shared, as it did when it was part of them.
func TestSnapshotOfPeople(t *testing.T) {
	const snapshot = `{
		"House": {
			"max_sessions": 1,
			"issued": {"r": 14},
			"people": [{"id": "telegram:1", "name": "Mira", "role": "admin", "since": "2026-11-19T22:00:00Z"}],
			"pairing": {"hash": "h", "role": "view", "until": "2026-11-19T22:10:00Z", "tries": 2},
			"strangers": [{"who": "telegram:2", "at": "2026-11-19T22:01:00Z"}],
			"quiet": {"telegram:1": "22:00-07:00"},
			"digest": {"day": "2026-11-19", "meant": "2026-11-19T07:30:00Z", "from": "2026-11-18T07:30:00Z", "to": "2026-11-19T07:30:00Z"},
			"week": {"week": "2026-W47", "meant": "2026-11-16T08:00:00Z", "from": "2026-11-09T08:00:00Z", "to": "2026-11-16T08:00:00Z"}
		},
		"Project": {"name": ""}
	}`
	var s State
	if err := json.Unmarshal([]byte(snapshot), &s); err != nil {
		t.Fatal(err)
	}
	if p, ok := s.Shared.Person("telegram:1"); !ok || p.Name != "Mira" || s.Shared.Pairing.Tries != 2 {
		t.Errorf("people are %+v", s.Shared.State)
	}
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(snapshot)); err != nil {
		t.Fatal(err)
	}
	if got := mustJSON(t, s); got != want.String() {
		t.Errorf("the snapshot is\n%s\nwant\n%s", got, want.String())
	}
}
