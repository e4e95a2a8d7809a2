package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace"
)

// A setup layer like a large node_modules: 40,000 files of 300 MB in all.
const (
	layerFolders = 400
	layerFiles   = 100 // in each
	layerBytes   = 7860
)

// roomFixture is a repository with a layer and a tree that differs from it in
// three files.
type roomFixture struct {
	b    *testing.B
	w    *workspace.Workspace
	work string // a checkout of the same repository
	use  []ledger.RoomUse
}

// newRoomFixture makes a repository with files, by path, and a layer to which
// setup adds what it writes into the folder that it is given.
func newRoomFixture(b *testing.B, mounts bool, files map[string]string, setup func(dir string)) *roomFixture {
	b.Helper()
	f := &roomFixture{b: b, work: filepath.Join(b.TempDir(), "repo")}
	for name, text := range files {
		f.write(filepath.Join(f.work, name), text)
	}
	commitAll(b, f.work)
	var err error
	f.w, err = workspace.Open(b.Context(), workspace.Options{
		State: b.TempDir(), Project: "shop", Repo: f.work, SessionUID: -1, SessionGID: -1, Mounts: func() bool { return mounts },
	})
	if err != nil {
		b.Fatal(err)
	}
	base, err := f.w.Begin(b.Context(), ledger.Begin{Run: "r1"})
	if err != nil {
		b.Fatal(err)
	}
	start := ledger.RoomUse{Tree: base.Commit, Setup: []string{"npm ci"}}
	room, err := f.w.SetupRoom(b.Context(), start, 0)
	if err != nil {
		b.Fatal(err)
	}
	dir := room.Dir
	if mounts {
		dir = room.Mounts[0].Upper
	}
	setup(dir)
	f.lay(start)
	// Two trees in turns: each differs from the layer and from the room before.
	for n := range 2 {
		if err := f.w.Restore(b.Context(), ledger.WorkUse{Run: "r1", Lanes: 1, Tree: base.Tree}); err != nil {
			b.Fatal(err)
		}
		for _, name := range []string{"one.txt", "two.txt", "three/new.txt"} {
			f.write(filepath.Join(f.w.Work(ledger.WorkUse{Run: "r1", Lanes: 1}).Dir, name), fmt.Sprintf("changed %d\n", n))
		}
		taken, err := f.w.Capture(b.Context(), ledger.CaptureRequest{
			Run: "r1", Session: fmt.Sprintf("r1-%d", n), Ref: fmt.Sprintf("refs/nightporter/shop/r1/task-%d/a1/s1", n),
			Input: base.Tree, Start: base.Tree, StartRev: base.Commit, Scope: ledger.Scope{Allowed: []string{"**"}},
		})
		if err != nil {
			b.Fatal(err)
		}
		f.use = append(f.use, ledger.RoomUse{Tree: taken.Tree, Parent: base.Commit, Setup: start.Setup})
	}
	return f
}

func (f *roomFixture) write(file, text string) {
	f.b.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		f.b.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		f.b.Fatal(err)
	}
}

func (f *roomFixture) lay(use ledger.RoomUse) ledger.Room {
	f.b.Helper()
	room, err := f.w.LayRoom(f.b.Context(), use, true)
	if err != nil {
		f.b.Fatal(err)
	}
	return room
}

