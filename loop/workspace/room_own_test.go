package workspace

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestOwnRooms lets checks of two lanes run at the same time, each in a room of its own,
// beside the one that others have in turn: each sees its own tree and what setup made,
// and none what another one writes, also while layers of other trees are made.
func TestOwnRooms(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		r := newRoomWorld(t, mounts)
		r.setup(r.use)
		own := func(lane int, change string) ledger.RoomUse {
			return ledger.RoomUse{Tree: r.tree(change), Parent: r.base.Commit, Setup: r.use.Setup, Own: lane}
		}
		uses := []ledger.RoomUse{r.use, own(1, "echo one >who"), own(2, "echo two >who; echo 'module two' >go.mod")}
		dir := t.TempDir()
		begun, laid := filepath.Join(dir, "begun"), filepath.Join(dir, "laid")
		results := make([]chan string, len(uses))
		for n, use := range uses {
			r.setup(use)
			room := r.lay(use, true)
			results[n] = make(chan string, 1)
			for _, pipe := range []string{begun, laid} {
				must(t, unix.Mkfifo(fmt.Sprint(pipe, n), 0o600))
			}
			go func() {
				defer close(results[n])
				results[n] <- inRoom(t, room, fmt.Sprintf(`echo >'%s%d'; read _ <'%s%d'; cd '%s'; cat who 2>/dev/null || echo none; cat node_modules/from; test ! -e left; echo %d >left; cat left`, begun, n, laid, n, room.Dir, n))
			}()
			readFile(t, dir, fmt.Sprint("begun", n))
		}
		// Meanwhile a third lane needs one setup after the other.
		for n := range 2 * maxLayers {
			use := own(3, fmt.Sprintf("echo 'module m%d' >go.mod", n))
			r.setup(use)
			r.lay(use, true)
		}
		for n, want := range []string{"none module shop 0", "one module shop 1", "two module two 2"} {
			writeFile(t, dir, fmt.Sprint("laid", n), "\n")
			if got := strings.Join(strings.Fields(<-results[n]), " "); got != want {
				t.Errorf("the check in room %d saw %q, want %q", n, got, want)
			}
		}
		// A second command of the same check finds what the first one left.
		for n, use := range uses {
			if got := inRoom(t, r.lay(use, false), "cat left"); got != fmt.Sprint(n) {
				t.Errorf("the second command in room %d sees %q", n, got)
			}
		}
	})
}
