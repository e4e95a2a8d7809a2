package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Chats returns the chats that something is queued for, those first whose
// oldest message is oldest.
func (s *Store) Chats(ctx context.Context) ([]string, error) {
	type waiting struct {
		chat  string
		place int64
	}
	var all []waiting
	// A few seeks a chat: GROUP BY would read the whole queue.
	err := s.rows(ctx, func(rows *sql.Rows) error {
		var w waiting
		if err := rows.Scan(&w.chat, &w.place); err != nil {
			return err
		}
		all = append(all, w)
		return nil
	}, chatsQuery)
	if err != nil {
		return nil, fail("chats", err)
	}
	slices.SortFunc(all, func(a, b waiting) int { return int(a.place - b.place) })
	var chats []string
	for _, w := range all {
		chats = append(chats, w.chat)
	}
	return chats, nil
}

const chatsQuery = `WITH RECURSIVE chats (chat) AS (
		SELECT min(chat) FROM messages WHERE state = 'queued'
		UNION ALL
		SELECT (SELECT min(m.chat) FROM messages m WHERE m.state = 'queued' AND m.chat > chats.chat) FROM chats WHERE chat IS NOT NULL
	), oldest (chat, send, edit) AS (
		SELECT chat,
			(SELECT min(place) FROM messages m WHERE m.state = 'queued' AND m.chat = chats.chat AND m.edit = 0),
			(SELECT min(place) FROM messages m WHERE m.state = 'queued' AND m.chat = chats.chat AND m.edit = 1)
		FROM chats WHERE chat IS NOT NULL
	) SELECT chat, min(coalesce(send, edit), coalesce(edit, send)) FROM oldest`

// NextMessage returns what a chat is to be sent next: the oldest message, and
// the oldest edit where there is none, so that an answer overtakes what only
// changes something shown (SPEC 6.3). An edit comes with its Target; false
// where nothing is queued.
func (s *Store) NextMessage(ctx context.Context, chat string) (ledger.QueuedMessage, bool, error) {
	all, err := s.queue(ctx, nextQuery, chat)
	if err != nil || len(all) == 0 {
		return ledger.QueuedMessage{}, false, fail("next message of "+chat, err)
	}
	return all[0], true, nil
}

// Waiting counts what is queued, for all chats together.
func (s *Store) Waiting(ctx context.Context) (int, error) {
	var n int
	err := s.readers.QueryRowContext(ctx, waitingCount).Scan(&n)
	return n, fail("count what waits", err)
}

const waitingCount = `SELECT count(*) FROM messages WHERE state = 'queued'`

// Queued returns all that a chat is to be sent, in that order.
func (s *Store) Queued(ctx context.Context, chat string) ([]ledger.QueuedMessage, error) {
	all, err := s.queue(ctx, queueQuery, chat)
	return all, fail("queue of "+chat, err)
}

const (
	queueQuery = `SELECT ` + messageColumns + ` FROM messages WHERE chat = ? AND state = 'queued' ORDER BY edit, place`
	nextQuery  = queueQuery + ` LIMIT 1`
)

