package workspace

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/crash"
	"github.com/nightporter/nightporter/loop/ledger"
)

// crashCall is what the process of TestSealCrash does until it dies.
type crashCall struct {
	State  string
	Repo   string
	Mounts bool
	Use    ledger.RoomUse
}

const crashCallEnv = "NIGHTPORTER_TEST_LAY_ROOM"

// TestSealCrash ends the process at each point of sealing a layer while an older
// one goes. The room is then laid as if nothing had happened: setup is not run
// again and not missing, and no layer that is left is half removed.
func TestSealCrash(t *testing.T) {
	if text := os.Getenv(crashCallEnv); text != "" {
		var c crashCall
		must(t, json.Unmarshal([]byte(text), &c))
		w, err := Open(t.Context(), Options{State: c.State, Repo: c.Repo, Project: "shop", SessionUID: -1, SessionGID: -1, Mounts: func() bool { return c.Mounts }})
		must(t, err)
		_, err = w.LayRoom(t.Context(), c.Use, true)
		must(t, err)
		return
	}
	bothWays(t, func(t *testing.T, mounts bool) {
		r := newRoomWorld(t, mounts)
		r.setup(r.use)
		r.lay(r.use, true)
		// Older layers, of which one has to go.
		command(t, filepath.Join(r.w.roomsDir(), layersDir), fmt.Sprintf(`layer=$(ls)
for n in $(seq %d); do cp -a $layer old$n; sed -i "s/\"key\":\"/\"key\":\"$n/" old$n/layer.json; touch -d "-$n hours" old$n/layer.json; done`, maxLayers-1))
		use := ledger.RoomUse{Tree: r.tree("echo 'module other' >go.mod"), Parent: r.base.Commit, Setup: r.use.Setup}
		r.setup(use)
		command(t, r.w.roomsDir(), "cp -a . ../saved")
		points := 0
		for point := 1; ; point++ {
			if !mounts && point > 2 && os.Getenv("NIGHTPORTER_SOAK") == "" {
				t.Log("NIGHTPORTER_SOAK=1 tries the points behind the copy, too: they are those of mounted rooms")
				return
			}
			command(t, r.w.o.State, "rm -rf rooms/shop; cp -a rooms/saved rooms/shop")
			text, err := json.Marshal(crashCall{State: r.w.o.State, Repo: r.w.o.Repo, Mounts: mounts, Use: use})
			must(t, err)
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSealCrash$")
			cmd.Env = append(os.Environ(), crashCallEnv+"="+string(text), fmt.Sprintf("%s=seal:%d", crash.Env, point))
			out, err := cmd.CombinedOutput()
			if err == nil {
				break // there is no such point
			}
			if !strings.Contains(string(out), "signal killed") { // as package leaktest says it
				t.Fatalf("%v\n%s", err, out)
			}
			points++
			if got := inRoom(t, r.lay(use, true), "cat node_modules/from dist/out"); got != "module other\ngenerated" {
				t.Errorf("after a crash at point %d the room shows %q", point, got)
			}
			records, err := filepath.Glob(filepath.Join(r.w.roomsDir(), layersDir, "*", layerFile))
			must(t, err)
			for _, record := range records {
				if left := command(t, filepath.Dir(record), "cat tree/node_modules/from tree/README.md; ls tree/cart index | wc -l"); !strings.HasSuffix(left, "A shop.\n5") {
					t.Errorf("after a crash at point %d %s holds\n%s", point, filepath.Dir(record), left)
				}
			}
		}
		if points < 5 {
			t.Errorf("only %d points were passed", points)
		}
	})
}
