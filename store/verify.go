package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Break is one difference between the ledger and what was committed.
type Break struct {
	Stream string // "" for the whole file
	Seq    int64  // the first entry concerned; 0 for none
	Text   string // the difference, for people
}

// String returns the break for people: "project/shop entry 41: …".
func (b Break) String() string {
	switch {
	case b.Stream == "":
		return b.Text
	case b.Seq == 0:
		return b.Stream + ": " + b.Text
	}
	return fmt.Sprintf("%s entry %d: %s", b.Stream, b.Seq, b.Text)
}

// Verify recomputes the chain of every stream and compares it with the recorded
// heads, effects and snapshots. It finds a changed column, a missing entry and
// a stream whose end was cut off. It cannot find a consistent rewrite of the
// whole file; VerifyAgainst can, by anchors from outside. An empty result means
// that no break was found, an error that the check could not be completed.
func (s *Store) Verify(ctx context.Context) ([]Break, error) { return s.VerifyAgainst(ctx, nil) }

// VerifyAgainst is Verify with additional anchors from outside the database,
// such as the footers of task commits.
func (s *Store) VerifyAgainst(ctx context.Context, known []Anchor) ([]Break, error) {
	breaks, err := s.verify(ctx, known)
	if err != nil {
		return nil, fail("verify", s.noting(err))
	}
	return breaks, nil
}

func (s *Store) verify(ctx context.Context, known []Anchor) ([]Break, error) {
	// One transaction, so that the check sees every commit whole.
	tx, err := s.readers.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()

	v := newVerifier("")
	for _, check := range []func(context.Context, querier) error{v.schema, v.file} {
		switch err := check(ctx, tx); {
		case damaged(err):
			v.malformed(err.Error())
		case err != nil:
			return nil, err
		}
	}
	breaks, err := v.run(ctx, tx, known)
	_ = s.noting(v.damage)
	return breaks, err
}

// VerifyStream is VerifyAgainst for one stream alone. It leaves out the guards
// and SQLite's own check of the file, so that it can answer a command while
// somebody waits. end is the number of the stream's last entry.
func (s *Store) VerifyStream(ctx context.Context, stream string, known []Anchor) (breaks []Break, end int64, err error) {
	tx, err := s.readers.BeginTx(ctx, nil)
	if err != nil {
		return nil, 0, fail("verify "+stream, err)
	}
	defer func() { _ = tx.Rollback() }()
	v := newVerifier(stream)
	breaks, err = v.run(ctx, tx, known)
	_ = s.noting(v.damage)
	return breaks, v.ends[stream], fail("verify "+stream, err)
}

func newVerifier(stream string) *verifier {
	return &verifier{stream: stream, heads: map[string]int64{}, hashes: map[entryID][]byte{}, ends: map[string]int64{}}
}

// run recomputes the chains and compares them with all anchors.
func (v *verifier) run(ctx context.Context, tx querier, known []Anchor) ([]Break, error) {
	switch err := v.anchors(ctx, tx, known); {
	case damaged(err): // reported by chains
	case err != nil:
		return nil, err
	}
	switch err := v.chains(ctx, tx); {
	case damaged(err):
		// Unreadable entries look like missing ones, so there is nothing to
		// compare.
		v.malformed("the entries after " + v.lastRead() + " cannot be read")
	case err != nil:
		return nil, err
	default:
		v.compare()
	}
	slices.SortStableFunc(v.breaks, func(a, b Break) int {
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Seq, b.Seq))
	})
	return v.breaks, nil
}

// entryID identifies an entry.
type entryID struct {
	stream string
	seq    int64
}

// verifier is the state of one Verify.
type verifier struct {
	stream string // the one stream that is verified; "" for all
	breaks []Break
	known  []Anchor
	heads  map[string]int64   // head of each stream by the table heads
	hashes map[entryID][]byte // hashes of the entries for which there are anchors; nil until they are read
	ends   map[string]int64   // last entry of each stream
	last   string             // the stream that is read
	damage error              // a damagedError if the file itself is damaged
}

// malformed records that the database file is damaged, not only what is in it.
func (v *verifier) malformed(text string) {
	v.found("", 0, "the database file is damaged: %s", text)
	if v.damage == nil {
		v.damage = damagedError{fmt.Errorf("%w: the database file is damaged: %s", ErrBroken, text)}
	}
}

