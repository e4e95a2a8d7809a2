package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Records calls yield with each entry of a stream whose Seq is greater than
// after (0 for all), in order. It stops at an error of yield and returns it.
// yield may use the store. Entries committed after Records began are not
// yielded.
func (s *Store) Records(ctx context.Context, stream string, after int64, yield func(ledger.Record) error) error {
	return fail("records of "+stream, s.each(ctx, yield,
		`SELECT `+columns+` FROM entries WHERE stream = ? AND seq > ? ORDER BY seq`, stream, after))
}

// RecordsOfTask is Records for the entries of one task. Ids match regardless of
// case and white space.
func (s *Store) RecordsOfTask(ctx context.Context, stream, task string, yield func(ledger.Record) error) error {
	op := "records of task " + task
	// The index holds ids as written, so the query needs their spellings.
	args := []any{stream}
	err := s.rows(ctx, func(rows *sql.Rows) error {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if ledger.SameID(id, task) {
			args = append(args, id)
		}
		return nil
	}, `SELECT DISTINCT task FROM entries WHERE stream = ? AND task <> ''`, stream)
	if err != nil {
		return fail(op, err)
	}
	if len(args) == 1 {
		return nil
	}
	return fail(op, s.each(ctx, yield,
		`SELECT `+columns+` FROM entries WHERE stream = ? AND task <> '' AND task IN (`+placeholders(len(args)-1)+`) ORDER BY seq`, args...))
}

// RecordsOfRun is Records for the entries of one run.
func (s *Store) RecordsOfRun(ctx context.Context, stream, run string, yield func(ledger.Record) error) error {
	return fail("records of run "+run, s.each(ctx, yield,
		`SELECT `+columns+` FROM entries WHERE stream = ? AND run <> '' AND run = ? ORDER BY seq`, stream, run))
}

// RecordsAfter is Records for entries of the given types only.
func (s *Store) RecordsAfter(ctx context.Context, stream string, after int64, types []string, yield func(ledger.Record) error) error {
	args := []any{stream, after}
	for _, t := range types {
		args = append(args, t)
	}
	return fail("records of "+stream, s.each(ctx, yield,
		`SELECT `+columns+` FROM entries WHERE stream = ? AND seq > ? AND type IN (`+placeholders(len(types))+`) ORDER BY seq`, args...))
}

// placeholders returns "?, ?, …" for n values.
func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// LastRecord returns the last entry of a stream that has one of the types and a
// Seq of at most upTo, or false for none. It scans backwards from upTo and
// stops at the first match.
func (s *Store) LastRecord(ctx context.Context, stream string, upTo int64, types ...string) (ledger.Record, bool, error) {
	var last ledger.Record
	found := false
	args := []any{stream, upTo}
	for _, t := range types {
		args = append(args, t)
	}
	err := s.each(ctx, func(r ledger.Record) error {
		last, found = r, true
		return nil
	}, `SELECT `+columns+` FROM entries WHERE stream = ? AND seq <= ? AND type IN (`+placeholders(len(types))+`) ORDER BY seq DESC LIMIT 1`, args...)
	return last, found, fail("last record of "+stream, err)
}

// RunsOf returns the ids of the runs that have entries in a stream, by number.
func (s *Store) RunsOf(ctx context.Context, stream string) ([]string, error) {
	var runs []string
	// One index seek for each run: SELECT DISTINCT would read the whole index.
	err := s.rows(ctx, func(rows *sql.Rows) error {
		var run string
		if err := rows.Scan(&run); err != nil {
			return err
		}
		runs = append(runs, run)
		return nil
	}, `WITH RECURSIVE runs (run) AS (
			SELECT min(run) FROM entries WHERE stream = ?1 AND run <> ''
			UNION ALL
			SELECT (SELECT min(run) FROM entries WHERE stream = ?1 AND run <> '' AND run > runs.run) FROM runs WHERE run IS NOT NULL
		) SELECT run FROM runs WHERE run IS NOT NULL`, stream)
	if err != nil {
		return nil, fail("runs of "+stream, err)
	}
	slices.SortFunc(runs, byNumber)
	return runs, nil
}

// byNumber compares ids of one kind by their number: r2 before r14.
func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

// RecordsOfTypes is RecordsOfRun for entries of the given types only: a summary
// of a long run needs few of its entries.
func (s *Store) RecordsOfTypes(ctx context.Context, stream, run string, types []string, yield func(ledger.Record) error) error {
	if len(types) == 0 {
		return nil
	}
	args := []any{stream, run}
	for _, t := range types {
		args = append(args, t)
	}
	return fail("records of run "+run, s.each(ctx, yield,
		`SELECT `+columns+` FROM entries WHERE stream = ? AND run <> '' AND run = ? AND type IN (`+placeholders(len(types))+`) ORDER BY seq`, args...))
}

// Streams returns the names of all streams that have entries, sorted.
func (s *Store) Streams(ctx context.Context) ([]string, error) {
	var names []string
	// One index seek for each stream: SELECT DISTINCT would read the whole
	// ledger.
	err := s.rows(ctx, func(rows *sql.Rows) error {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names = append(names, name)
		return nil
	}, `WITH RECURSIVE names (name) AS (
			SELECT min(stream) FROM entries
			UNION ALL
			SELECT (SELECT min(stream) FROM entries WHERE stream > name) FROM names WHERE name IS NOT NULL
		) SELECT name FROM names WHERE name IS NOT NULL`)
	if err != nil {
		return nil, fail("streams", err)
	}
	return names, nil
}

// Head returns the Seq and Hash of a stream's last entry, 0 and nil for an
// empty stream.
func (s *Store) Head(ctx context.Context, stream string) (seq int64, hash []byte, err error) {
	err = s.readers.QueryRowContext(ctx,
		`SELECT seq, hash FROM entries WHERE stream = ? ORDER BY seq DESC LIMIT 1`, stream).Scan(&seq, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, fail("head of "+stream, s.noting(err))
	}
	return seq, hash, nil
}

// Hash returns the hash of one entry, nil for an entry that does not exist.
func (s *Store) Hash(ctx context.Context, stream string, seq int64) (hash []byte, err error) {
	err = s.readers.QueryRowContext(ctx, `SELECT hash FROM entries WHERE stream = ? AND seq = ?`, stream, seq).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return hash, fail(fmt.Sprintf("hash of entry %d of %s", seq, stream), err)
}

// each calls yield with each entry that the query selects.
func (s *Store) each(ctx context.Context, yield func(ledger.Record) error, query string, args ...any) error {
	return s.rows(ctx, func(rows *sql.Rows) error {
		var r row
		if err := r.scan(rows); err != nil {
			return err
		}
		rec, err := r.record()
		if err != nil {
			return err
		}
		return yield(rec)
	}, query, args...)
}

// rows calls visit for each row of a query on the read-only pool.
func (s *Store) rows(ctx context.Context, visit func(*sql.Rows) error, query string, args ...any) error {
	return s.noting(visitRows(ctx, s.readers, visit, query, args...))
}

func visitRows(ctx context.Context, q querier, visit func(*sql.Rows) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := visit(rows); err != nil {
			return unreadable(err)
		}
	}
	return rows.Err()
}
