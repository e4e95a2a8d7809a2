package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// statements holds the prepared statements of a commit, all on the writing
// connection.
type statements struct {
	begin, commit, rollback *sql.Stmt

	input, addInput       *sql.Stmt
	head, addEntry        *sql.Stmt
	addEffect, settle     *sql.Stmt
	addSnapshot, oldSnaps *sql.Stmt
	entryHash             *sql.Stmt
	addMessage, setCursor *sql.Stmt

	all []*sql.Stmt
}

func (s *statements) prepare(ctx context.Context, conn *sql.Conn) error {
	for _, p := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&s.begin, `BEGIN IMMEDIATE`},
		{&s.commit, `COMMIT`},
		{&s.rollback, `ROLLBACK`},
		{&s.input, `SELECT answer FROM inputs WHERE key = ?`},
		{&s.addInput, `INSERT INTO inputs (key, time, answer) VALUES (?, ?, ?)`},
		{&s.head, `SELECT h.seq, h.hash, e.hash FROM heads h
			LEFT JOIN entries e ON e.stream = h.stream AND e.seq = h.seq WHERE h.stream = ?`},
		{&s.addEntry, `INSERT INTO entries (` + columns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&s.addEffect, `INSERT INTO effects (stream, kind, class, key, body, time, seq, head) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`},
		{&s.settle, `UPDATE effects SET settled_at = coalesce(settled_at, ?) WHERE id = ?`},
		{&s.entryHash, `SELECT hash FROM entries WHERE stream = ? AND seq = ?`},
		{&s.addSnapshot, `INSERT INTO snapshots (stream, seq, version, hash, body, sum) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (stream, seq, version) DO UPDATE SET hash = excluded.hash, body = excluded.body, sum = excluded.sum`},
		{&s.oldSnaps, `DELETE FROM snapshots WHERE stream = ?1 AND (seq < ?2 OR (seq = ?2 AND version <> ?3))`},
		// Place 0 means the end of the queue: the id that SQLite assigns to the
		// row.
		{&s.addMessage, `INSERT INTO messages (place, chat, key, edit, class, reply_to, silent, body, time, ahead, joins, state)
			VALUES (CASE WHEN ?1 > 0 THEN ?1 ELSE coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0) + 1 END,
				?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'queued')`},
		{&s.setCursor, `INSERT INTO cursors (name, value, time) VALUES (?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value, time = excluded.time`},
	} {
		stmt, err := conn.PrepareContext(ctx, p.sql) //nolint:sqlclosecheck // kept for the life of the connection
		if err != nil {
			return err
		}
		*p.to = stmt
		s.all = append(s.all, stmt)
	}
	return nil
}

