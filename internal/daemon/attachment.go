package daemon

import (
	"bytes"
	"context"

	"github.com/nightporter/nightporter/loop/ledger"
)

// recoverAttachments removes files that an earlier process was given, and pictures that
// it took, and that no entry names. It reads the ledger only if there are some to decide on.
func (d *Daemon) recoverAttachments(ctx context.Context) error {
	return d.files.Recover(func(hashes []string) (map[string]bool, error) {
		streams, err := d.Store.Streams(ctx)
		if err != nil {
			return nil, err
		}
		named := map[string]bool{}
		for _, stream := range streams {
			err := d.Store.RecordsAfter(ctx, stream, 0, []string{ledger.FilesAttached{}.EntryType(), ledger.SessionEnded{}.EntryType()}, func(r ledger.Record) error {
				for _, hash := range hashes {
					named[hash] = named[hash] || bytes.Contains(r.Body, []byte(hash))
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		return named, nil
	})
}
