package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// Limits of an archive, regardless of the sizes that it claims.
const (
	maxFiles    = 5_000_000
	maxManifest = 1 << 30
	maxTail     = 1 << 20 // zeros that end a tar
)

// Extract unpacks a backup into the empty folder dir and checks it against its
// manifest: every file is there with its hash, and no other. All files get mode
// 0600, all folders 0700. room limits the bytes written. After an error, the
// content of dir must not be used.
//
// Errors describe the fault of the archive; after ctx ended, it is
// context.Cause.
func Extract(ctx context.Context, r io.Reader, dir string, room int64) (Manifest, error) {
	m, err := extract(ctx, r, dir, room)
	if err != nil {
		return Manifest{}, fmt.Errorf("read backup: %w", err)
	}
	return m, nil
}

func extract(ctx context.Context, r io.Reader, dir string, room int64) (Manifest, error) {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", errNoBackup, err)
	}
	// Names were checked; the root is a second protection against leading out
	// of dir.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Manifest{}, err
	}
	defer func() { _ = root.Close() }()
	x := extractor{root: root, room: room, files: map[string]File{}}
	archive := tar.NewReader(zip)
	for {
		if err := ctx.Err(); err != nil {
			return Manifest{}, context.Cause(ctx)
		}
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return Manifest{}, fmt.Errorf("%w: it ends without its manifest", errNoBackup)
		case err != nil:
			return Manifest{}, formatError(err)
		case h.Typeflag != tar.TypeReg:
			return Manifest{}, fmt.Errorf("%q is no ordinary file: a backup holds nothing else", h.Name)
		case h.Size < 0:
			return Manifest{}, fmt.Errorf("%q has a size of %d", h.Name, h.Size)
		case h.Name == manifestName:
			m, err := x.manifest(archive, h.Size)
			if err != nil {
				return Manifest{}, err
			}
			if _, err := archive.Next(); err == nil {
				return Manifest{}, errors.New("something comes after the manifest")
			} else if !errors.Is(err, io.EOF) {
				return Manifest{}, formatError(err)
			}
			// Read to the end, so that gzip compares its checksum.
			switch n, err := io.CopyN(io.Discard, zip, maxTail); {
			case err == nil:
				return Manifest{}, fmt.Errorf("more than %d bytes come after its end", n)
			case !errors.Is(err, io.EOF):
				return Manifest{}, formatError(err)
			}
			return m, x.repositories(m)
		}
		if err := x.file(h, archive); err != nil {
			return Manifest{}, err
		}
	}
}

// formatError wraps an error of the tar, gzip or JSON format.
func formatError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("it is cut off: %w", err)
	}
	return fmt.Errorf("it is damaged: %w", err)
}

// extractor is the state of one Extract.
type extractor struct {
	root  *os.Root
	room  int64
	files map[string]File
}

func (x *extractor) file(h *tar.Header, from io.Reader) error {
	if err := checkName(h.Name); err != nil {
		return err
	}
	if _, twice := x.files[h.Name]; twice {
		return fmt.Errorf("%q is in it twice", h.Name)
	}
	if len(x.files) == maxFiles {
		return fmt.Errorf("it holds more than %d files", maxFiles)
	}
	if h.Size > x.room {
		return fmt.Errorf("there is no room for %s (%d bytes, and %d may be used): make room, or restore to another disk", h.Name, h.Size, x.room)
	}
	x.room -= h.Size
	if err := x.root.MkdirAll(path.Dir(h.Name), 0o700); err != nil {
		return err
	}
	f, err := x.root.OpenFile(h.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, hash), from)
	if err != nil && !errors.As(err, new(*fs.PathError)) {
		err = formatError(err)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	x.files[h.Name] = File{Path: h.Name, Size: h.Size, SHA256: hex.EncodeToString(hash.Sum(nil))}
	return x.root.Chtimes(h.Name, h.ModTime, h.ModTime)
}

// manifest reads the manifest and compares the extracted files with it.
func (x *extractor) manifest(from io.Reader, size int64) (Manifest, error) {
	if size > maxManifest {
		return Manifest{}, fmt.Errorf("its manifest has %d bytes", size)
	}
	text, err := io.ReadAll(from)
	if err != nil {
		return Manifest{}, formatError(err)
	}
	var m Manifest
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("its manifest cannot be read: %w", err)
	}
	if m.Version > Version {
		return Manifest{}, fmt.Errorf("it was made by nightporter %s in form %d, and this one knows form %d: use the newer program", m.Program, m.Version, Version)
	}
	if m.Version < 1 || m.Time.Equal(time.Time{}) {
		return Manifest{}, fmt.Errorf("%w: its manifest has no version or no time", errNoBackup)
	}
	for _, want := range m.Files {
		have, ok := x.files[want.Path]
		switch {
		case !ok:
			return Manifest{}, fmt.Errorf("%q is named by the manifest and missing, or named twice", want.Path)
		case have != want:
			return Manifest{}, fmt.Errorf("%q is not as it was written: it has %d bytes and hash %s, the manifest says %d and %s",
				want.Path, have.Size, have.SHA256, want.Size, want.SHA256)
		}
		delete(x.files, want.Path)
	}
	for name := range x.files {
		return Manifest{}, fmt.Errorf("%q is not named by the manifest", name)
	}
	for _, name := range []string{Database, Key} {
		if _, err := x.root.Stat(name); err != nil {
			return Manifest{}, fmt.Errorf("%w: there is no %s in it", errNoBackup, name)
		}
	}
	return m, nil
}

// repositories creates the empty directories that git requires in a repository;
// the archive holds files only.
func (x *extractor) repositories(m Manifest) error {
	for _, name := range m.Repositories() {
		for _, dir := range []string{"refs", "objects"} {
			if err := x.root.MkdirAll(path.Join(Repositories, name+".git", dir), 0o700); err != nil {
				return err
			}
		}
	}
	return nil
}
