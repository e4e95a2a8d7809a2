package operator

import (
	"context"
	"path/filepath"

	"github.com/nightporter/nightporter/internal/api"
)

// backup copies the database to the new file Args["path"], for `nightporter
// backup`.
func (svc *Service) backup(ctx context.Context, v api.View) (api.Reply, error) {
	path := v.Args["path"]
	if !filepath.IsAbs(path) {
		return api.Reply{Text: "a backup of the database needs the absolute path of a new file"}, nil
	}
	if err := svc.o.Store.Backup(ctx, path); err != nil {
		return api.Reply{Text: err.Error()}, nil //nolint:nilerr // it is the answer: the command prints it
	}
	return reply("the database was copied to "+path, map[string]string{"path": path})
}
