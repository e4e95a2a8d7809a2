package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/nightporter/nightporter/loop/ledger"
)

// SentAt returns the message that a chat shows under a platform id: the target
// of a reply or of a button press. It is false for an unknown id.
func (s *Store) SentAt(ctx context.Context, chat, platformID string) (ledger.SentMessage, bool, error) {
	return s.one(ctx, "message "+platformID+" of "+chat, sentAtQuery, chat, platformID)
}

// SentFor returns the last message sent to a chat under a key.
func (s *Store) SentFor(ctx context.Context, chat, key string) (ledger.SentMessage, bool, error) {
	return s.one(ctx, "message of "+key+" in "+chat, sentForQuery, chat, key)
}

// Together returns what the messages with these keys show that the platform shows as
// one, oldest first: the receipts that joined it (ledger.Outgoing.Joins). A message
// that stands alone is the only one.
func (s *Store) Together(ctx context.Context, chat, platformID string) ([]ledger.SentMessage, error) {
	var all []ledger.SentMessage
	err := s.rows(ctx, func(rows *sql.Rows) error {
		var m message
		if err := m.scan(rows); err != nil {
			return err
		}
		shown, err := m.sent()
		all = append(all, shown)
		return err
	}, togetherQuery, chat, platformID)
	return all, fail("messages at "+platformID+" of "+chat, err)
}

// LastJoined returns the last message sent to a chat whose Joins has this value.
func (s *Store) LastJoined(ctx context.Context, chat, joins string) (ledger.SentMessage, bool, error) {
	return s.one(ctx, "last of "+joins+" in "+chat, lastJoinedQuery, chat, joins)
}

// AnswerTo returns the answer to a person's message: the newest message that
// replies to it, preferably one with a key. An answer that is still queued has
// an empty ID, and its Time is that of its commit.
func (s *Store) AnswerTo(ctx context.Context, chat, replyTo string) (ledger.SentMessage, bool, error) {
	return s.one(ctx, "answer to "+replyTo+" in "+chat, answerQuery, chat, replyTo)
}

const (
	sentAtQuery = `SELECT ` + messageColumns + ` FROM messages
		WHERE chat = ? AND platform = ? AND state = 'sent' ORDER BY place DESC LIMIT 1`
	sentForQuery = `SELECT ` + messageColumns + ` FROM messages
		WHERE chat = ? AND key = ? AND key <> '' AND state = 'sent' ORDER BY place DESC LIMIT 1`
	togetherQuery = `SELECT ` + messageColumns + ` FROM messages m
		WHERE chat = ? AND platform = ? AND key <> '' AND state = 'sent' AND NOT EXISTS (
			SELECT 1 FROM messages n WHERE n.chat = m.chat AND n.key = m.key AND n.key <> '' AND n.state = 'sent' AND n.place > m.place)
		ORDER BY place`
	lastJoinedQuery = `SELECT ` + messageColumns + ` FROM messages
		WHERE chat = ? AND joins = ? AND joins <> '' AND state = 'sent' ORDER BY place DESC LIMIT 1`
	answerQuery = `SELECT ` + messageColumns + ` FROM messages
		WHERE chat = ? AND reply_to = ? AND reply_to <> '' ORDER BY key <> '' DESC, place DESC LIMIT 1`
)

func (s *Store) one(ctx context.Context, op, query string, args ...any) (ledger.SentMessage, bool, error) {
	var m message
	err := m.scan(s.readers.QueryRowContext(ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return ledger.SentMessage{}, false, nil
	}
	if err != nil {
		return ledger.SentMessage{}, false, fail(op, err)
	}
	shown, err := m.sent()
	if err != nil {
		return ledger.SentMessage{}, false, fail(op, err)
	}
	return shown, true, nil
}

// Cursor returns how far a chat's inputs have been handled, or false if none
// have.
func (s *Store) Cursor(ctx context.Context, name string) (ledger.Cursor, bool, error) {
	c := ledger.Cursor{Name: name}
	var at string
	err := s.readers.QueryRowContext(ctx, `SELECT value, time FROM cursors WHERE name = ?`, name).Scan(&c.Value, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return ledger.Cursor{}, false, nil
	}
	if err == nil {
		c.Time, err = parseTime(at)
	}
	if err != nil {
		return ledger.Cursor{}, false, fail("cursor "+name, err)
	}
	return c, true, nil
}

const whereQuery = `SELECT DISTINCT chat FROM messages WHERE key = ? AND key <> '' AND state <> 'dropped' ORDER BY chat`

// ChatsWith returns the chats that show a message of the key or have one
// queued: those that need an edit when the message's subject changes.
func (s *Store) ChatsWith(ctx context.Context, key string) (chats []string, err error) {
	defer func() { err = fail("chats of "+key, err) }()
	rows, err := s.readers.QueryContext(ctx, whereQuery, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var chat string
		if err := rows.Scan(&chat); err != nil {
			return nil, err
		}
		chats = append(chats, chat)
	}
	return chats, rows.Err()
}
