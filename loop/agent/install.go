package agent

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Names of the programs in STATE/bin/HASH.
const (
	programSelf = "nightporter"
	programHat  = "hat"
	programShim = "nightporter-shim"
)

// install copies hat and the supervisor to STATE/bin/HASH and returns that folder;
// for what is not given, nightporter and a link to it, and nightporter also for `hat
// mcp`, which becomes the program beside it. The hash is that of their build
// ids, or of their content where one has none. Sessions use this copy, because they
// outlive the daemon and its release, and because `go run` deletes its program at
// exit.
func install(o Options) (string, error) {
	files, links, err := programs(o)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, n := range slices.Sorted(maps.Keys(files)) {
		if _, err := io.WriteString(sum, n+"\x00"); err != nil {
			return "", err
		}
		if err := identify(sum, files[n]); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(o.State, "bin", hex.EncodeToString(sum.Sum(nil)[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil // the folder is renamed into place, so it is complete
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // after the rename it no longer exists
	for n, from := range files {
		if err := copyProgram(filepath.Join(tmp, n), from); err != nil {
			return "", err
		}
	}
	for _, n := range links {
		if err := os.Symlink(programSelf, filepath.Join(tmp, n)); err != nil {
			return "", err
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", err
	}
	if err := fsutil.SyncDir(tmp); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, statErr := os.Stat(dir); statErr == nil {
			return dir, nil // another process has installed the same content
		}
		return "", err
	}
	return dir, fsutil.SyncDir(parent)
}

// programs returns what install copies, by name, and the names of links to
// nightporter.
func programs(o Options) (files map[string]string, links []string, err error) {
	files = map[string]string{}
	for name, path := range map[string]string{programHat: o.Hat, programShim: o.Shim} {
		if path == "" {
			links = append(links, name)
		} else {
			files[name] = path
		}
	}
	if len(links) == 0 && !offersMCP(o.Agents) {
		return files, nil, nil
	}
	if files[programSelf] = o.Self; o.Self == "" {
		files[programSelf], err = os.Executable()
	}
	return files, links, err
}

// offersMCP reports whether an agent is offered the verbs of hat as tools of MCP.
func offersMCP(agents map[string]Definition) bool {
	for _, d := range agents {
		if d.MCP {
			return true
		}
	}
	return false
}

// reinstall makes the copies of New again if they are gone: STATE/bin may be deleted.
// Where this program's file was replaced meanwhile, its old content is read from the
// process.
func (r *Runner) reinstall() error {
	if _, err := os.Stat(r.shim()); !errors.Is(err, fs.ErrNotExist) {
		return nil // whatever else is wrong is found by what needs the program
	}
	for _, self := range []string{r.o.Self, "/proc/self/exe"} {
		o := r.o
		o.Self = self
		if dir, err := install(o); err == nil && dir == r.bin {
			return nil
		}
	}
	return missingPrograms(r.bin)
}

// missingPrograms is the error of a folder of programs that cannot be made again: the
// release was replaced, and the next start makes the folder of that one.
type missingPrograms string

func (m missingPrograms) Error() string {
	return fmt.Sprintf("%s is gone and cannot be made again, because another release is installed: start nightporter again", string(m))
}

// Fault makes missingPrograms a fault.Error of internal/fault.
func (missingPrograms) Fault() ledger.Fault { return ledger.FaultMachine }

// identify writes what tells a program from others: the build id that go build gave
// it, or else its content. Each start of a daemon identifies 30 MB of programs.
func identify(w io.Writer, path string) error {
	if id := buildID(path); id != nil {
		_, err := w.Write(id)
		return err
	}
	return readInto(w, path)
}

// buildID returns the build id in the notes of a Go program: hashes of all that went
// into it and of what came of that. It is nil for any other program, and for one that
// was built without an id.
func buildID(path string) []byte {
	program, err := elf.Open(path)
	if err != nil {
		return nil // a script
	}
	defer func() { _ = program.Close() }()
	note := program.Section(".note.go.buildid")
	if note == nil {
		return nil
	}
	const header = 16 // three numbers of four bytes, and the name "Go"
	data, err := note.Data()
	if err != nil || len(data) <= header {
		return nil
	}
	return data[header:]
}

func readInto(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(w, f)
	return err
}

func copyProgram(to, from string) error {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if err := readInto(out, from); err != nil {
		return errors.Join(fmt.Errorf("copy %s: %w", from, err), out.Close())
	}
	// The umask restricts the mode given at creation, so Chmod sets it again.
	return errors.Join(out.Chmod(0o755), out.Sync(), out.Close())
}