func (s *statements) close() error {
	var errs []error
	for _, stmt := range s.all {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}

// Commit writes a batch in one transaction. When it returns, these are on disk:
// the records with their Seq, Prev and Hash, the effects with their ID, Seq and
// Head (their stream's head after the batch's records), the settled effects,
// the messages, the cursor, and the answer under the input's key. A batch whose
// key was committed before writes nothing; its receipt holds the first batch's
// answer. Settling an effect again changes nothing: the first time stays.
//
// Commit coalesces a message with the queued messages of its key. An edit is
// merged into a send that was never tried, and replaces an older edit. A send
// is a new message that takes over the key, and drops queued edits of the
// earlier one. An edit becomes a send if the chat neither shows nor awaits a
// message of the key. The cursor is stored unchecked, even a smaller one: a
// platform may restart its numbering.
//
// Errors: ErrEffect for an effect whose kind and key were committed before,
// ErrDisk if the disk cannot be written, ErrBroken for a stream whose last
// entry is missing or changed. After any error nothing of the batch is in
// force, and the caller may commit it again under the same key.
func (s *Store) Commit(ctx context.Context, b ledger.Batch) (ledger.Receipt, error) {
	var r ledger.Receipt
	err := s.write(ctx, func(ctx context.Context) (bool, error) {
		var err error
		r, err = s.commit(ctx, b)
		return !r.Repeated, err
	})
	if err != nil {
		return ledger.Receipt{}, fail("commit", err)
	}
	s.end.write(r.Records)
	return r, nil
}

func (s *Store) commit(ctx context.Context, b ledger.Batch) (ledger.Receipt, error) {
	if b.Key != "" {
		var answer []byte
		err := s.stmts.input.QueryRowContext(ctx, b.Key).Scan(&answer)
		if err == nil {
			return ledger.Receipt{Repeated: true, Answer: cloneBytes(answer)}, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return ledger.Receipt{}, err
		}
	}
	made, err := seal(b, func(stream string) (head, error) { return s.head(ctx, stream) })
	if err != nil {
		return ledger.Receipt{}, err
	}
	for i := range made.rows {
		if _, err := s.stmts.addEntry.ExecContext(ctx, made.rows[i].args()...); err != nil {
			return ledger.Receipt{}, err
		}
	}
	for i := range made.effects {
		if err := s.addEffect(ctx, &made.effects[i]); err != nil {
			return ledger.Receipt{}, err
		}
	}
	now := formatTime(b.Time)
	for _, id := range b.Settles {
		res, err := s.stmts.settle.ExecContext(ctx, now, id)
		if err != nil {
			return ledger.Receipt{}, err
		}
		if n, err := res.RowsAffected(); err != nil {
			return ledger.Receipt{}, err
		} else if n == 0 {
			return ledger.Receipt{}, unknownEffect(id)
		}
	}
	if b.Key != "" {
		if _, err := s.stmts.addInput.ExecContext(ctx, b.Key, now, b.Answer); err != nil {
			return ledger.Receipt{}, err
		}
	}
	chats, err := s.enqueue(ctx, b)
	if err != nil {
		return ledger.Receipt{}, err
	}
	if c := b.Cursor; c != nil {
		if _, err := s.stmts.setCursor.ExecContext(ctx, c.Name, c.Value, formatTime(c.Time)); err != nil {
			return ledger.Receipt{}, err
		}
	}
	return ledger.Receipt{Answer: cloneBytes(b.Answer), Records: made.records, Effects: made.effects, Chats: chats}, nil
}

// head returns the head of a stream. It refuses a stream whose last entry is
// not the one recorded as its head: an append would hide that entries were cut
// off.
func (s *Store) head(ctx context.Context, stream string) (head, error) {
	var h head
	var last []byte
	err := s.stmts.head.QueryRowContext(ctx, stream).Scan(&h.seq, &h.hash, &last)
	if errors.Is(err, sql.ErrNoRows) {
		return head{}, nil
	}
	if err != nil {
		return head{}, err
	}
	if !bytes.Equal(h.hash, last) {
		return head{}, fmt.Errorf("%w: stream %s does not end with its entry %d any more: see \"nightporter verify\"", ErrBroken, stream, h.seq)
	}
	return h, nil
}

func (s *Store) addEffect(ctx context.Context, e *ledger.PendingEffect) error {
	res, err := s.stmts.addEffect.ExecContext(ctx,
		e.Stream, e.Kind, string(e.Class), e.Key, notNull(e.Body), formatTime(e.Time), e.Seq, notNull(e.Head))
	if err != nil {
		if _, extended := resultOf(err); extended == resultConstraintUnique {
			return duplicate(*e)
		}
		return err
	}
	e.ID, err = res.LastInsertId()
	return err
}

// columns lists the columns of entries in the order of row.args and row.scan.
const columns = `stream, seq, time, type, v, run, task, attempt, session, actor, cause, body, prev, hash`

func (r *row) args() []any {
	return []any{r.stream, r.seq, r.time, r.typ, r.v, r.run, r.task, r.attempt, r.session, r.actor, r.cause,
		notNull(r.body), notNull(r.prev), r.hash}
}

func (r *row) scan(from interface{ Scan(...any) error }) error {
	return from.Scan(&r.stream, &r.seq, &r.time, &r.typ, &r.v, &r.run, &r.task, &r.attempt, &r.session, &r.actor, &r.cause,
		&r.body, &r.prev, &r.hash)
}

// notNull replaces nil by an empty slice: the driver would write NULL.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