// BenchmarkRoom lays a room over a setup layer of 40,000 files for a tree that
// differs in three files, as the upper folder of an overlay and as a copy. The
// baseline is one start of git, of which laying needs several.
//
// Figure: 50 ms over an overlay.
func BenchmarkRoom(b *testing.B) {
	files := map[string]string{"one.txt": "one\n", "two.txt": "two\n", "package-lock.json": "{}\n", ".gitignore": "node_modules/\n"}
	for _, way := range []string{"overlay", "copy"} {
		b.Run(way, func(b *testing.B) {
			f := newRoomFixture(b, way == "overlay", files, func(dir string) {
				text := bytes.Repeat([]byte("x"), layerBytes)
				for d := range layerFolders {
					at := filepath.Join(dir, "node_modules", fmt.Sprint("package", d))
					if err := os.MkdirAll(at, 0o755); err != nil {
						b.Fatal(err)
					}
					for n := range layerFiles {
						if err := os.WriteFile(filepath.Join(at, fmt.Sprint(n, ".js")), text, 0o644); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
			var lays, starts []time.Duration
			for n := 0; b.Loop(); n++ {
				if way == "copy" && n >= 5 { // 300 MB each
					continue
				}
				began := time.Now()
				runGit(b, f.work, "version")
				starts = append(starts, time.Since(began))
				began = time.Now()
				f.lay(f.use[n%2])
				lays = append(lays, time.Since(began))
			}
			lay, high := median(lays)
			start, _ := median(starts)
			b.ReportMetric(ms(lay), "lay-ms")
			b.ReportMetric(ms(high), "lay-p95-ms")
			b.ReportMetric(ms(start), "git-ms")
			b.ReportMetric(float64(lay)/float64(start), "lay/git")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkVerify runs the tests of 50 Go packages, and of a node package with
// node_modules in the layer, in a room over an overlay and in turns in an ordinary
// folder. Both are warm.
//
// Figure: the room takes at most 1.05 times as long.
func BenchmarkVerify(b *testing.B) {
	for _, c := range []struct {
		name, command string
		files         map[string]string
		rounds        int
	}{
		{"go", "go test ./...", goFiles(), 10},
		{"node", "npm test --silent", nodeFiles(), 10},
	} {
		b.Run(c.name, func(b *testing.B) {
			if program := strings.Fields(c.command)[0]; !found(program) {
				b.Skipf("SKIPPED: no %s here", program)
			}
			modules := func(dir string) {
				for n := range 200 {
					at := filepath.Join(dir, "node_modules", fmt.Sprint("m", n), "index.js")
					if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
						b.Fatal(err)
					}
					if err := os.WriteFile(at, []byte(fmt.Sprintf("module.exports = %d\n", n)), 0o644); err != nil {
						b.Fatal(err)
					}
				}
			}
			f := newRoomFixture(b, true, c.files, modules)
			modules(f.work)
			for _, name := range []string{"one.txt", "two.txt", "three/new.txt"} {
				f.write(filepath.Join(f.work, name), "changed 0\n")
			}
			room := f.lay(f.use[0])
			caches := append(os.Environ(), "GOCACHE="+filepath.Join(b.TempDir(), "gocache"), "GOFLAGS=-vet=off")
			timed := func(dir, script string) time.Duration {
				cmd := exec.CommandContext(b.Context(), "unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", script)
				cmd.Dir, cmd.Env = dir, caches
				began := time.Now()
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Skipf("SKIPPED: no overlays here, or the tests failed: %v\n%s", err, out)
				}
				return time.Since(began)
			}
			m := room.Mounts[0]
			inRoom := fmt.Sprintf("mount -t overlay overlay -o 'lowerdir=%s,upperdir=%s,workdir=%s,userxattr' '%s'; cd '%s'; %s",
				strings.Join(m.Lower, ":"), m.Upper, m.Work, m.At, m.At, c.command)
			inWork := "mount --bind . .; " + c.command
			for range 2 { // warm
				timed(room.Dir, inRoom)
				timed(f.work, inWork)
			}
			var rooms, works []time.Duration
			for n := 0; b.Loop(); n++ {
				if n < c.rounds {
					works = append(works, timed(f.work, inWork))
					rooms = append(rooms, timed(room.Dir, inRoom))
				}
			}
			inARoom, _ := median(rooms)
			inAFolder, _ := median(works)
			b.ReportMetric(ms(inARoom), "room-ms")
			b.ReportMetric(ms(inAFolder), "folder-ms")
			b.ReportMetric(float64(inARoom)/float64(inAFolder), "room/folder")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func found(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func goFiles() map[string]string {
	files := map[string]string{"one.txt": "one\n", "two.txt": "two\n", ".gitignore": "node_modules/\n", "go.mod": "module example.com/many\n\ngo 1.21\n"}
	for n := range 50 {
		files[fmt.Sprintf("p%d/p.go", n)] = fmt.Sprintf("package p%d\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n", n)
		files[fmt.Sprintf("p%d/p_test.go", n)] = fmt.Sprintf("package p%d\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestAdd(t *testing.T) {\n\tif _, err := os.ReadFile(\"p.go\"); err != nil || Add(1, 2) != 3 {\n\t\tt.Fatal(err)\n\t}\n}\n", n)
	}
	return files
}

func nodeFiles() map[string]string {
	files := map[string]string{"one.txt": "one\n", "two.txt": "two\n", ".gitignore": "node_modules/\n", "package.json": `{"name":"many","version":"1.0.0","scripts":{"test":"node --test"}}` + "\n", "package-lock.json": "{}\n"}
	for n := range 10 {
		files[fmt.Sprintf("test/t%d.test.js", n)] = fmt.Sprintf("const test = require('node:test')\nconst assert = require('node:assert')\ntest('sum', () => { let s = 0; for (let i = %d; i < 200; i += 10) s += require('m' + i); assert.ok(s >= 0) })\n", n)
	}
	return files
}
