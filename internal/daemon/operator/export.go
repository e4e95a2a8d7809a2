package operator

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop/ledger"
)

// export writes the whole ledger to the new file Args["path"], as JSON Lines.
func (svc *Service) export(ctx context.Context, v api.View) (api.Reply, error) {
	path := v.Args["path"]
	if !filepath.IsAbs(path) {
		return api.Reply{Text: "✗ the file needs an absolute path"}, nil
	}
	n, err := svc.writeLedger(ctx, path)
	if errors.Is(err, fs.ErrExist) {
		return api.Reply{Text: "✗ " + path + " is there already; name a new file"}, nil
	}
	if err != nil {
		return api.Reply{Text: "✗ not exported: " + err.Error()}, nil //nolint:nilerr // the reply says so
	}
	return reply(fmt.Sprintf("✓ %d entries in %s", n, path), map[string]any{"entries": n, "path": path})
}

func (svc *Service) writeLedger(ctx context.Context, path string) (n int, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(path) // leaves no partial file
		}
	}()
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	streams, err := svc.o.Store.Streams(ctx)
	if err != nil {
		return 0, err
	}
	for _, stream := range streams {
		err := svc.o.Store.Records(ctx, stream, 0, func(r ledger.Record) error {
			line, err := bot.RecordJSON(r)
			if err != nil {
				return err
			}
			n++
			_, err = w.Write(append(line, '\n'))
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, errors.Join(w.Flush(), f.Sync())
}
