package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// message is one row of the table messages.
type message struct {
	ledger.Outgoing
	id       int64
	place    int64 // position in the queue: the id of the first message that it replaces
	time     string
	state    messageState
	tried    int // number of deliveries that began and were not aborted
	platform string
	settled  string
}

// messageState is the state of a message in the outbox.
type messageState string

const (
	queued  messageState = "queued"
	sent    messageState = "sent"
	dropped messageState = "dropped"
)

// Reasons that the store itself records for a dropped message.
const (
	whyReplaced = "a newer one took its place"
	whyForgot   = "it waited through an outage"
)

const messageColumns = `id, place, chat, key, edit, class, reply_to, silent, body, time, state, tried, platform, settled_at, ahead, joins`

func (m *message) scan(from interface{ Scan(...any) error }) error {
	err := from.Scan(&m.id, &m.place, &m.Chat, &m.Key, &m.Edit, &m.Class, &m.ReplyTo, &m.Silent, &m.Body, &m.time,
		&m.state, &m.tried, &m.platform, &m.settled, &m.Ahead, &m.Joins)
	m.Body = cloneBytes(m.Body)
	return err
}

// queued converts the row for the caller. target is the platform id of the
// message that the key stands for; only an edit uses it.
func (m *message) queued(target string) (ledger.QueuedMessage, error) {
	t, err := parseTime(m.time)
	if err != nil {
		return ledger.QueuedMessage{}, fmt.Errorf("message %d: its time cannot be read: %w: %w", m.id, err, ErrBroken)
	}
	q := ledger.QueuedMessage{Outgoing: m.Outgoing, ID: m.id, Time: t, InDoubt: m.tried}
	if m.Edit {
		q.Target = target
	}
	return q, nil
}

// sent converts the row to a message that its chat shows. A row that is not
// sent yet has no platform id, and its time is that of its commit.
func (m *message) sent() (ledger.SentMessage, error) {
	at := m.time
	if m.state == sent {
		at = m.settled
	}
	t, err := parseTime(at)
	if err != nil {
		return ledger.SentMessage{}, fmt.Errorf("message %d: its time cannot be read: %w: %w", m.id, err, ErrBroken)
	}
	return ledger.SentMessage{Chat: m.Chat, ID: m.platform, Key: m.Key, ReplyTo: m.ReplyTo, Body: m.Body, Time: t}, nil
}

// passesDoubt reports whether an edit of a dropped message inherits the doubt
// about its delivery. Messages of other classes are dropped only if they
// certainly did not arrive: the edit is then the first message that the chat
// gets.
func (m *message) passesDoubt() bool {
	return (m.Class == ledger.ClassChatter || m.Class == ledger.ClassLook) && !m.Edit && m.tried > 0
}

// enqueue writes the messages of a batch and returns their chats without
// repetition.
func (s *Store) enqueue(ctx context.Context, b ledger.Batch) ([]string, error) {
	now := formatTime(b.Time)
	for _, m := range b.Messages {
		// Queued edits of the key are obsolete now.
		if m.Key != "" {
			if err := s.replaceEdits(ctx, m.Chat, m.Key); err != nil {
				return nil, err
			}
		}
		if m.Key != "" && m.Ahead {
			if err := s.replaceSends(ctx, m.Chat, m.Key); err != nil {
				return nil, err
			}
		}
		if err := s.addMessage(ctx, &message{Outgoing: m, time: now}); err != nil {
			return nil, err
		}
		if err := s.coalesce(ctx, m.Chat, m.Key); err != nil {
			return nil, err
		}
	}
	return chatsOf(b.Messages), nil
}

// chatsOf returns the chats of messages without repetition, in the order given.
func chatsOf(messages []ledger.Outgoing) []string {
	var chats []string
	seen := map[string]bool{}
	for _, m := range messages {
		if !seen[m.Chat] {
			seen[m.Chat] = true
			chats = append(chats, m.Chat)
		}
	}
	return chats
}

// addMessage inserts a row at its place in the queue, or at the end for place
// 0.
func (s *Store) addMessage(ctx context.Context, m *message) error {
	_, err := s.stmts.addMessage.ExecContext(ctx,
		m.place, m.Chat, m.Key, m.Edit, string(m.Class), m.ReplyTo, m.Silent, notNull(m.Body), m.time, m.Ahead, m.Joins)
	return err
}

