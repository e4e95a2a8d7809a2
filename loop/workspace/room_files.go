package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// filesDir holds, in STATE/rooms/PROJECT, the files of room_files as they were in
// the user's checkout when the run began. A change of the checkout during a run
// makes no check red.
const filesDir = "files"

// Limits of room_files. They are configuration, not content.
const (
	maxRoomFiles = 200
	maxRoomBytes = 32 << 20
)

// isGlob reports whether an entry of room_files stands for several files.
func isGlob(pattern string) bool { return strings.ContainsAny(pattern, `*?[\`) }

// findRoomFiles returns the files of the checkout that room_files names, sorted.
// tracked are the paths of the commit that the run starts from; a room has those
// already. Mistakes are a *ledger.InputError.
func (w *Workspace) findRoomFiles(tracked []treeEntry) ([]string, error) {
	if len(w.o.RoomFiles) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(w.o.Repo)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	has := map[string]bool{}
	for _, e := range tracked {
		has[e.path] = true
	}
	var problems []ledger.Diagnostic
	bad := func(remedy, text string, args ...any) {
		problems = append(problems, ledger.Diagnostic{Text: "room_files: " + fmt.Sprintf(text, args...), Remedy: remedy})
	}
	const takeOut = "take it out of room_files"
	var found []string
	for _, pattern := range w.o.RoomFiles {
		paths := []string{pattern}
		if isGlob(pattern) {
			if paths, err = fs.Glob(root.FS(), pattern); err != nil {
				return nil, fmt.Errorf("room_files: %q: %w", pattern, err)
			}
		}
		taken := false
		for _, p := range paths {
			switch info, link, err := lstatBelow(root, p); {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				bad(takeOut, "%s: %v", p, err)
				taken = true
			case slices.ContainsFunc(strings.Split(p, "/"), func(part string) bool { return strings.EqualFold(part, ".git") }):
				bad(takeOut, "%s is git's own", p)
				taken = true
			case link != "":
				bad("put a copy in its place, or "+takeOut, "%s is a link, and could lead anywhere", link)
				taken = true
			case isGlob(pattern) && (!info.Mode().IsRegular() || has[p]):
			case has[p]:
				bad(takeOut, "%s is tracked, so every room has it as it is committed", p)
				taken = true
			case !info.Mode().IsRegular():
				bad(fmt.Sprintf("name its files, such as %q", p+"/*"), "%s is no file", p)
				taken = true
			default:
				found = append(found, p)
				taken = true
			}
		}
		switch {
		case taken:
		case isGlob(pattern):
			bad("correct it, or "+takeOut, "%s matches no untracked file of %s", pattern, w.o.Repo)
		default:
			bad("make it, or "+takeOut, "%s does not exist in %s", pattern, w.o.Repo)
		}
	}
	if len(problems) > 0 {
		return nil, inputError(problems...)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// lstatBelow describes a path below a folder. link is the first link on the way,
// the path itself included.
func lstatBelow(root *os.Root, p string) (info fs.FileInfo, link string, err error) {
	parts := strings.Split(p, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		if info, err = root.Lstat(at); err != nil {
			return nil, "", err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return info, at, nil
		}
	}
	return info, "", nil
}

// takeRoomFiles copies the files that room_files names, for all rooms of the run.
func (w *Workspace) takeRoomFiles(ctx context.Context, commit string) error {
	tracked, err := w.listTree(ctx, commit)
	if err != nil {
		return err
	}
	paths, err := w.findRoomFiles(tracked)
	if err != nil {
		return err
	}
	top := w.roomsDir()
	if len(paths) == 0 {
		if _, err := os.Lstat(filepath.Join(top, filesDir)); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return removeBelow(top, filesDir)
	}
	fresh := filesDir + ".new"
	if err := w.makeRoomsDir(); err != nil {
		return err
	}
	if err := removeBelow(top, fresh); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(top, fresh), 0o700); err != nil {
		return err
	}
	from, err := os.OpenRoot(w.o.Repo)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenRoot(filepath.Join(top, fresh))
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }()
	var size int64
	for _, p := range paths {
		info, err := from.Lstat(p)
		if err != nil {
			return err
		}
		if size += info.Size(); size > maxRoomBytes || len(paths) > maxRoomFiles {
			return inputError(ledger.Diagnostic{
				Text:   fmt.Sprintf("room_files: these are more than %d files or %d MB", maxRoomFiles, maxRoomBytes>>20),
				Remedy: "name the files that tests need; what setup can make does not belong there",
			})
		}
		if err := copyBelow(from, to, p, info); err != nil {
			return fmt.Errorf("room_files: %w", err)
		}
	}
	if err := removeBelow(top, filesDir); err != nil {
		return err
	}
	return os.Rename(filepath.Join(top, fresh), filepath.Join(top, filesDir))
}

// copyBelow copies a file to the same path below another folder, with its time.
func copyBelow(from, to *os.Root, p string, info fs.FileInfo) error {
	if err := to.MkdirAll(path.Dir(p), 0o755); err != nil {
		return err
	}
	in, err := from.OpenFile(p, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := to.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|info.Mode().Perm()&0o100)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, maxRoomBytes))
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return to.Chtimes(p, info.ModTime(), info.ModTime())
}

// roomFiles returns the files that rooms of the run get, by their paths.
func (w *Workspace) roomFiles() (map[string]fs.FileInfo, error) {
	dir := filepath.Join(w.roomsDir(), filesDir)
	files := map[string]fs.FileInfo{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = d.Info()
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return files, err
}

// roomFilesFor returns the files that a room with a tree gets, sorted: those in
// whose place the tree has nothing. A room never shows another file than the
// commit does.
func (w *Workspace) roomFilesFor(ctx context.Context, tree string) ([]string, error) {
	files, err := w.roomFiles()
	if err != nil || len(files) == 0 {
		return nil, err
	}
	entries, err := w.listTree(ctx, tree)
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{} // files of the tree, and folders above them
	isFile := map[string]bool{}
	for _, e := range entries {
		isFile[e.path] = true
		for p := e.path; p != "." && !taken[p]; p = path.Dir(p) {
			taken[p] = true
		}
	}
	var out []string
	for p := range files {
		free := !taken[p]
		for dir := path.Dir(p); free && dir != "."; dir = path.Dir(dir) {
			free = !isFile[dir]
		}
		if free {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out, nil
}

// addRoomFiles writes the room files of a tree into a room, or into the upper
// folder of one. Nothing that setup left in their place is followed.
func (w *Workspace) addRoomFiles(ctx context.Context, to, tree string) error {
	paths, err := w.roomFilesFor(ctx, tree)
	if err != nil || len(paths) == 0 {
		return err
	}
	from, err := os.OpenRoot(filepath.Join(w.roomsDir(), filesDir))
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	room, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = room.Close() }()
	for _, p := range paths {
		parts := strings.Split(p, "/")
		for i := 1; i < len(parts); i++ {
			if err := makeFolder(room, path.Join(parts[:i]...)); err != nil {
				return fmt.Errorf("room file %s: %w", p, err)
			}
		}
		if err := room.RemoveAll(p); err != nil {
			return fmt.Errorf("room file %s: %w", p, err)
		}
		info, err := from.Lstat(p)
		if err == nil {
			err = copyBelow(from, room, p, info)
		}
		if err != nil {
			return fmt.Errorf("room file %s: %w", p, err)
		}
	}
	return nil
}

// makeFolder makes a folder of a room in place of anything else. A folder that
// takes the place of a whiteout must not show what the whiteout hid.
func makeFolder(room *os.Root, dir string) error {
	info, err := room.Lstat(dir)
	hidden := err == nil && info.Mode()&fs.ModeCharDevice != 0
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		err = room.Remove(dir)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err == nil {
		err = room.Mkdir(dir, 0o755)
	}
	if err == nil && hidden {
		err = unix.Setxattr(filepath.Join(room.Name(), filepath.FromSlash(dir)), "user.overlay.opaque", []byte("y"), 0)
	}
	return err
}

// removeRoomFiles removes the room files from what setup left, and the folders
// that held nothing else. A layer holds none of them.
func (w *Workspace) removeRoomFiles(ctx context.Context, from, tree string) error {
	paths, err := w.roomFilesFor(ctx, tree)
	if err != nil || len(paths) == 0 {
		return err
	}
	room, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { _ = room.Close() }()
	for _, p := range paths {
		if _, link, err := lstatBelow(room, p); err != nil || link != "" && link != p {
			continue // setup put something else in its place
		}
		if err := room.RemoveAll(p); err != nil {
			return fmt.Errorf("room file %s: %w", p, err)
		}
		for dir := path.Dir(p); dir != "." && room.Remove(dir) == nil; dir = path.Dir(dir) { //nolint:revive // removes while it is empty
		}
	}
	return nil
}

// envFiles returns untracked files of the checkout, in its top folder and the
// folders of the commit below it, whose names say that programs read their
// settings there, and that no room gets.
func (w *Workspace) envFiles(tracked []treeEntry) []string {
	has, folders := map[string]bool{}, map[string]bool{".": true}
	for _, e := range tracked {
		has[e.path] = true
		if top, _, below := strings.Cut(e.path, "/"); below {
			folders[top] = true
		}
	}
	var out []string
	for dir := range folders {
		entries, err := os.ReadDir(filepath.Join(w.o.Repo, dir))
		if err != nil {
			continue // the list only serves a note
		}
		for _, e := range entries {
			p, name := path.Join(dir, e.Name()), e.Name()
			sample := slices.Contains([]string{".example", ".sample", ".template", ".dist", ".defaults"}, path.Ext(name))
			if e.Type().IsRegular() && (name == ".env" || strings.HasPrefix(name, ".env.")) && !sample && !has[p] &&
				!slices.ContainsFunc(w.o.RoomFiles, func(g string) bool { ok, _ := path.Match(g, p); return ok }) {
				out = append(out, p)
			}
		}
	}
	slices.Sort(out)
	return out[:min(len(out), maxEnvFiles)]
}

// maxEnvFiles limits the files that envFiles names.
const maxEnvFiles = 3
