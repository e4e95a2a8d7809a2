package workspace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/nightporter/nightporter/internal/copytree"
	"github.com/nightporter/nightporter/internal/crash"
	"github.com/nightporter/nightporter/internal/fsutil"
)

// Files of a layer's folder.
const (
	layerTree  = "tree"       // the files: those of the layer's tree, and what setup made
	layerIndex = "index"      // git's index of the tree's files as they lie there
	layerFile  = "layer.json" // layerRecord; a folder without it is no layer yet
)

// maxLayers limits the layers of a project. The one that was used longest ago
// goes first.
const maxLayers = 4

// layerRecord describes a layer.
type layerRecord struct {
	Key    string `json:"key"`    // of the setup (layerKey)
	Tree   string `json:"tree"`   // the tree that setup ran on
	Commit string `json:"commit"` // HEAD of the layer's .git
	// Accepted layers serve every tree with the same key. Until its tree is
	// committed a layer serves that tree alone: setup ran files that a session
	// wrote, and another tree may have the same lockfile but other files.
	Accepted bool `json:"accepted"`
	// Apart says that its setup had caches apart from the project's, because its
	// tree was not committed. They stay its own when that is.
	Apart bool `json:"apart,omitempty"`
}

type layer struct {
	layerRecord
	name string // of its folder
}

// setupFiles are names of files, besides lockfiles and their manifests, that
// decide what setup makes.
var setupFiles = map[string]bool{
	".npmrc": true, ".yarnrc": true, ".yarnrc.yml": true, "pnpm-workspace.yaml": true, ".pnpmfile.cjs": true,
	".nvmrc": true, ".node-version": true, ".python-version": true, ".ruby-version": true, ".tool-versions": true,
	"setup.py": true, "setup.cfg": true, "environment.yml": true, "constraints.txt": true,
	"rust-toolchain": true, "rust-toolchain.toml": true, "pom.xml": true, "go.work": true,
	"settings.gradle": true, "settings.gradle.kts": true, "gradle.properties": true, "libs.versions.toml": true,
}

// toolchain are the programs whose versions are part of a layer's key.
var toolchain = []string{"go", "node", "npm", "pnpm", "yarn", "bun", "deno", "python3", "pip", "uv", "poetry", "cargo", "rustc", "ruby", "bundle", "php", "composer", "java", "mvn", "gradle", "dotnet", "mix"}

// layerKey returns the key of the setup layer that a tree needs. Trees with the
// same setup commands, lockfiles, manifests and toolchain have the same key, and
// so do files that the setup commands name.
func (w *Workspace) layerKey(ctx context.Context, tree string, setup []string) (string, error) {
	inputs, err := w.layerInputs(ctx, tree, setup)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	// A hash never fails to take bytes.
	add := func(parts ...string) { _, _ = io.WriteString(sum, strings.Join(parts, "\x00")+"\x00\n") }
	add(setup...)
	add(inputs)
	add(w.roomsDir()) // what setup makes may name its path, and the state folder can move
	add(boot())
	// Setup sees the room files. Their times tell a change: a hash of their
	// content would say something about it to whoever sees the name of a layer.
	files, err := w.roomFiles()
	if err != nil {
		return "", err
	}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		add(p, fmt.Sprint(files[p].Size(), files[p].ModTime().UnixNano()))
	}
	for _, name := range toolchain {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if program, err = filepath.EvalSymlinks(program); err != nil {
			continue
		}
		if info, err := os.Stat(program); err == nil {
			add(program, fmt.Sprint(info.Size(), info.ModTime().UnixNano()))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:12]), nil
}

// bootFile names the boot of the machine. Tests replace it.
var bootFile = "/proc/sys/kernel/random/boot_id"