// lastRead names the entry that was read last.
func (v *verifier) lastRead() string {
	if v.last == "" {
		return "the first"
	}
	return fmt.Sprintf("entry %d of %s", v.ends[v.last], v.last)
}

func (v *verifier) found(stream string, seq int64, text string, args ...any) {
	v.breaks = append(v.breaks, Break{stream, seq, fmt.Sprintf(text, args...)})
}

// ofHead is the Source of anchors from the table heads.
const ofHead = "the record of its head"

// anchors collects the anchors given by the caller and those in other tables,
// which remain when somebody removes entries alone.
func (v *verifier) anchors(ctx context.Context, q querier, known []Anchor) error {
	v.known = slices.Clone(known)
	err := errors.Join(v.ownAnchors(ctx, q), v.sharedHeads(ctx, q))
	if v.stream != "" {
		v.known = slices.DeleteFunc(v.known, func(a Anchor) bool { return a.Stream != v.stream })
	}
	for _, a := range v.known {
		v.hashes[entryID{a.Stream, a.Seq}] = nil
	}
	return err
}

// ownAnchors adds the anchors in the other tables.
func (v *verifier) ownAnchors(ctx context.Context, q querier) error {
	return visitRows(ctx, q, func(rows *sql.Rows) error {
		var a Anchor
		if err := rows.Scan(&a.Stream, &a.Seq, &a.Hash, &a.Source); err != nil {
			return err
		}
		v.known = append(v.known, a)
		if a.Source == ofHead {
			v.heads[a.Stream] = a.Seq
		}
		return nil
	}, `SELECT stream, seq, hash, '`+ofHead+`' FROM heads
		UNION ALL SELECT stream, seq, head, 'effect ' || id || ' (' || kind || ' ' || key || ')' FROM effects WHERE seq > 0
		UNION ALL SELECT stream, seq, hash, 'a snapshot' FROM snapshots`)
}

// sharedHeads adds the heads of the shared stream that entries of the projects
// name. An entry that was changed names none: it is reported by itself.
func (v *verifier) sharedHeads(ctx context.Context, q querier) error {
	if v.stream != "" && v.stream != ledger.SharedStream {
		return nil
	}
	return visitRows(ctx, q, func(rows *sql.Rows) error {
		var r row
		var head ledger.SharedHead
		if err := r.scan(rows); err != nil {
			return err
		}
		if !bytes.Equal(r.sum(), r.hash) || json.Unmarshal(r.body, &head) != nil {
			return nil
		}
		hash, err := hex.DecodeString(head.Hash)
		if err != nil {
			v.found(r.stream, r.seq, "it names a head of %s that is no hash", ledger.SharedStream)
			return nil
		}
		v.known = append(v.known, Anchor{Stream: ledger.SharedStream, Seq: head.Seq, Hash: hash, Source: fmt.Sprintf("entry %d of %s", r.seq, r.stream)})
		return nil
	}, `SELECT `+columns+` FROM entries WHERE type = ? AND stream <> ?`, ledger.SharedHead{}.EntryType(), ledger.SharedStream)
}

// schema reports a missing or changed guard (the table's definition, a
// trigger). Entries cannot be changed unless the guards are removed first.
func (v *verifier) schema(ctx context.Context, q querier) error {
	want, err := expectedGuards()
	if err != nil {
		return err
	}
	have, err := readGuards(ctx, q)
	if err != nil {
		return err
	}
	for name, text := range want {
		if have[name] != text {
			v.found("", 0, "the database's guard %s is missing or was changed: entries could be altered since", name)
		}
	}
	return nil
}

// expectedGuards returns the guards of a fresh database. The program's own
// migrations decide them, so they are read once.
var expectedGuards = sync.OnceValues(func() (map[string]string, error) {
	ctx := context.Background()
	db, err := connectTo(":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1) // every connection to :memory: opens another database
	if err := migrate(ctx, db); err != nil {
		return nil, err
	}
	return readGuards(ctx, db)
})

// readGuards returns the definitions of the table of entries and of its
// triggers.
func readGuards(ctx context.Context, q querier) (map[string]string, error) {
	defs := map[string]string{}
	err := visitRows(ctx, q, func(rows *sql.Rows) error {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return err
		}
		defs[name] = text
		return nil
	}, `SELECT name, sql FROM sqlite_schema WHERE tbl_name = 'entries' AND type IN ('table', 'trigger')`)
	return defs, err
}

