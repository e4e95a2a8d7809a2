package operator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/nightporter/nightporter/internal/attachment"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// Values of verifiedFile.State.
const (
	fileErased  = "erased"
	fileMissing = "missing"
	fileAltered = "altered"
)

// verifyFiles looks for the bytes of all files that entries name. What a person had
// erased is told, and no break.
func (svc *Service) verifyFiles(ctx context.Context, out *verified) error {
	streams, err := svc.o.Store.Streams(ctx)
	if err != nil || svc.o.Attachments == nil {
		return err
	}
	var named []verifiedFile
	erased := map[string]bool{}
	types := []string{ledger.FilesAttached{}.EntryType(), ledger.FilesErased{}.EntryType(), ledger.TaskPictured{}.EntryType()}
	for _, stream := range streams {
		err := svc.o.Store.RecordsAfter(ctx, stream, 0, types, func(r ledger.Record) error {
			e, err := r.Entry()
			if err != nil {
				return nil //nolint:nilerr // the chain reports the entry
			}
			switch b := e.Body.(type) {
			case ledger.FilesAttached:
				for _, f := range b.Files {
					named = append(named, verifiedFile{To: b.To, Hash: f.Hash, Stream: stream, Seq: r.Seq})
				}
			case ledger.TaskPictured:
				s := b.Result
				if s.Tree == "" { // the entry before the result's has the start
					s = b.Start
				}
				if s.Picture != nil {
					named = append(named, verifiedFile{To: e.Task, Hash: s.Picture.Hash, Stream: stream, Seq: r.Seq})
				}
			case ledger.FilesErased:
				for _, hash := range b.Hashes {
					erased[hash] = true
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, store.ErrBroken) { // the chain reports that
			return err
		}
	}
	for _, f := range named {
		_, err := svc.o.Attachments.Read(f.Hash)
		switch {
		case err == nil:
			continue
		case errors.Is(err, fs.ErrNotExist) && erased[f.Hash]:
			f.State = fileErased
		case errors.Is(err, fs.ErrNotExist):
			f.State = fileMissing
		case errors.Is(err, attachment.ErrAltered):
			f.State = fileAltered
		default:
			out.Unchecked = append(out.Unchecked, fmt.Sprintf("file %.12s of %s: %v", f.Hash, f.To, err))
			continue
		}
		if f.State != fileErased {
			out.broken(fmt.Sprintf("%s entry %d: file %.12s of %s is %s; a backup may have it", f.Stream, f.Seq, f.Hash, f.To, f.State))
		}
		out.Files = append(out.Files, f)
	}
	return nil
}
