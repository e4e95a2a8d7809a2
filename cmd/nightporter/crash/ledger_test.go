package crash

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3" // to modify the ledger from outside

	"github.com/nightporter/nightporter/internal/programtest"
)

// TestVerifyFindsTampering: the owner of the file can drop its triggers, but
// verification still finds altered, deleted and truncated entries. It detects
// truncation by the heads recorded in the task commits (docs/spec 8.3).
func TestVerifyFindsTampering(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, query, want string
	}{
		{"a row", `UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), '"subject":"feat: Task 1', '"subject":"feat: Task 9') AS BLOB)
			WHERE type = 'task.committed' AND CAST(body AS TEXT) LIKE '%feat: Task 1%'`, "project/shop"},
		{"a row's time", `UPDATE entries SET time = '2020-01-01T00:00:00Z' WHERE type = 'task.committed'`, "project/shop"},
		{"a row that is gone", `DELETE FROM entries WHERE type = 'task.committed'`, "project/shop"},
		{"a cut tail", `DELETE FROM entries WHERE stream = 'project/shop' AND seq > (SELECT min(seq) FROM entries WHERE type = 'task.committed');
			UPDATE heads SET seq = (SELECT max(seq) FROM entries WHERE stream = 'project/shop'),
				hash = (SELECT hash FROM entries WHERE stream = 'project/shop' ORDER BY seq DESC LIMIT 1) WHERE stream = 'project/shop';
			DELETE FROM snapshots; DELETE FROM effects`, "as commit "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := programtest.NewTwoTasks(t)
			n.Through("")
			n.Out("nightporter", "verify")
			db, err := sql.Open("sqlite3", filepath.Join(n.State(), "nightporter.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			if _, err := db.Exec(c.query); err == nil {
				t.Error("the database let it through")
			}
			for _, trigger := range []string{"entries_no_update", "entries_no_delete", "entries_next_only", "entries_head"} {
				if _, err := db.Exec("DROP TRIGGER " + trigger); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := db.Exec(c.query); err != nil {
				t.Fatal(err)
			}
			out, code, err := n.Output("nightporter", "verify")
			if err != nil || code != 1 || !strings.Contains(out, "ledger altered") || !strings.Contains(out, c.want) {
				t.Errorf("exit %d, %v\n%s", code, err, out)
			}
			out, code, _ = n.Output("nightporter", "verify", "--json")
			if code != 1 || !strings.Contains(out, `"ok":false`) {
				t.Errorf("--json: exit %d\n%s", code, out)
			}
		})
	}
}
