package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/copytree"
	"github.com/nightporter/nightporter/loop/ledger"
)

// laneDir returns the folder of a run's lane, and creates it if necessary. That of the
// first lane is the run's.
func (w *Workspace) laneDir(run string, lane int) (string, error) {
	dir, err := w.runDir(run)
	if err != nil || lane == 0 {
		return dir, err
	}
	own := lanePath(dir, lane)
	if err := w.makePassable(own); err != nil {
		return "", err
	}
	if err := copytree.File(filepath.Join(dir, "exclude"), filepath.Join(own, "exclude")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return own, nil
}

// lanePath returns the path of a lane's folder in that of a run. People count lanes
// from 1.
func lanePath(dir string, lane int) string {
	if lane == 0 {
		return dir
	}
	return filepath.Join(dir, fmt.Sprintf("lane-%d", lane+1))
}

// Work returns the work folder of a run's lane as sessions see it. Lanes are seen where
// rooms are, if sessions can have folders mounted: what setup makes may name its path,
// and has to work in each of them.
func (w *Workspace) Work(use ledger.WorkUse) ledger.Room {
	work := filepath.Join(lanePath(filepath.Join(w.o.State, "runs", use.Run), use.Lane), "work")
	if use.Lanes == 1 || !w.mounts() {
		return ledger.Room{Dir: work}
	}
	at := filepath.Join(w.roomsDir(), roomDir)
	return ledger.Room{Dir: at, Mounts: []ledger.Mount{{At: at, Upper: work}}}
}

// preparedFile is the file beside a work folder that has the key of the setup whose
// results lie in it.
const preparedFile = "prepared"

// prepare puts the results of setup into a work folder that holds a tree, unless they are
// in it, and returns the ignored paths. It takes them from the layer of the tree, if
// there is one: setup of a tree that no check has seen runs in the folder itself.
func (w *Workspace) prepare(ctx context.Context, f folder, use ledger.WorkUse, ignored []string) ([]string, error) {
	r, err := w.openRooms(ctx, ledger.RoomUse{Tree: use.Tree, Setup: use.Setup})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(f.dir, preparedFile)
	was, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if string(was) == r.key {
		return ignored, nil
	}
	l, err := r.find()
	if err != nil {
		return nil, err
	}
	if l == nil {
		return ignored, nil
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) { // a crash may leave a part of it
		return nil, err
	}
	for _, p := range ignored {
		if err := removeFiles(ctx, filepath.Join(f.path(), filepath.FromSlash(strings.TrimSuffix(p, "/")))); err != nil {
			return nil, err
		}
		if err := removeBelow(f.path(), strings.TrimSuffix(p, "/")); err != nil {
			return nil, err
		}
	}
	made, err := w.copyMade(ctx, r.at(layersDir, l.name, layerTree), f, r.tree)
	if err != nil {
		return nil, err
	}
	return made, writeDurably(file, []byte(r.key))
}

// copyMade copies what setup made, which is all of a layer that is in no tree, into a
// work folder, and returns its paths as git writes them: those of folders end with a
// slash.
func (w *Workspace) copyMade(ctx context.Context, layer string, f folder, tree string) (made []string, err error) {
	entries, err := w.listTree(ctx, tree)
	if err != nil {
		return nil, err
	}
	tracked, folders := map[string]bool{}, map[string]bool{}
	for _, e := range entries {
		tracked[e.path] = true
		for i := strings.LastIndexByte(e.path, '/'); i > 0 && !folders[e.path[:i]]; i = strings.LastIndexByte(e.path[:i], '/') {
			folders[e.path[:i]] = true
		}
	}
	err = walk(layer, func(_ int, _ string, e found) (bool, error) {
		isDir := e.kind == unix.S_IFDIR
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case e.path == ".git" || tracked[e.path]:
			return false, nil
		case isDir && folders[e.path]:
			return true, nil
		}
		path := e.path
		if isDir {
			path += "/"
		}
		made = append(made, path)
		return false, copytree.Copy(filepath.Join(layer, filepath.FromSlash(e.path)), filepath.Join(f.path(), filepath.FromSlash(e.path)))
	})
	return made, err
}
