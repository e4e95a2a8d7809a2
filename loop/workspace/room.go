package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Files of STATE/rooms/PROJECT.
const (
	roomDir    = "room"      // the path at which every room is seen
	roomFile   = "room.json" // roomRecord: what was laid last
	roomUpper  = "upper"     // what differs from the layer, and what the commands of a check write
	roomKernel = "kernel"    // the kernel's own folder of an overlay
	makingDir  = "making"    // a layer whose setup is under way
	layersDir  = "layers"    // layers by their names
	ownDir     = "own-"      // begins the name of a lane's folder, with all but layers for its own room
)

// roomRecord describes the room that was laid last.
type roomRecord struct {
	Tree   string `json:"tree"`   // as it was asked for
	Parent string `json:"parent"` // as it was asked for
	Layer  string `json:"layer"`  // name of the layer below
}

// SetupRoom prepares the folder in which setup command number n, from 0, makes a
// layer for a tree. If the layer exists, the Room is Done and nothing has to be
// run. The commands of one tree run in the same folder, one after another;
// number 0 begins with the tree's files and nothing else.
func (w *Workspace) SetupRoom(ctx context.Context, use ledger.RoomUse, n int) (ledger.Room, error) {
	defer w.lock()()
	room, err := w.setupRoom(ctx, use, n)
	if err != nil {
		return ledger.Room{}, fmt.Errorf("room for setup: %w", err)
	}
	return room, nil
}

func (w *Workspace) setupRoom(ctx context.Context, use ledger.RoomUse, n int) (ledger.Room, error) {
	r, err := w.openRooms(ctx, use)
	if err != nil {
		return ledger.Room{}, err
	}
	have, err := r.find()
	if err != nil {
		return ledger.Room{}, err
	}
	if have != nil {
		return ledger.Room{Dir: r.dir(), Done: true}, nil
	}
	if making, err := r.making(); err != nil {
		return ledger.Room{}, err
	} else if n == 0 || making == nil {
		if err := r.beginLayer(ctx); err != nil {
			return ledger.Room{}, err
		}
	}
	room := ledger.Room{Dir: r.dir()}
	if !r.accepted {
		room.Layer = r.layerName()
	}
	if r.mounts {
		room.Mounts = []ledger.Mount{{At: r.dir(), Upper: r.in(makingDir, layerTree)}}
	}
	return room, nil
}

// LayRoom makes a room with the files of a tree over the layer of its setup. The
// commands of one check use the room one after another; anew asks for a new one.
// If no setup command ran for the tree, the layer is the tree itself.
func (w *Workspace) LayRoom(ctx context.Context, use ledger.RoomUse, anew bool) (ledger.Room, error) {
	defer w.lock()()
	room, err := w.layRoom(ctx, use, anew)
	if err != nil {
		return ledger.Room{}, fmt.Errorf("lay a room: %w", err)
	}
	return room, nil
}

func (w *Workspace) layRoom(ctx context.Context, use ledger.RoomUse, anew bool) (ledger.Room, error) {
	r, err := w.openRooms(ctx, use)
	if err != nil {
		return ledger.Room{}, err
	}
	room := ledger.Room{Dir: r.dir()}
	layer, err := r.find()
	if err != nil {
		return room, err
	}
	if layer == nil {
		making, err := r.making()
		if err != nil {
			return room, err
		}
		if making == nil {
			if err := r.beginLayer(ctx); err != nil {
				return room, err
			}
		}
		if layer, err = r.seal(ctx, making != nil || len(use.Setup) == 0); err != nil {
			return room, err
		}
		anew = true
	}
	want := roomRecord{Tree: use.Tree, Parent: use.Parent, Layer: layer.name}
	var last roomRecord
	if data, err := os.ReadFile(r.in(roomFile)); err == nil && json.Unmarshal(data, &last) == nil && last == want && !anew {
		return r.show(room, layer), nil
	}
	if err := r.clear(); err != nil {
		return room, err
	}
	if err := r.lay(ctx, layer); err != nil {
		return room, err
	}
	data, err := json.Marshal(want)
	if err != nil {
		return room, err
	}
	return r.show(room, layer), fsutil.Replace(r.in(roomFile), data, 0o600)
}

// KeepLayer makes the layer that was made for a tree available to all trees with
// the same setup: the tree was committed.
func (w *Workspace) KeepLayer(ctx context.Context, tree string) error {
	defer w.lock()()
	tree, err := w.filled(ctx, tree)
	if err != nil {
		return fmt.Errorf("keep layer: %w", err)
	}
	r := &rooms{w: w, root: w.roomsDir()}
	layers, err := r.layers()
	if err != nil {
		return fmt.Errorf("keep layer: %w", err)
	}
	for _, l := range layers {
		if l.Tree == tree && !l.Accepted {
			l.Accepted = true
			if err := r.save(r.at(layersDir, l.name), l.layerRecord); err != nil {
				return fmt.Errorf("keep layer: %w", err)
			}
		}
	}
	return nil
}