func (s *Store) queue(ctx context.Context, query, chat string) ([]ledger.QueuedMessage, error) {
	// One transaction: a message must not find its target gone.
	tx, err := s.readers.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	var found []message
	if err := visitRows(ctx, tx, func(rows *sql.Rows) error {
		var m message
		err := m.scan(rows)
		found = append(found, m)
		return err
	}, query, chat); err != nil {
		return nil, err
	}
	var all []ledger.QueuedMessage
	for _, m := range found {
		target := ""
		if m.Edit {
			if target, err = s.stands(ctx, tx, m.Chat, m.Key); err != nil {
				return nil, err
			}
		}
		q, err := m.queued(target)
		if err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}

// Trying marks that a sending of a queued message begins: durable before the
// first byte of it goes out, so that after a crash it shows as Tried. Each
// call is one sending, and is taken back by one Unsent. From here on, an edit
// of the message comes after it instead of into it.
//
// Error: ledger.ErrReplaced where a newer text has taken its place since it was
// read; the next one is asked for then.
func (s *Store) Trying(ctx context.Context, id int64) error {
	return fail(fmt.Sprintf("try message %d", id), s.change(ctx, id, func(ctx context.Context, m message) error {
		if m.state != queued {
			return ledger.ErrReplaced
		}
		_, err := s.writer.ExecContext(ctx, `UPDATE messages SET tried = tried + 1 WHERE id = ?`, id)
		return err
	}))
}

// Unsent takes one Trying back: that sending has certainly not arrived. A
// message with an earlier one in doubt stays Tried. Edits that waited for the
// message go into it now, which makes it another one (ledger.ErrReplaced for the
// id from here on).
func (s *Store) Unsent(ctx context.Context, id int64) error {
	return fail(fmt.Sprintf("take back message %d", id), s.change(ctx, id, func(ctx context.Context, m message) error {
		if m.state != queued {
			return nil // replaced while it was on its way
		}
		if _, err := s.writer.ExecContext(ctx, `UPDATE messages SET tried = max(tried - 1, 0) WHERE id = ?`, id); err != nil {
			return err
		}
		return s.coalesce(ctx, m.Chat, m.Key)
	}))
}

// Sent settles a message: the chat shows it as platformID since at, and its
// key stands on that now. For an edit, platformID is its Target, whose text it
// becomes; with another id, the edit was sent as a message of its own. The
// same call again does nothing.
//
// before is what the key stood on until now, where that is another message
// that is still shown: what a live status takes away. "" where there is none.
func (s *Store) Sent(ctx context.Context, id int64, platformID string, at time.Time) (before string, err error) {
	err = s.change(ctx, id, func(ctx context.Context, m message) error {
		if err := checkSent(m, platformID, at); err != nil || m.state == sent {
			return err
		}
		if m.Edit {
			res, err := s.writer.ExecContext(ctx, `UPDATE messages SET body = ?4, class = ?5 WHERE id = (SELECT id FROM messages
				WHERE chat = ?1 AND platform = ?2 AND key = ?3 AND state = 'sent' ORDER BY place DESC LIMIT 1)`,
				m.Chat, platformID, m.Key, notNull(m.Body), string(m.Class))
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil {
				return err
			} else if n > 0 {
				_, err := s.writer.ExecContext(ctx, `DELETE FROM messages WHERE id = ?`, id)
				return err
			}
		}
		if before, err = s.stands(ctx, s.writer, m.Chat, m.Key); err != nil {
			return err
		}
		_, err := s.writer.ExecContext(ctx,
			`UPDATE messages SET state = 'sent', edit = 0, tried = 0, why = '', platform = ?2, settled_at = ?3 WHERE id = ?1`,
			id, platformID, formatTime(at))
		return err
	})
	if err != nil {
		return "", fail(fmt.Sprintf("settle message %d", id), err)
	}
	return before, nil
}

// checkSent refuses a settling that cannot be true.
func checkSent(m message, platformID string, at time.Time) error {
	if platformID == "" {
		return errors.New("a message that was sent has an id")
	}
	if m.state == sent && m.platform != platformID {
		return fmt.Errorf("it was sent as %s, and cannot be %s too", m.platform, platformID)
	}
	return checkTime(at)
}

// Drop settles a message that will not be sent, and keeps why. One that was
// replaced is dropped already.
func (s *Store) Drop(ctx context.Context, id int64, why string) error {
	return fail(fmt.Sprintf("drop message %d", id), s.change(ctx, id, func(ctx context.Context, m message) error {
		switch m.state {
		case dropped:
			return nil
		case sent:
			return errSent
		}
		if _, err := s.writer.ExecContext(ctx, dropQuery+` WHERE id = ?2`, why, id); err != nil {
			return err
		}
		return s.coalesce(ctx, m.Chat, m.Key)
	}))
}

var errSent = errors.New("it was sent")

// A dropped message is as old as its commit: whoever drops has no clock here.
const dropQuery = `UPDATE messages SET state = 'dropped', settled_at = time, why = ?1`

// change calls do for a message, in one transaction.
func (s *Store) change(ctx context.Context, id int64, do func(context.Context, message) error) error {
	return s.write(ctx, func(ctx context.Context) (bool, error) {
		var m message
		err := m.scan(s.writer.QueryRowContext(ctx, `SELECT `+messageColumns+` FROM messages WHERE id = ?`, id))
		if errors.Is(err, sql.ErrNoRows) {
			return false, ledger.ErrReplaced
		}
		if err != nil {
			return false, err
		}
		return true, do(ctx, m)
	})
}

// Forget drops what a chat was to be sent in these classes and no sending was
// begun of, and returns how many. Edits of what the chat shows are left: they
// make no sound, and without them it would go on showing what is over.
func (s *Store) Forget(ctx context.Context, chat string, classes ...ledger.MessageClass) (int, error) {
	if len(classes) == 0 {
		return 0, nil
	}
	which := ` WHERE chat = ?2 AND state = 'queued' AND edit = 0 AND tried = 0 AND class IN (` +
		strings.TrimSuffix(strings.Repeat("?, ", len(classes)), ", ") + `)`
	args := []any{whyForgot, chat}
	for _, c := range classes {
		args = append(args, string(c))
	}
	var n int64
	err := s.write(ctx, func(ctx context.Context) (bool, error) {
		var keys []string
		if err := visitRows(ctx, s.writer, func(rows *sql.Rows) error {
			var key string
			err := rows.Scan(&key)
			keys = append(keys, key)
			return err
		}, `SELECT DISTINCT key FROM messages`+which+` AND key <> '' AND ?1 <> ''`, args...); err != nil {
			return false, err
		}
		res, err := s.writer.ExecContext(ctx, dropQuery+which, args...)
		if err != nil {
			return false, err
		}
		if n, err = res.RowsAffected(); err != nil {
			return false, err
		}
		for _, key := range keys {
			if err := s.coalesce(ctx, chat, key); err != nil {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil {
		return 0, fail("forget messages of "+chat, err)
	}
	return int(n), nil
}

// MoveChat gives what is queued for a chat, and for its topics, to the chat
// that took its place: a group that became a supergroup. The new one counts
// its messages from the beginning, and an id of the old one would hit another
// message there. So what was sent stays where it is shown, an edit of it
// becomes a message of its own, and nothing answers an old message any more.
func (s *Store) MoveChat(ctx context.Context, from, to string) error {
	if from == "" || to == "" {
		return fail("move chat", fmt.Errorf("from %q to %q: neither may be empty", from, to))
	}
	if from == to {
		return nil
	}
	return fail("move chat "+from, s.write(ctx, func(ctx context.Context) (bool, error) {
		type place struct{ chat, key string }
		var moved []place
		// '0' is the character after '/'.
		const which = ` WHERE state = 'queued' AND (chat = ?1 OR (chat > ?1 || '/' AND chat < ?1 || '0'))`
		if err := visitRows(ctx, s.writer, func(rows *sql.Rows) error {
			var p place
			err := rows.Scan(&p.chat, &p.key)
			moved = append(moved, p)
			return err
		}, `SELECT DISTINCT chat, key FROM messages`+which+` AND key <> ''`, from); err != nil {
			return false, err
		}
		if _, err := s.writer.ExecContext(ctx,
			`UPDATE messages SET chat = ?2 || substr(chat, length(?1) + 1), reply_to = ''`+which, from, to); err != nil {
			return false, err
		}
		for _, p := range moved {
			if err := s.coalesce(ctx, to+strings.TrimPrefix(p.chat, from), p.key); err != nil {
				return false, err
			}
		}
		return true, nil
	}))
}
