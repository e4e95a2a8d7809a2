package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
)

// turnReaders returns a pool whose queries run on the writing connection, one at
// a time and never within a transaction of it. Each reads its whole result at
// once, so that the caller may commit while it visits the rows.
func (s *Store) turnReaders() (*sql.DB, error) {
	var conn driver.QueryerContext
	err := s.writer.Raw(func(c any) error {
		var ok bool
		if conn, ok = c.(driver.QueryerContext); !ok {
			return errors.New("the driver has no direct queries")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(turnConnector{s, conn}), nil
}

type turnConnector struct {
	store *Store
	conn  driver.QueryerContext
}

// Connect implements driver.Connector.
func (c turnConnector) Connect(context.Context) (driver.Conn, error) { return turnConn(c), nil }

// Driver implements driver.Connector.
func (c turnConnector) Driver() driver.Driver { return nil }

type turnConn turnConnector

// QueryContext implements driver.QueryerContext.
func (c turnConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	select {
	case <-c.store.turn:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { c.store.turn <- struct{}{} }()
	if c.store.closed {
		return nil, errClosed
	}
	rows, err := c.conn.QueryContext(context.WithoutCancel(ctx), query, args)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := &readRows{columns: rows.Columns()}
	for {
		values := make([]driver.Value, len(all.columns))
		if err := rows.Next(values); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		for i, v := range values {
			if b, ok := v.([]byte); ok {
				values[i] = append([]byte{}, b...) // the driver reuses its own
			}
		}
		all.rows = append(all.rows, values)
	}
}

var errNoStatements = errors.New("readers only query")

// Prepare implements driver.Conn.
func (c turnConn) Prepare(string) (driver.Stmt, error) { return nil, errNoStatements }

// Close implements driver.Conn.
func (c turnConn) Close() error { return nil }

// Begin implements driver.Conn. A read transaction has no effect here: commits
// may come between its queries.
func (c turnConn) Begin() (driver.Tx, error) { return noTx{}, nil }

type noTx struct{}

func (noTx) Commit() error   { return nil }
func (noTx) Rollback() error { return nil }

// readRows is a result that was read whole.
type readRows struct {
	columns []string
	rows    [][]driver.Value
	next    int
}

func (r *readRows) Columns() []string { return r.columns }
func (r *readRows) Close() error      { return nil }

func (r *readRows) Next(dest []driver.Value) error {
	if r.next == len(r.rows) {
		return io.EOF
	}
	copy(dest, r.rows[r.next])
	r.next++
	return nil
}