// shownFaults is how many of the faults that SQLite finds in a file are named: one
// page that is damaged makes it find many.
const shownFaults = 3

// file runs SQLite's own check of pages and indexes.
func (v *verifier) file(ctx context.Context, q querier) error {
	var faults []string
	err := visitRows(ctx, q, func(rows *sql.Rows) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "ok" && !strings.HasPrefix(line, "***") {
				faults = append(faults, line)
			}
		}
		return nil
	}, `PRAGMA integrity_check(20)`)
	for n, text := range faults {
		if n == shownFaults {
			v.malformed(fmt.Sprintf("%d or more faults like these", len(faults)-n))
			break
		}
		v.malformed(text)
	}
	return err
}

// chains recomputes the hash of every entry.
func (v *verifier) chains(ctx context.Context, q querier) error {
	var last row
	query, args := `SELECT `+columns+` FROM entries NOT INDEXED ORDER BY stream, seq`, []any(nil)
	if v.stream != "" {
		query, args = `SELECT `+columns+` FROM entries NOT INDEXED WHERE stream = ? ORDER BY seq`, []any{v.stream}
	}
	return visitRows(ctx, q, func(rows *sql.Rows) error {
		var r row
		if err := r.scan(rows); err != nil {
			return err
		}
		if r.stream != last.stream {
			last = row{stream: r.stream}
		}
		v.checkEntry(&last, &r)
		last = r
		return nil
	}, query, args...)
}

// checkEntry checks an entry's hash, and its link to the entry before.
func (v *verifier) checkEntry(last, r *row) {
	v.ends[r.stream], v.last = r.seq, r.stream
	if p := (entryID{r.stream, r.seq}); v.wanted(p) {
		v.hashes[p] = r.hash
	}
	intact := bytes.Equal(r.sum(), r.hash)
	switch {
	case r.seq < 1:
		v.found(r.stream, r.seq, "an entry numbered %d was put in: numbers begin with 1", r.seq)
	case r.seq == last.seq+2:
		v.found(r.stream, last.seq+1, "it is missing")
	case r.seq > last.seq+2:
		v.found(r.stream, last.seq+1, "it is missing, with all up to entry %d", r.seq-1)
	case intact && !bytes.Equal(r.prev, last.hash):
		v.found(r.stream, r.seq, "it does not follow from the entry before: that one, or the start of the stream, was rewritten")
	}
	if !intact {
		v.found(r.stream, r.seq, "it was changed after it was written: its content does not match its hash")
	}
}

func (v *verifier) wanted(p entryID) bool {
	_, ok := v.hashes[p]
	return ok
}

// compare checks the chains against the anchors. It reports a cut end once for
// each stream, by the farthest anchor, and a replaced entry once.
func (v *verifier) compare() {
	farthest := map[string]Anchor{}
	told := map[entryID]bool{}
	for _, a := range v.known {
		p := entryID{a.Stream, a.Seq}
		switch {
		case a.Seq > v.ends[a.Stream]:
			if a.Seq > farthest[a.Stream].Seq {
				farthest[a.Stream] = a
			}
		case v.hashes[p] != nil && !bytes.Equal(v.hashes[p], a.Hash) && !told[p]:
			told[p] = true
			v.found(a.Stream, a.Seq, "it is not the entry that %s names: it was rewritten", source(a))
		}
	}
	for stream, end := range v.ends {
		if v.heads[stream] < end {
			v.found(stream, v.heads[stream]+1, "%s ends before it: something was added past the ledger's guards, or that record was changed", ofHead)
		}
	}
	for stream, a := range farthest {
		end := v.ends[stream]
		v.found(stream, end+1, "the end is cut off: the ledger holds %d of at least %d entries, as %s shows", end, a.Seq, source(a))
	}
}

func source(a Anchor) string {
	if a.Source == "" {
		return "an anchor"
	}
	return a.Source
}
