package ledger

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Body is the content of one type of entry. The types, their versions and
// their JSON are a contract: they are only ever added to (docs/spec 8.1).
type Body interface{ EntryType() string }

// Entry is one record of the ledger while it is being decided and folded.
type Entry struct {
	Stream  string
	Time    time.Time
	Run     string
	Task    string // id as written
	Attempt string // a1
	Session string
	Actor   string
	Cause   string
	Body    Body
}

// Unknown is the body of an entry that a newer nightporter wrote. Apply
// leaves the state as it is; nothing is lost, because the ledger keeps the
// bytes.
type Unknown struct {
	Type string
	V    int
	Raw  json.RawMessage
}

// EntryType returns the type as written.
func (u Unknown) EntryType() string { return u.Type }

// entryVersion is the version of every body so far. A body that changes its
// meaning gets a version of its own here and keeps reading the old one.
const entryVersion = 1

// bodies lists every type of entry. It is filled once, from entries.go.
var bodies = func() map[string]reflect.Type {
	m := map[string]reflect.Type{}
	for _, b := range Bodies() {
		if _, twice := m[b.EntryType()]; twice {
			panic("ledger: two bodies for entry type " + b.EntryType())
		}
		m[b.EntryType()] = reflect.TypeOf(b)
	}
	return m
}()

// Record returns the entry in the form in which it is kept.
func (e Entry) Record() (Record, error) {
	body, err := json.Marshal(e.Body)
	if err != nil {
		return Record{}, fmt.Errorf("encode %s entry: %w", e.Body.EntryType(), err)
	}
	return Record{
		Stream: e.Stream, Time: e.Time, Type: e.Body.EntryType(), V: entryVersion,
		Run: e.Run, Task: e.Task, Attempt: e.Attempt, Session: e.Session,
		Actor: e.Actor, Cause: e.Cause, Body: body,
	}, nil
}

// Entry reads a record back. A type or version that this program does not
// know becomes an Unknown body; a known one that does not decode is an error,
// because folding past it would show a state that never was.
func (r Record) Entry() (Entry, error) {
	e := Entry{
		Stream: r.Stream, Time: r.Time, Run: r.Run, Task: r.Task, Attempt: r.Attempt,
		Session: r.Session, Actor: r.Actor, Cause: r.Cause,
	}
	t, known := bodies[r.Type]
	if !known || r.V > entryVersion {
		e.Body = Unknown{Type: r.Type, V: r.V, Raw: r.Body}
		return e, nil
	}
	v := reflect.New(t)
	if err := json.Unmarshal(r.Body, v.Interface()); err != nil {
		return e, fmt.Errorf("%s entry %d of %s does not decode: %w", r.Type, r.Seq, r.Stream, err)
	}
	e.Body = v.Elem().Interface().(Body)
	return e, nil
}
