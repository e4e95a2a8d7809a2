package ledger

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Body is the content of one type of entry. The types, their versions and their
// JSON are a contract: later releases add to them and change nothing (docs/spec 8.1).
type Body interface{ EntryType() string }

// Entry is a record of the ledger in the decoded form that Decide and Apply use.
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

// Unknown is the body of an entry from a newer nightporter. Apply ignores it.
// Nothing is lost, because the ledger keeps the bytes.
type Unknown struct {
	Type string
	V    int
	Raw  json.RawMessage
}

// EntryType returns the type that the record names.
func (u Unknown) EntryType() string { return u.Type }

// entryVersion is the version of every body so far. A body whose meaning changes
// gets its own version here, and the program keeps reading the old one.
const entryVersion = 1

// bodies maps the name of each entry type to its Go type, from Bodies.
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

// Record encodes the entry for the store. Seq, Prev and Hash stay empty.
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

// Entry decodes a record. An unknown type or a later version becomes an Unknown
// body. A known type that does not decode is an error: folding without it would
// show a state that never existed.
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
