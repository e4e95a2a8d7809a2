package backup

import (
	"archive/tar"
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
	"path/filepath"
	"strings"
	"time"
)

// Writer writes one backup. Use NewWriter, add the files, and call Close.
type Writer struct {
	zip   *gzip.Writer
	tar   *tar.Writer
	files []File
}

// NewWriter begins a backup on w.
func NewWriter(w io.Writer) *Writer {
	// Best speed: most of the data are git objects, which are compressed
	// already.
	zip, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a valid constant
	}
	return &Writer{zip: zip, tar: tar.NewWriter(zip)}
}

// Add copies the file at path into the backup under name.
func (w *Writer) Add(ctx context.Context, name, path string) error {
	if err := w.add(ctx, name, path); err != nil {
		return fmt.Errorf("back up %s: %w", path, err)
	}
	return nil
}

func (w *Writer) add(ctx context.Context, name, path string) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := checkName(name); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is no ordinary file")
	}
	if name == Key {
		key := make([]byte, min(info.Size(), 2*keyBytes+2))
		if _, err := f.ReadAt(key, 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err := checkKey(key); err != nil {
			return fmt.Errorf("%w: stop nightporter and remove the file, it makes a new one when it starts", err)
		}
	}
	if err := w.header(name, info.Size(), info.ModTime()); err != nil {
		return err
	}
	hash := sha256.New()
	// Only the size found before is copied: a file that grows is only appended
	// to, so its first part is complete.
	if _, err := io.CopyN(io.MultiWriter(w.tar, hash), f, info.Size()); err != nil {
		return err
	}
	w.files = append(w.files, File{Path: name, Size: info.Size(), SHA256: hex.EncodeToString(hash.Sum(nil))})
	return nil
}

func (w *Writer) header(name string, size int64, at time.Time) error {
	return w.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: at.Truncate(time.Second), Format: tar.FormatPAX,
	})
}

// AddRepository copies the bare repository dir, STATE/repos/PROJECT.git. The
// repository may be in use. Call it after adding the database.
func (w *Writer) AddRepository(ctx context.Context, dir string) error {
	prefix := Repositories + "/" + filepath.Base(dir)
	single := func(names ...string) error {
		for _, name := range names {
			err := w.Add(ctx, prefix+"/"+name, filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	}
	if err := w.Add(ctx, prefix+"/HEAD", filepath.Join(dir, "HEAD")); err != nil {
		return err
	}
	if err := single("config", "info/attributes"); err != nil {
		return err
	}
	// git writes a ref to packed-refs before it removes the loose one, so refs
	// come first.
	if err := w.tree(ctx, dir, prefix, "refs"); err != nil {
		return err
	}
	if err := single("packed-refs", "shallow"); err != nil {
		return err
	}
	return w.tree(ctx, dir, prefix, "objects")
}

// AddAttachments copies the files that people sent. Call it after adding the database:
// a file is there before the ledger names it. One that is erased meanwhile is left out.
func (w *Writer) AddAttachments(ctx context.Context, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		// A file that the ledger named a moment ago still has its first name.
		name := Attachments + "/" + strings.TrimSuffix(e.Name(), ".new")
		if !isBackedUp(name) {
			continue
		}
		if err := w.Add(ctx, name, filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// AddLogins copies the folder of the agents' credentials.
func (w *Writer) AddLogins(ctx context.Context, dir string) error {
	err := w.tree(ctx, filepath.Dir(dir), "", filepath.Base(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// tree copies the files below dir/sub that a backup holds.
func (w *Writer) tree(ctx context.Context, dir, prefix, sub string) error {
	return filepath.WalkDir(filepath.Join(dir, sub), func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && file != filepath.Join(dir, sub) {
			return nil // a ref or temporary file that has been removed since
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		name := path.Join(prefix, filepath.ToSlash(rel))
		if !isBackedUp(name) {
			return nil
		}
		// git writes the index of a pack last. An index that appears while its
		// folder is read must not be copied without its pack.
		switch base, ext := strings.TrimSuffix(file, path.Ext(file)), path.Ext(file); ext {
		case ".pack":
			return nil
		case ".idx":
			if err := w.Add(ctx, strings.TrimSuffix(name, ext)+".pack", base+".pack"); err != nil {
				return err
			}
		}
		if err := w.Add(ctx, name, file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// Close writes the manifest with the added files and ends the backup. It
// returns the manifest as written.
func (w *Writer) Close(m Manifest) (Manifest, error) {
	m.Version, m.Files = Version, w.files
	err := func() error {
		text, err := json.MarshalIndent(m, "", " ")
		if err != nil {
			return err
		}
		if err := w.header(manifestName, int64(len(text)), m.Time); err != nil {
			return err
		}
		if _, err := w.tar.Write(text); err != nil {
			return err
		}
		return errors.Join(w.tar.Close(), w.zip.Close())
	}()
	if err != nil {
		return m, fmt.Errorf("back up: manifest: %w", err)
	}
	return m, nil
}
