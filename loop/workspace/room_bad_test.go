package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestRoomAfterCrash lays rooms anew over what a crash left at any point: a half
// layer, a half room, and records that are damaged.
func TestRoomAfterCrash(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		for name, damage := range map[string]string{
			"half layer":      `rm -rf layers/*; mkdir -p making/tree/half; echo x >making/tree/half/x`,
			"layer's record":  `for l in layers/*; do echo '{' >$l/layer.json; done`,
			"no record":       `rm layers/*/layer.json`,
			"record of room":  `echo '{"tree"' >room.json; echo left >upper/left || true`,
			"half room":       `rm -f room.json; mkdir -p upper/half room/half; echo x >upper/half/x`,
			"half room files": `mkdir -p files.new; echo x >files.new/x`,
			"nothing":         `rm -rf ../shop/*`,
		} {
			t.Run(name, func(t *testing.T) {
				r := newRoomWorld(t, mounts)
				r.setup(r.use)
				r.lay(r.use, true)
				inRoom(t, ledger.Room{Dir: r.w.roomsDir()}, damage)
				r.setup(r.use)
				if got := inRoom(t, r.lay(r.use, true), "ls -A; cat node_modules/from dist/out"); strings.Contains(got, "half") || strings.Contains(got, "left") || !strings.Contains(got, "module shop\ngenerated") {
					t.Errorf("the room shows:\n%s", got)
				}
			})
		}
	})
}

// TestRoomPaths lays rooms below a state folder whose path has characters that
// mount options give a meaning.
func TestRoomPaths(t *testing.T) {
	r := newRoomWorld(t, false, func(o *Options) {
		o.State = filepath.Join(o.State, `a b:c,d=e\f'g"h`)
		if err := os.MkdirAll(o.State, 0o755); err != nil {
			t.Fatal(err)
		}
	})
	room, err := r.w.SetupRoom(t.Context(), r.use, 0)
	if err != nil || room.Dir != filepath.Join(r.w.roomsDir(), roomDir) {
		t.Fatal(room, err)
	}
	if _, err := os.Stat(filepath.Join(r.lay(r.use, true).Dir, "README.md")); err != nil {
		t.Error(err)
	}
}