// replaceEdits removes the queued edits of a key. An edit that was tried stays
// as a dropped row: its delivery may still be settled, and a missing row would
// mean that the edit never existed.
func (s *Store) replaceEdits(ctx context.Context, chat, key string) error {
	if _, err := s.writer.ExecContext(ctx, `UPDATE messages SET state = 'dropped', settled_at = time, why = ?3
		WHERE chat = ?1 AND key = ?2 AND key <> '' AND state = 'queued' AND edit AND tried > 0`, chat, key, whyReplaced); err != nil {
		return err
	}
	_, err := s.writer.ExecContext(ctx, `DELETE FROM messages
		WHERE chat = ?1 AND key = ?2 AND key <> '' AND state = 'queued' AND edit AND tried = 0`, chat, key)
	return err
}

// replaceSends drops the sends of a key that were not tried: a send that goes ahead
// would be shown before them, and they would then seem to be newer.
func (s *Store) replaceSends(ctx context.Context, chat, key string) error {
	_, err := s.writer.ExecContext(ctx, `UPDATE messages SET state = 'dropped', settled_at = time, why = ?3
		WHERE chat = ?1 AND key = ?2 AND key <> '' AND state = 'queued' AND edit = 0 AND tried = 0`, chat, key, whyReplaced)
	return err
}

// coalesce restores the invariant of the queue for one key: at most one edit.
// The edit waits for a send that was tried, is merged into a send that was not,
// and becomes a send if the chat shows no message of the key and none is
// queued.
func (s *Store) coalesce(ctx context.Context, chat, key string) error {
	if key == "" {
		return nil
	}
	var edits, sends []message // newest first
	err := visitRows(ctx, s.writer, func(rows *sql.Rows) error {
		var m message
		if err := m.scan(rows); err != nil {
			return err
		}
		if m.Edit {
			edits = append(edits, m)
		} else {
			sends = append(sends, m)
		}
		return nil
	}, waitingQuery, chat, key)
	if err != nil || len(edits) == 0 {
		return err
	}
	// Several edits, or an edit older than a send, only occur when two chats
	// were merged (MoveChat).
	keep := edits[0]
	if len(edits) > 1 || len(sends) > 0 && sends[0].place > keep.place {
		if err := s.replaceEdits(ctx, chat, key); err != nil {
			return err
		}
		if len(sends) > 0 && sends[0].place > keep.place {
			return nil
		}
		if err := s.addMessage(ctx, &keep); err != nil {
			return err
		}
		return s.coalesce(ctx, chat, key)
	}
	switch {
	case len(sends) > 0 && sends[0].tried > 0:
		return nil
	case len(sends) > 0:
		send := sends[0]
		if _, err := s.writer.ExecContext(ctx, `DELETE FROM messages WHERE id IN (?, ?)`, send.id, keep.id); err != nil {
			return err
		}
		send.Body, send.Class = keep.Body, keep.Class
		return s.addMessage(ctx, &send)
	}
	shown, err := s.shownID(ctx, s.writer, chat, key)
	if err != nil || shown != "" {
		return err
	}
	_, err = s.writer.ExecContext(ctx, `UPDATE messages SET edit = 0 WHERE id = ?`, keep.id)
	return err
}

const waitingQuery = `SELECT ` + messageColumns + ` FROM messages
	WHERE chat = ? AND key = ? AND key <> '' AND state = 'queued' ORDER BY place DESC`

// shownID returns the platform id of the last sent message of a key, "" for
// none.
func (s *Store) shownID(ctx context.Context, q querier, chat, key string) (string, error) {
	var platform string
	err := q.QueryRowContext(ctx, shownIDQuery, chat, key).Scan(&platform)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return platform, err
}

const shownIDQuery = `SELECT platform FROM messages
	WHERE chat = ?1 AND key = ?2 AND key <> '' AND state = 'sent' ORDER BY place DESC LIMIT 1`

// checkMessages refuses messages that only a bug of the core can produce.
func checkMessages(b ledger.Batch) error {
	for _, m := range b.Messages {
		switch m.Class {
		case ledger.ClassAsk, ledger.ClassNotice, ledger.ClassReply, ledger.ClassLook, ledger.ClassChatter:
		default:
			return fmt.Errorf("message %q to %q has the unknown class %q", m.Key, m.Chat, m.Class)
		}
		switch {
		case m.Chat == "":
			return fmt.Errorf("message %q has no chat", m.Key)
		case m.Edit && m.Key == "":
			return fmt.Errorf("message to %q is an edit of nothing: it has no key", m.Chat)
		case m.Edit && m.Ahead:
			return fmt.Errorf("message %q to %q is an edit that goes ahead", m.Key, m.Chat)
		}
	}
	if c := b.Cursor; c != nil {
		if c.Name == "" {
			return errors.New("the cursor has no name")
		}
		return checkTime(c.Time)
	}
	return nil
}
