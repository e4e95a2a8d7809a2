package workspace

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // git's own
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
)

// ownCommit returns the content of a commit by nightporter itself, at the time 0.
func ownCommit(tree, parent, message string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	if parent != "" {
		fmt.Fprintf(&b, "parent %s\n", parent)
	}
	for _, role := range []string{"author", "committer"} {
		fmt.Fprintf(&b, "%s %s <%s> 0 +0000\n", role, ownName, ownEmail)
	}
	fmt.Fprintf(&b, "\n%s", message)
	return b.Bytes()
}

// writeCommit writes a commit into the objects folder of a .git that we make for a
// session or a room, and returns its hash. It starts no process, and does not wait
// for the disk: such a .git can be made again.
func writeCommit(objects string, commit []byte, format string) (string, error) {
	var sum hash.Hash = sha1.New() //nolint:gosec // git's own
	if format == "sha256" {
		sum = sha256.New()
	}
	object := append(fmt.Appendf(nil, "commit %d\x00", len(commit)), commit...)
	sum.Write(object)
	name := hex.EncodeToString(sum.Sum(nil))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := z.Write(object)
	if err = errors.Join(err, z.Close()); err != nil {
		return "", err
	}
	dir := filepath.Join(objects, name[:2])
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return name, os.WriteFile(filepath.Join(dir, name[2:]), packed.Bytes(), 0o444)
}

// formatOf returns the hash format of a hash.
func formatOf(hash string) string {
	if len(hash) == 64 {
		return "sha256"
	}
	return "sha1"
}

// initRepository makes an empty bare repository for a session or a room, on branch
// nightporter, and returns its configuration. git itself makes the first one of a
// Workspace, which finds out what the file system can; the others are made like it.
func (w *Workspace) initRepository(ctx context.Context, path, format string) (config string, err error) {
	if config, known := w.configs[format]; known {
		for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
			if err := os.MkdirAll(filepath.Join(path, dir), 0o755); err != nil {
				return "", err
			}
		}
		return config, os.WriteFile(filepath.Join(path, "HEAD"), []byte("ref: refs/heads/nightporter\n"), 0o644)
	}
	args := []string{"init", "--quiet", "--bare", "--template=", "--initial-branch=nightporter", "--object-format=" + format, path}
	if _, err := w.run(ctx, call{config: []string{"core.fsync=none"}, args: args}); err != nil {
		return "", err
	}
	data, err := os.ReadFile(filepath.Join(path, "config"))
	if err != nil {
		return "", err
	}
	if w.configs == nil {
		w.configs = map[string]string{}
	}
	w.configs[format] = string(data)
	return string(data), nil
}
