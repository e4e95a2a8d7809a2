package crash

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

// attacker changes copies of a state folder with the rights of its owner, and
// leaves the triggers as they were.
type attacker struct {
	programtest.TwoTasks
	state string // the copy
}

// copyState copies the state folder of a run that ended.
func copyState(t *testing.T, n programtest.TwoTasks, name string) attacker {
	t.Helper()
	n.T = t
	a := attacker{n, n.Path("copy-" + name)}
	n.Out("cp", "-a", n.State(), a.state)
	return a
}

// tamper runs do on the database without its triggers, and puts them back.
func (a attacker) tamper(do func(db *sql.DB)) {
	a.T.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(a.state, "nightporter.db"))
	if err != nil {
		a.T.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	defs := map[string]string{}
	for _, name := range []string{"entries_no_update", "entries_no_delete", "entries_next_only", "entries_head"} {
		var def string
		if err := db.QueryRow(`SELECT sql FROM sqlite_schema WHERE name = ?`, name).Scan(&def); err != nil {
			a.T.Fatal(err)
		}
		defs[name] = def
		a.exec(db, "DROP TRIGGER "+name)
	}
	do(db)
	for _, def := range defs {
		a.exec(db, def)
	}
}

func (a attacker) exec(db *sql.DB, query string, args ...any) {
	a.T.Helper()
	r, err := db.Exec(query, args...)
	if err != nil {
		a.T.Fatalf("%s: %v", query, err)
	}
	if n, _ := r.RowsAffected(); strings.HasPrefix(query, "UPDATE") && n == 0 {
		a.T.Fatalf("%s: nothing changed", query)
	}
}

// rehash makes a stream consistent again: every hash, the record of its head, and
// no other trace of the hashes before.
func (a attacker) rehash(db *sql.DB, stream string) {
	a.T.Helper()
	rows, err := db.Query(`SELECT seq, time, type, v, run, task, attempt, session, actor, cause, body FROM entries WHERE stream = ? ORDER BY seq`, stream)
	if err != nil {
		a.T.Fatal(err)
	}
	type link struct {
		seq        int64
		prev, hash []byte
	}
	var links []link
	prev := []byte{}
	for rows.Next() {
		var seq, v int64
		var body []byte
		f := make([]string, 8)
		if err := rows.Scan(&seq, &f[0], &f[1], &v, &f[2], &f[3], &f[4], &f[5], &f[6], &f[7], &body); err != nil {
			a.T.Fatal(err)
		}
		fields := [][]byte{prev, []byte(stream), number(seq), []byte(f[0]), []byte(f[1]), number(v)}
		for _, s := range f[2:] {
			fields = append(fields, []byte(s))
		}
		h := sha256.New()
		h.Write([]byte("nightporter entry 1\n"))
		for _, field := range append(fields, body) {
			h.Write(number(int64(len(field))))
			h.Write(field)
		}
		hash := h.Sum(nil)
		links = append(links, link{seq, prev, hash})
		prev = hash
	}
	if err := rows.Close(); err != nil {
		a.T.Fatal(err)
	}
	for _, l := range links {
		a.exec(db, `UPDATE entries SET prev = ?, hash = ? WHERE stream = ? AND seq = ?`, l.prev, l.hash, stream, l.seq)
	}
	last := links[len(links)-1]
	a.exec(db, `UPDATE heads SET seq = ?, hash = ? WHERE stream = ?`, last.seq, last.hash, stream)
	a.exec(db, `DELETE FROM effects WHERE stream = ?`, stream)
	a.exec(db, `DELETE FROM snapshots WHERE stream = ?`, stream)
}

func number(n int64) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	return b[:]
}

// np runs a command on the copy and checks its exit code and parts of its output.
func (a attacker) np(code int, want []string, args ...string) string {
	a.T.Helper()
	out, got, err := a.Output("nightporter", append(args, "--state", a.state)...)
	if err != nil || got != code {
		a.T.Errorf("nightporter %s: exit %d, %v, want %d\n%s", strings.Join(args, " "), got, err, code, out)
	}
	for _, w := range want {
		if ok, err := regexp.MatchString(w, out); err != nil || !ok {
			a.T.Errorf("nightporter %s: no %q (%v) in\n%s", strings.Join(args, " "), w, err, out)
		}
	}
	return out
}

