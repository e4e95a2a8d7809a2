package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/nightporter/nightporter/loop"
)

// View returns the body of a read model, nil where there is none.
func (s *Store) View(ctx context.Context, stream, name string) ([]byte, error) {
	var body []byte
	err := s.readers.QueryRowContext(ctx, `SELECT body FROM views WHERE stream = ? AND name = ?`, stream, name).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fail("view "+name+" of "+stream, err)
	}
	return notNull(body), nil
}

// Views returns the read models of this name of all streams, by stream.
func (s *Store) Views(ctx context.Context, name string) ([]loop.View, error) {
	var views []loop.View
	err := s.rows(ctx, func(rows *sql.Rows) error {
		v := loop.View{Name: name}
		if err := rows.Scan(&v.Stream, &v.Body); err != nil {
			return err
		}
		v.Body = notNull(v.Body)
		views = append(views, v)
		return nil
	}, `SELECT stream, body FROM views WHERE name = ? ORDER BY stream`, name)
	if err != nil {
		return nil, fail("views "+name, err)
	}
	return views, nil
}
