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

// Chats returns the chats with queued messages, ordered by their oldest
// message.
func (s *Store) Chats(ctx context.Context) ([]string, error) {
	type waiting struct {
		chat  string
		place int64
	}
	var all []waiting
	// A few index seeks for each chat: GROUP BY would read the whole queue.
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
	), oldest (chat, ahead, send, edit) AS (
		SELECT chat,
			(SELECT min(place) FROM messages m WHERE m.state = 'queued' AND m.chat = chats.chat AND m.edit = 0 AND m.ahead = 1),
			(SELECT min(place) FROM messages m WHERE m.state = 'queued' AND m.chat = chats.chat AND m.edit = 0 AND m.ahead = 0),
			(SELECT min(place) FROM messages m WHERE m.state = 'queued' AND m.chat = chats.chat AND m.edit = 1 AND m.ahead = 0)
		FROM chats WHERE chat IS NOT NULL
	) SELECT chat, min(coalesce(ahead, send, edit), coalesce(send, ahead, edit), coalesce(edit, ahead, send)) FROM oldest`

// NextMessage returns the message to deliver next to a chat: the oldest send that
// goes ahead, else the oldest send, or the oldest edit if no send is queued. Sends
// come first, because they answer a person, while an edit only updates a message
// already shown. An edit has its Target set. It is false for an empty queue.
func (s *Store) NextMessage(ctx context.Context, chat string) (ledger.QueuedMessage, bool, error) {
	all, err := s.queue(ctx, nextQuery, chat)
	if err != nil || len(all) == 0 {
		return ledger.QueuedMessage{}, false, fail("next message of "+chat, err)
	}
	return all[0], true, nil
}

// QueueLength returns the number of queued messages of all chats.
func (s *Store) QueueLength(ctx context.Context) (int, error) {
	var n int
	err := s.readers.QueryRowContext(ctx, waitingCount).Scan(&n)
	return n, fail("count what waits", err)
}

const waitingCount = `SELECT count(*) FROM messages WHERE state = 'queued'`

// Queued returns the queued messages of a chat in the order of their delivery.
func (s *Store) Queued(ctx context.Context, chat string) ([]ledger.QueuedMessage, error) {
	all, err := s.queue(ctx, queueQuery, chat)
	return all, fail("queue of "+chat, err)
}

// queueQuery reads an edit together with its target, so that the target cannot
// disappear in between.
const (
	queueQuery = `SELECT ` + messageColumns + `, CASE WHEN m.edit THEN coalesce((SELECT s.platform FROM messages s
			WHERE s.chat = m.chat AND s.key = m.key AND s.key <> '' AND s.state = 'sent' ORDER BY s.place DESC LIMIT 1), '') ELSE '' END
		FROM messages m WHERE m.chat = ? AND m.state = 'queued' ORDER BY m.edit, m.ahead DESC, m.place`
	nextQuery = queueQuery + ` LIMIT 1`
)

func (s *Store) queue(ctx context.Context, query, chat string) ([]ledger.QueuedMessage, error) {
	var all []ledger.QueuedMessage
	err := s.rows(ctx, func(rows *sql.Rows) error {
		var m message
		var target string
		if err := m.scan(withColumn{rows, &target}); err != nil {
			return err
		}
		q, err := m.queued(target)
		all = append(all, q)
		return err
	}, query, chat)
	return all, err
}

// withColumn scans one column more than its caller asks for.
type withColumn struct {
	rows *sql.Rows
	last any
}

// Scan is sql.Rows'.
func (w withColumn) Scan(dest ...any) error { return w.rows.Scan(append(dest, w.last)...) }

// BeginDelivery records that the delivery of a queued message begins. The
// caller calls it before it sends the first byte, so that the message shows as
// InDoubt after a crash. Each call stands for one delivery; AbortDelivery takes
// it back. From now on an edit of the message is queued behind it instead of
// merged into it. Error: ledger.ErrReplaced if a newer message has replaced
// this one. The caller then asks for the next message.
func (s *Store) BeginDelivery(ctx context.Context, id int64) error {
	return fail(fmt.Sprintf("try message %d", id), s.change(ctx, id, func(ctx context.Context, m message) error {
		if m.state != queued {
			return ledger.ErrReplaced
		}
		_, err := s.writer.ExecContext(ctx, `UPDATE messages SET tried = tried + 1 WHERE id = ?`, id)
		return err
	}))
}

// AbortDelivery takes back one BeginDelivery: that delivery certainly failed. A
// message with an earlier delivery in doubt keeps that doubt. Otherwise waiting
// edits are merged into the message, which gives it a new id; the old id yields
// ledger.ErrReplaced.
func (s *Store) AbortDelivery(ctx context.Context, id int64) error {
	return fail(fmt.Sprintf("take back message %d", id), s.change(ctx, id, func(ctx context.Context, m message) error {
		if m.state != queued {
			return nil // replaced during its delivery
		}
		if _, err := s.writer.ExecContext(ctx, `UPDATE messages SET tried = max(tried - 1, 0) WHERE id = ?`, id); err != nil {
			return err
		}
		return s.coalesce(ctx, m.Chat, m.Key)
	}))
}

// Sent records that the chat shows the message as platformID since at. The key
// now stands for that message. For an edit, platformID is its Target, which
// takes over the edit's text; any other id means that the edit was sent as a
// message of its own. Repeating a call does nothing.
//
// before is the platform id of the message that the key stood for until now, if
// it is another one that is still shown, so that a caller can delete it; "" for
// none.
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
		if before, err = s.shownID(ctx, s.writer, m.Chat, m.Key); err != nil {
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

// checkSent refuses a delivery report that cannot be true.
func checkSent(m message, platformID string, at time.Time) error {
	if platformID == "" {
		return errors.New("a message that was sent has an id")
	}
	if m.state == sent && m.platform != platformID {
		return fmt.Errorf("it was sent as %s, and cannot be %s too", m.platform, platformID)
	}
	return checkTime(at)
}

// Drop gives up a queued message and records why. It does nothing for a message
// that is dropped already. An edit that waits for the message becomes its own
// message. If the dropped message was chatter or a look and is in doubt, the
// edit inherits the doubt: sent without a mark, it could be a second copy.
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
		if m.passesDoubt() {
			if _, err := s.writer.ExecContext(ctx, `UPDATE messages SET tried = max(tried, ?3)
				WHERE chat = ?1 AND key = ?2 AND key <> '' AND state = 'queued' AND edit`, m.Chat, m.Key, m.tried); err != nil {
				return err
			}
		}
		return s.coalesce(ctx, m.Chat, m.Key)
	}))
}

var errSent = errors.New("it was sent")

// dropQuery sets the time of a dropped message to that of its commit, because
// its callers have no clock.
const dropQuery = `UPDATE messages SET state = 'dropped', settled_at = time, why = ?1`

// change calls do with the message that has the id, in one transaction.
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

// Forget drops a chat's queued messages of the given classes whose delivery
// never began, and returns their number. It keeps edits of shown messages:
// edits are silent, and without them the chat would keep showing an outdated
// text.
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

// MoveChat readdresses the queued messages of a chat and of its topics to the
// chat that replaces it: a group that became a supergroup. The new chat numbers
// its messages from the beginning, so ids of the old one would hit unrelated
// messages there. Therefore sent messages stay with the old chat, an edit of
// one becomes a message of its own, and replies lose their reference.
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