// boot returns the name of the machine's boot, or "". Setup runs anew after one:
// programs do not force what they install to the disk, and a power failure would
// leave empty files in a layer. Forcing it ourselves would cost each layer
// seconds.
func boot() string {
	data, err := os.ReadFile(bootFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// layerInputs returns the files of a tree that decide what the setup commands
// make, as text.
func (w *Workspace) layerInputs(ctx context.Context, tree string, setup []string) (string, error) {
	asked := tree + "\x00" + strings.Join(setup, "\x00")
	if text, ok := w.inputs.get(asked); ok {
		return text, nil
	}
	words := map[string]bool{}
	for _, command := range setup {
		for _, word := range strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(" \t\n;&|<>()'\"`=$", c) }) {
			words[path.Clean(word)] = true
		}
	}
	entries, err := w.listTree(ctx, tree)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, e := range entries {
		base := path.Base(e.path)
		if isSetupInput(e.path) || setupFiles[base] || words[e.path] || words[runnerFiles[base]] {
			text.WriteString(e.path + "\x00" + e.mode + "\x00" + e.hash + "\n")
		}
	}
	if fullHash.MatchString(tree) {
		w.inputs.put(asked, text.String())
	}
	return text.String(), nil
}

// runnerFiles names, by the files in which they find what to do, programs that a
// setup command can begin with.
var runnerFiles = map[string]string{
	"Makefile": "make", "makefile": "make", "GNUmakefile": "make", "justfile": "just", "Justfile": "just",
	"Taskfile.yml": "task", "Taskfile.yaml": "task", "Rakefile": "rake", "mise.toml": "mise", ".mise.toml": "mise",
}

