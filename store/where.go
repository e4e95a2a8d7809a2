package store

import (
	"context"
)

const whereQuery = `SELECT DISTINCT chat FROM messages WHERE key = ? AND key <> '' AND state <> 'dropped' ORDER BY chat`

// Where returns the chats in which a message with the key stands or is queued:
// whom a change of what it is about is told by an edit.
func (s *Store) Where(ctx context.Context, key string) (chats []string, err error) {
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
