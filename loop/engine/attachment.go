package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/internal/screenshot"
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

// keepPicture keeps the picture that a session left. What cannot be used is said in the
// exit; only a fault of the machine is an error, and then the session is waited for
// again.
func (e *Engine) keepPicture(runner Runner, x *ledger.Exit) error {
	if e.o.Attachments == nil {
		return nil
	}
	data, err := runner.Screenshot(x.Session)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the exit says why
	}
	if err != nil {
		return fmt.Errorf("read a picture: %w", err)
	}
	clean, width, height, err := screenshot.Clean(data)
	if err != nil {
		x.Text = err.Error()
		return nil //nolint:nilerr // the exit says it
	}
	hash, err := e.o.Attachments.Put(clean)
	if err != nil {
		return fmt.Errorf("keep a picture: %w", err)
	}
	x.Picture = &ledger.Picture{Hash: hash, Size: int64(len(clean)), Width: width, Height: height}
	return nil
}

// settlePicture tells the store that the entry which names a picture is committed, or
// that this is not known. What the session left for it is removed then, so that a person
// who erases the picture erases all of it.
func (e *Engine) settlePicture(project string, body loop.InputBody, committed bool) {
	x, is := body.(loop.SessionExited)
	if !is || e.o.Attachments == nil {
		return
	}
	picture := x.Exit.Picture
	if !committed {
		if picture != nil {
			e.o.Attachments.Leave(picture.Hash)
		}
		return
	}
	if picture != nil {
		if err := e.o.Attachments.Settle(picture.Hash); err != nil {
			e.o.Log.Warn("a picture gets its name at the next start", "session", x.Exit.Session, "error", err)
		}
	}
	if ports, ok := e.portsOf(project); ok {
		if err := ports.Place.Runner.DropScreenshot(x.Exit.Session); err != nil {
			e.o.Log.Warn("what a session left for a picture stays until its folder is removed", "session", x.Exit.Session, "error", err)
		}
	}
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