// lie changes what was run to verify the first task.
const lie = `UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), 'verify.sh', 'better.sh') AS BLOB)
	WHERE type = 'evidence' AND task = 'Task 1' AND CAST(body AS TEXT) LIKE '%verify.sh%'`

// TestLedgerProvesItself alters the ledger of one run in every way that its
// commits, its snapshots or a kept head can show, and asks the real program.
func TestLedgerProvesItself(t *testing.T) {
	t.Parallel()
	n := programtest.NewTwoTasks(t)
	n.Through("")
	footers := regexp.MustCompile(`(?m)^Nightporter-Head: (project/shop@(\d+):([0-9a-f]{64}))$`).FindAllStringSubmatch(n.Out("git", "-C", "repo", "log", "--format=%B", "nightporter/shop/r1"), -1)
	if len(footers) != 2 {
		t.Fatalf("%d heads in the commits, want 2", len(footers))
	}
	newest := footers[0]

	t.Run("whole", func(t *testing.T) {
		a := copyState(t, n, "whole")
		a.np(0, []string{"ledger whole, checked against 2 commits", `house: \d+ entries folded anew`, `project/shop: \d+ entries folded anew`}, "verify")
		out := a.np(0, []string{`"ok":true,"anchors":2,"breaks":\[\],"streams":\[\{"stream":"house","entries":\d+,"folded":true,"snapshot":\d+,"snapshot_ok":true,"state_ok":true\}`}, "verify", "--json")
		if strings.Contains(out, "unchecked") || strings.Contains(out, "commits") {
			t.Errorf("verify --json: %s", out)
		}
		a.np(0, []string{`shop #1 evidence: passed`, `Chain whole to entry ` + newest[2] + ` \(commit [0-9a-f]{7}\)`}, "evidence", "1")
		lines := strings.Split(strings.TrimSpace(a.np(0, nil, "evidence", "1", "--json")), "\n")
		var last struct {
			Chain struct {
				Recomputed, Whole bool
				End, Named        int64
				Commit            string
			}
		}
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || !last.Chain.Recomputed || !last.Chain.Whole || last.Chain.End <= last.Chain.Named || len(last.Chain.Commit) != 40 {
			t.Errorf("the last line of --json is %s, %v", lines[len(lines)-1], err)
		}
	})

	t.Run("heads that were kept", func(t *testing.T) {
		a := copyState(t, n, "heads")
		digest := regexp.MustCompile(`Ledger (\d+:[0-9a-f]{12})`).FindStringSubmatch(a.np(0, nil, "digest"))
		if digest == nil {
			t.Fatal("the digest shows no head")
		}
		a.np(0, []string{"it is the entry of project/shop"}, "verify", "--head", digest[1], "--head", newest[0], "--head", "shop@"+newest[2]+":"+newest[3][:12], "--project", "shop")
		a.np(1, []string{`project/shop entry ` + newest[2] + ` has hash ` + newest[3][:8] + `, you gave 00000000: the ledger was rewritten or cut before entry ` + newest[2]}, "verify", "--head", newest[2]+":00000000", "--head", digest[1])
		a.np(1, []string{`"ok":false`, `"heads":\[\{"head":"99999:9f86d081884c","stream":"project/shop","ok":false\}\]`, "project/shop ends with entry"}, "verify", "--json", "--head", "99999:9f86d081884c")
		a.np(1, []string{"no entries of project/blog"}, "verify", "--head", "blog@4:9f86d081884c")
		a.np(1, []string{"this ledger has no project blog"}, "verify", "--head", digest[1], "--project", "blog")
		for _, bad := range []string{"", "41", "41:xyz", "41 9f86d081884c", "latest"} {
			a.np(3, []string{"is not a head of the ledger", "41:9f86d081884c"}, "verify", "--head", bad)
		}
		a.tamper(func(db *sql.DB) { a.exec(db, lie); a.rehash(db, "project/shop") })
		a.np(1, []string{"has hash"}, "verify", "--head", digest[1])
	})

	t.Run("a changed row", func(t *testing.T) {
		a := copyState(t, n, "row")
		a.tamper(func(db *sql.DB) { a.exec(db, lie) })
		a.np(1, []string{"ledger altered", `Entry \d+: it was changed after it was written`, "Do not trust what stands above"}, "evidence", "1")
		a.np(1, []string{`\{"chain":\{"recomputed":true,"whole":false,.*"break":\{"seq":\d+,"text":"it was changed`, `"type":"claim"`}, "evidence", "1", "--json")
		a.np(1, []string{`project/shop entry \d+: it was changed`}, "verify")
	})

	t.Run("a row that cannot be read", func(t *testing.T) {
		a := copyState(t, n, "unreadable")
		a.tamper(func(db *sql.DB) {
			a.exec(db, `UPDATE entries SET body = x'ff' WHERE stream = 'project/shop' AND seq = 3`)
			a.exec(db, `DELETE FROM snapshots`)
		})
		a.np(1, []string{`project/shop entry 3: it was changed`}, "verify")
	})

	t.Run("a row given to another task", func(t *testing.T) {
		a := copyState(t, n, "moved")
		a.tamper(func(db *sql.DB) {
			a.exec(db, `UPDATE entries SET task = 'Task 9' WHERE stream = 'project/shop' AND task = 'Task 1'`)
		})
		a.np(1, []string{"ledger altered", "Do not trust"}, "evidence", "1")
	})

	t.Run("rewritten with hashes", func(t *testing.T) {
		a := copyState(t, n, "rewritten")
		a.tamper(func(db *sql.DB) { a.exec(db, lie); a.rehash(db, "project/shop") })
		a.np(1, []string{"ledger altered", `Entry \d+: it is not the entry that commit [0-9a-f]{12} names`}, "evidence", "1")
		a.np(1, []string{`it is not the entry that commit [0-9a-f]{12} names`}, "verify")
		// nightporter's own repository is in the attacker's reach as well.
		if err := os.RemoveAll(filepath.Join(a.state, "repos")); err != nil {
			t.Fatal(err)
		}
		a.np(1, []string{`it is not the entry that commit [0-9a-f]{12} names`, "not checked: shop: nightporter's repository does not exist"}, "verify")
	})

	t.Run("the shared stream", func(t *testing.T) {
		a := copyState(t, n, "house")
		a.tamper(func(db *sql.DB) {
			a.exec(db, `UPDATE entries SET body = CAST(body || ' ' AS BLOB) WHERE stream = 'house' AND seq = 1`)
			a.rehash(db, "house")
		})
		a.np(1, []string{`house entry \d+: it is not the entry that entry \d+ of project/shop names`}, "verify")
		a.np(0, []string{"Chain whole"}, "evidence", "1")
	})

	const forge = `UPDATE snapshots SET body = CAST(replace(CAST(body AS TEXT), 'Second', 'Forged') AS BLOB) WHERE stream = 'project/shop'`
	t.Run("a snapshot", func(t *testing.T) {
		a := copyState(t, n, "snapshot")
		a.tamper(func(db *sql.DB) { a.exec(db, forge) })
		if out := a.np(1, []string{"project/shop: its stored snapshot is not what its entries give", `ledger altered: 1 place\n`}, "verify"); strings.Contains(out, "restore") {
			t.Errorf("what is mended by itself needs no backup:\n%s", out)
		}
		a.np(0, []string{"Second"}, "tasks")
		a.np(0, []string{"ledger whole"}, "verify")
		log, err := os.ReadFile(filepath.Join(a.state, "nightporter.log"))
		if err != nil || strings.Count(string(log), "snapshot thrown away") != 1 {
			t.Errorf("the log, which has to say once that the snapshot was thrown away: %v\n%s", err, log)
		}
	})
	t.Run("a snapshot, shown first", func(t *testing.T) {
		a := copyState(t, n, "snapshot-first")
		a.tamper(func(db *sql.DB) { a.exec(db, forge) })
		if out := a.np(0, []string{"Second"}, "tasks"); strings.Contains(out, "Forged") {
			t.Errorf("the altered snapshot is shown:\n%s", out)
		}
	})
	t.Run("a snapshot with its sum", func(t *testing.T) {
		a := copyState(t, n, "snapshot-sum")
		a.tamper(func(db *sql.DB) {
			a.exec(db, forge)
			var seq, version int64
			var hash, body []byte
			if err := db.QueryRow(`SELECT seq, version, hash, body FROM snapshots WHERE stream = 'project/shop'`).Scan(&seq, &version, &hash, &body); err != nil {
				t.Fatal(err)
			}
			h := sha256.New()
			h.Write([]byte("nightporter snapshot 1\n"))
			for _, part := range [][]byte{number(int64(len("project/shop"))), number(seq), number(version), []byte("project/shop"), hash, body} {
				h.Write(part)
			}
			a.exec(db, `UPDATE snapshots SET sum = ? WHERE stream = 'project/shop'`, h.Sum(nil))
		})
		a.np(1, []string{"its stored snapshot is not what its entries give", "what status and tasks show is not what its entries give"}, "verify")
		a.np(0, []string{"Second"}, "tasks")
		a.np(0, []string{"ledger whole"}, "verify")
	})

	t.Run("a commit by somebody else", func(t *testing.T) {
		a := copyState(t, n, "foreign")
		a.Out("git", "-C", "repo", "commit", "-q", "--allow-empty", "-m", "Mine", "-m", "Nightporter-Head: project/shop@2:"+strings.Repeat("0", 64))
		a.np(0, []string{"checked against 2 commits", `! commit [0-9a-f]{12}, not made by nightporter, names a head that this ledger does not have`}, "verify")
		a.np(0, []string{`"foreign":\["[0-9a-f]{40}"\]`}, "verify", "--json")
		a.Out("git", "-C", "repo", "reset", "-q", "--hard", "HEAD~1")
	})

	// The last ones change the user's repository, which all copies share.
	t.Run("a deleted branch", func(t *testing.T) {
		a := copyState(t, n, "branch")
		a.Out("git", "-C", "repo", "merge", "-q", "nightporter/shop/r1")
		a.Out("git", "-C", "repo", "branch", "-d", "nightporter/shop/r1")
		if out := a.np(0, []string{"checked against 2 commits"}, "verify"); strings.Contains(out, "deleted") {
			t.Errorf("merged, and said to be deleted:\n%s", out)
		}
		// A tail that was cut shows against the merged commits alone.
		b := copyState(t, n, "cut")
		b.tamper(func(db *sql.DB) {
			b.exec(db, `DELETE FROM entries WHERE stream = 'project/shop' AND seq > (SELECT min(seq) FROM entries WHERE type = 'task.set')`)
			b.rehash(db, "project/shop")
		})
		if err := os.RemoveAll(filepath.Join(b.state, "repos")); err != nil {
			t.Fatal(err)
		}
		b.np(1, []string{`the end is cut off: the ledger holds \d+ of at least ` + newest[2] + ` entries, as commit [0-9a-f]{12} shows`}, "verify")

		a.Out("git", "-C", "repo", "reset", "-q", "--hard", "HEAD~2")
		a.np(0, []string{"ledger whole", `commit [0-9a-f]{12} \(#1\): deleted from your branches; nightporter's repository still has it`}, "verify")
		a.np(0, []string{`"commits":\[\{"commit":"[0-9a-f]{40}","task":"Task 1","stream":"project/shop","seq":\d+,"ours":true,"yours":false\}`}, "verify", "--json")
		ours := filepath.Join(a.state, "repos", "shop.git")
		for _, ref := range strings.Fields(a.Out("git", "--git-dir", ours, "for-each-ref", "--format=%(refname)")) {
			a.Out("git", "--git-dir", ours, "update-ref", "-d", ref)
		}
		a.Out("git", "--git-dir", ours, "reflog", "expire", "--expire=now", "--all")
		a.Out("git", "--git-dir", ours, "prune", "--expire=now")
		a.np(1, []string{`its commit [0-9a-f]{12} \(#2\) is in neither repository`}, "verify")
	})
}
