package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// pictures returns the pictures that a prompt names, by hash, without those that were
// erased or are damaged: the prompt says that they are missing, and the session does
// without.
func pictures(hashes []string, from Attachments) (map[string][]byte, error) {
	if len(hashes) == 0 || from == nil {
		return nil, nil
	}
	found := map[string][]byte{}
	for _, hash := range hashes {
		data, err := from.Read(hash)
		switch {
		case err == nil:
			found[hash] = data
		case fault.Of(err) != "" && !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("read a picture: %w", err) // it may be there once that is over
		}
	}
	return found, nil
}

// erase carries out an EffectErase.
func (e *Engine) erase(hashes []string) error {
	if e.o.Attachments == nil {
		return nil
	}
	var errs []error
	for _, hash := range hashes {
		errs = append(errs, e.o.Attachments.Erase(hash))
	}
	return errors.Join(errs...)
}

// transcribe carries out an EffectTranscribe.
func (e *Engine) transcribe(ctx context.Context, b ledger.EffectTranscribe) (loop.InputBody, error) {
	result := loop.Transcribed{Of: b}
	if e.o.Attachments == nil || e.o.Transcribe == nil {
		result.Err = "nothing here turns speech into words"
		return result, nil
	}
	data, err := e.o.Attachments.Read(b.Hash)
	if err == nil {
		result.Text, err = e.o.Transcribe(ctx, b.ID, b.Type, data)
	}
	switch {
	case ctx.Err() != nil, fault.Of(err) != "":
		return nil, err
	case err != nil:
		result.Err = err.Error()
	}
	return result, nil
}