// layers returns the project's layers, the one used last first.
func (r *rooms) layers() ([]*layer, error) {
	entries, err := os.ReadDir(r.at(layersDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	used := map[*layer]int64{}
	var all []*layer
	for _, e := range entries {
		l := &layer{name: e.Name()}
		file := r.at(layersDir, l.name, layerFile)
		data, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(data, &l.layerRecord) != nil {
			continue // a crash left it without its record
		}
		if info, err := os.Stat(file); err == nil {
			used[l] = info.ModTime().UnixNano()
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *layer) int { return cmp.Compare(used[b], used[a]) })
	return all, nil
}

// find returns the layer for the tree, or nil. It sets the layer's time of use,
// under the lock that diskuse.Trim takes before it drops one.
func (r *rooms) find() (*layer, error) {
	unlock, err := fsutil.Lock(r.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	all, err := r.layers()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(l *layer) bool { return l.Key == r.key && (l.Accepted || l.Tree == r.tree) })
	if i < 0 {
		return nil, nil
	}
	if err := r.save(r.at(layersDir, all[i].name), all[i].layerRecord); err != nil {
		return nil, err
	}
	return all[i], nil
}

// save writes the record of the layer in a folder.
func (r *rooms) save(folder string, record layerRecord) error {
	data, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return fsutil.Replace(filepath.Join(folder, layerFile), data, 0o600)
}

// layerName returns the name of the layer that would be made.
func (r *rooms) layerName() string { return r.key + "-" + r.made[:12] }

// making returns the record of the layer whose setup is under way, or nil if
// none is, or one for another tree.
func (r *rooms) making() (*layerRecord, error) {
	data, err := os.ReadFile(r.in(makingDir, layerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var record layerRecord
	if err := json.Unmarshal(data, &record); err != nil || record.Key != r.key || record.Tree != r.made {
		return nil, nil //nolint:nilerr // a damaged record is as good as none
	}
	return &record, nil
}

// beginLayer lays the files that a layer is made of, and nothing else, where setup
// runs: in the room itself if rooms cannot be mounted.
func (r *rooms) beginLayer(ctx context.Context) error {
	if err := removeBelow(r.place, makingDir); err != nil {
		return err
	}
	if err := os.Mkdir(r.in(makingDir), 0o700); err != nil {
		return err
	}
	if r.w.o.SessionUID >= 0 {
		if err := os.Chmod(r.in(makingDir), 0o711); err != nil {
			return err
		}
	}
	if !r.mounts {
		if err := r.clear(); err != nil {
			return err
		}
	}
	f := r.makingFolder()
	if err := os.Mkdir(f.path(), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := r.w.checkout(ctx, f, r.made); err != nil {
		return err
	}
	head, err := r.w.newRoomGit(ctx, f, r.made, r.from)
	if err != nil {
		return err
	}
	if err := r.w.addRoomFiles(ctx, f.path(), r.made); err != nil {
		return err
	}
	if err := r.w.chownBelow(f.path()); err != nil {
		return err
	}
	return r.save(r.in(makingDir), layerRecord{Key: r.key, Tree: r.made, Commit: head, Accepted: r.accepted, Apart: !r.accepted})
}

// makingFolder is the folder in which a layer is made.
func (r *rooms) makingFolder() folder {
	if r.mounts {
		return folder{dir: r.in(makingDir), name: layerTree}
	}
	return folder{dir: r.place, name: roomDir}
}

// seal makes a layer of what setup left. Tracked files that setup changed are
// restored: a room holds the files of a commit. complete tells that every setup
// command has run; otherwise the layer is for this one use.
func (r *rooms) seal(ctx context.Context, complete bool) (*layer, error) {
	record, err := r.making()
	if err != nil || record == nil {
		return nil, errors.Join(errors.New("the layer that setup made is gone"), err)
	}
	f := r.makingFolder()
	if err := r.w.cleanLayer(f); err != nil {
		return nil, err
	}
	if err := r.w.checkout(ctx, f, r.made); err != nil {
		return nil, err
	}
	if err := r.w.removeRoomFiles(ctx, f.path(), r.made); err != nil {
		return nil, err
	}
	// Setup could write the .git that it found.
	if record.Commit, err = r.w.newRoomGit(ctx, f, r.made, r.from); err != nil {
		return nil, err
	}
	if !complete {
		record.Key, record.Accepted = "incomplete", false
	}
	if err := r.w.chownBelow(f.path()); err != nil {
		return nil, err
	}
	crash.Point("seal")
	if !r.mounts {
		// A crash may have left a part of the copy.
		if err := removeBelow(r.in(makingDir), layerTree); err != nil {
			return nil, err
		}
		if err := copytree.Copy(f.path(), r.in(makingDir, layerTree)); err != nil {
			return nil, err
		}
	}
	crash.Point("seal")
	// git's index names each file's time and size, so that later rooms need not
	// read them.
	if err := os.Rename(f.index(), r.in(makingDir, layerIndex)); err != nil {
		return nil, err
	}
	crash.Point("seal")
	l := &layer{layerRecord: *record, name: r.layerName()}
	if err := r.evict(l.name); err != nil {
		return nil, err
	}
	// Up to the rename a crash leaves a layer that is being made and can be sealed
	// again, and from then on a whole layer. A failure of setup must never look
	// like one of the tree.
	if err := r.save(r.in(makingDir), l.layerRecord); err != nil {
		return nil, err
	}
	crash.Point("seal")
	if err := os.Rename(r.in(makingDir), r.at(layersDir, l.name)); err != nil {
		return nil, err
	}
	crash.Point("seal")
	return l, nil
}

// laidElsewhere returns the names of the layers below the project's other rooms, in
// which checks may be under way.
func (r *rooms) laidElsewhere() (map[string]bool, error) {
	entries, err := os.ReadDir(r.root)
	if err != nil {
		return nil, err
	}
	places := []string{r.root}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ownDir) {
			places = append(places, r.at(e.Name()))
		}
	}
	names := map[string]bool{}
	for _, place := range places {
		var record roomRecord
		if data, err := os.ReadFile(filepath.Join(place, roomFile)); place != r.place && err == nil && json.Unmarshal(data, &record) == nil {
			names[record.Layer] = true
		}
	}
	return names, nil
}

// evict removes layers so that there is space for one more, and what crashes
// left.
func (r *rooms) evict(next string) error {
	all, err := r.layers()
	if err != nil {
		return err
	}
	keep, err := r.laidElsewhere()
	if err != nil {
		return err
	}
	for _, l := range all[:min(len(all), maxLayers-1)] {
		if l.Key != "incomplete" {
			keep[l.name] = true
		}
	}
	keep[next] = false
	entries, err := os.ReadDir(r.at(layersDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !keep[e.Name()] {
			// Without its record a layer that is half removed is none.
			if err := os.Remove(r.at(layersDir, e.Name(), layerFile)); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				return err
			}
			crash.Point("seal")
			if err := removeBelow(r.at(layersDir), e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}