// rooms makes rooms of one project for one tree.
type rooms struct {
	w      *Workspace
	root   string // STATE/rooms/PROJECT
	place  string // folder of the room: root, or that of a lane below
	mounts bool   // rooms are mounted; otherwise each is laid at its place

	use  ledger.RoomUse
	tree string // full hash of the tree
	key  string // of the layer for the tree

	// A layer that does not exist is made of these files: of a committed tree, if
	// that one has the same key, so that nothing that a session wrote takes part.
	made     string // full hash of a tree
	from     ledger.RoomUse
	accepted bool
}

func (w *Workspace) roomsDir() string { return filepath.Join(w.o.State, "rooms", w.o.Project) }

func (w *Workspace) openRooms(ctx context.Context, use ledger.RoomUse) (*rooms, error) {
	r := &rooms{w: w, root: w.roomsDir(), place: w.roomsDir(), use: use, mounts: w.mounts()}
	if use.Own > 0 {
		r.place = r.at(fmt.Sprint(ownDir, use.Own))
	}
	var err error
	if r.tree, err = w.filled(ctx, use.Tree); err != nil {
		return nil, err
	}
	if r.key, err = w.layerKey(ctx, r.tree, use.Setup); err != nil {
		return nil, err
	}
	r.made, r.from, r.accepted = r.tree, use, use.Parent == ""
	if use.Parent != "" {
		parent, err := w.filled(ctx, use.Parent)
		if err != nil {
			return nil, err
		}
		key, err := w.layerKey(ctx, parent, use.Setup)
		if err != nil {
			return nil, err
		}
		if key == r.key {
			r.made, r.from, r.accepted = parent, ledger.RoomUse{Tree: use.Parent}, true
		}
	}
	if err := w.makeRoomsDir(); err != nil {
		return nil, err
	}
	if err := w.makePassable(r.place); err != nil {
		return nil, err
	}
	// Where sessions have no boundary, one could put a link in its place.
	if err := (folder{filepath.Dir(r.dir()), roomDir}).ensure(); err != nil {
		return nil, err
	}
	return r, w.chownSession(r.dir())
}

// makeRoomsDir makes STATE/rooms/PROJECT.
func (w *Workspace) makeRoomsDir() error {
	root := w.roomsDir()
	for _, dir := range []string{filepath.Dir(root), root, filepath.Join(root, layersDir)} {
		if err := w.makePassable(dir); err != nil {
			return err
		}
	}
	return nil
}

// makePassable makes a folder of the daemon's above one of sessions: their user
// can pass through it, whatever the umask is, and not list it.
func (w *Workspace) makePassable(dir string) error {
	mode := fs.FileMode(0o700)
	if w.o.SessionUID >= 0 {
		mode = 0o711
	}
	if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Chmod(dir, mode)
}

func (r *rooms) at(parts ...string) string {
	return filepath.Join(append([]string{r.root}, parts...)...)
}

// in is at for the folder of the room.
func (r *rooms) in(parts ...string) string {
	return filepath.Join(append([]string{r.place}, parts...)...)
}

// dir returns the path at which sessions see the room: the same for each that is
// mounted.
func (r *rooms) dir() string {
	if r.mounts {
		return r.at(roomDir)
	}
	return r.in(roomDir)
}

// show adds what sessions need to know of the room that was laid, and the mounts with which
// sessions see it.
func (r *rooms) show(room ledger.Room, l *layer) ledger.Room {
	if l.Apart {
		room.Layer = l.name
	}
	if r.mounts {
		room.Mounts = []ledger.Mount{{
			At: room.Dir, Lower: []string{r.at(layersDir, l.name, layerTree)}, Upper: r.in(roomUpper), Work: r.in(roomKernel),
		}}
	}
	return room
}

// clear removes the room that was laid last. The folder at which rooms are mounted
// stays: lanes are mounted there, too, and Linux takes the mounts of other namespaces
// away from a folder that is removed.
func (r *rooms) clear() error {
	if err := os.Remove(r.in(roomFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	remake := []string{roomUpper, roomKernel}
	if r.mounts {
		if err := r.emptyMountPoint(); err != nil {
			return err
		}
	} else {
		remake = append(remake, roomDir)
	}
	for _, name := range remake {
		if err := removeBelow(r.place, name); err != nil {
			return err
		}
		if err := os.Mkdir(r.in(name), 0o755); err != nil {
			return err
		}
		if err := r.w.chownSession(r.in(name)); err != nil {
			return err
		}
	}
	return nil
}

// emptyMountPoint removes what lies at the path of rooms: a room of a time when nothing
// could be mounted.
func (r *rooms) emptyMountPoint() error {
	entries, err := os.ReadDir(r.dir())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := removeBelow(r.root, filepath.Join(roomDir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// mounts reports whether sessions can have overlays mounted.
func (w *Workspace) mounts() bool { return w.o.Mounts != nil && w.o.Mounts() }

// chownSession makes the session user the owner of one path.
func (w *Workspace) chownSession(path string) error {
	if w.o.SessionUID < 0 {
		return nil
	}
	return os.Lchown(path, w.o.SessionUID, w.o.SessionGID)
}
