package operator

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/store"
)

// backup copies the database to the new file Args["path"], for `nightporter
// backup`.
func (svc *Service) backup(ctx context.Context, v api.View) (api.Reply, error) {
	path := v.Args["path"]
	if !filepath.IsAbs(path) {
		return api.Reply{Text: "a backup of the database needs the absolute path of a new file"}, nil
	}
	switch err := svc.o.Store.Backup(ctx, path); {
	case errors.Is(err, store.ErrBroken):
		return api.Reply{}, err
	case err != nil:
		return api.Reply{Text: err.Error()}, nil //nolint:nilerr // it is the answer: the command prints it
	}
	return reply("the database was copied to "+path, map[string]string{"path": path})
}
