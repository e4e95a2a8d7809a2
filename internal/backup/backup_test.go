package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var modified = time.Date(2026, 11, 20, 3, 10, 0, 0, time.UTC)

// wholeKey is an operator's key as nightporter makes it.
var wholeKey = strings.Repeat("0f", keyBytes) + "\n"

// newState makes a state folder whose repository has a loose ref, a packed ref,
// loose objects and a pack.
func newState(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, Database, "database")
	put(t, dir, Key, wholeKey)
	put(t, dir, "logins/claude/credentials.json", "{}")
	put(t, dir, "nightporter.log", "log")
	repo := filepath.Join(dir, Repositories, "shop.git")
	run(t, "init", "--quiet", "--bare", "--template=", repo)
	for _, kv := range []string{"gc.auto=0", "maintenance.auto=false", "core.fsync=all", "core.hooksPath=/dev/null"} {
		key, value, _ := strings.Cut(kv, "=")
		run(t, "--git-dir="+repo, "config", key, value)
	}
	put(t, repo, "info/attributes", "* !filter\n")
	run(t, "--git-dir="+repo, "update-ref", "refs/nightporter/shop/r1/base", commit(t, repo, "one"))
	run(t, "--git-dir="+repo, "repack", "--quiet", "-a", "-d")
	run(t, "--git-dir="+repo, "pack-refs", "--all")
	run(t, "--git-dir="+repo, "update-ref", "--create-reflog", "refs/heads/nightporter/shop/r1", commit(t, repo, "two"))
	return dir
}

func put(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func run(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=M", "GIT_AUTHOR_EMAIL=m@example.com", "GIT_COMMITTER_NAME=M", "GIT_COMMITTER_EMAIL=m@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits one file with the text, and returns the commit.
func commit(t testing.TB, repo, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(file), "file", text)
	blob := run(t, "--git-dir="+repo, "hash-object", "-w", file)
	index := filepath.Join(t.TempDir(), "index")
	t.Setenv("GIT_INDEX_FILE", index)
	run(t, "--git-dir="+repo, "update-index", "--add", "--cacheinfo", "100644,"+blob+",file")
	tree := run(t, "--git-dir="+repo, "write-tree")
	return run(t, "--git-dir="+repo, "commit-tree", "-m", text, tree)
}

// writeAndRead writes a backup of a state folder and returns it with its
// manifest.
func writeAndRead(t testing.TB, dir string) ([]byte, Manifest) {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	ctx := t.Context()
	err := errors.Join(
		w.Add(ctx, Database, filepath.Join(dir, Database)), w.Add(ctx, Key, filepath.Join(dir, Key)),
		w.AddRepository(ctx, filepath.Join(dir, Repositories, "shop.git")), w.AddLogins(ctx, filepath.Join(dir, Logins)), w.AddAttachments(ctx, filepath.Join(dir, Attachments)), w.AddAttachments(ctx, filepath.Join(dir, "none")),
	)
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.Close(Manifest{Program: "test", Time: modified, Heads: []string{"house@1:00"}, Logins: true})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), m
}

const ampleRoom = 1 << 30

// TestAttachments: files that people sent are in a backup by their hash, also one that
// the ledger named a moment ago; half of one is not.
func TestAttachments(t *testing.T) {
	from := newState(t)
	settled, fresh := "attachments/"+strings.Repeat("a", 64), "attachments/"+strings.Repeat("b", 64)
	put(t, from, settled, "a picture")
	put(t, from, fresh+".new", "another")
	put(t, from, "attachments/.writing123", "half of one")
	data, _ := writeAndRead(t, from)
	to := t.TempDir()
	if _, err := Extract(t.Context(), bytes.NewReader(data), to, ampleRoom); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{settled: "a picture", fresh: "another"} {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if list, err := os.ReadDir(filepath.Join(to, Attachments)); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestRoundTrip(t *testing.T) {
	from := newState(t)
	repo := filepath.Join(from, Repositories, "shop.git")
	// Leftovers of an interrupted git, and an alternates file, which a backup
	// must not contain.
	put(t, repo, "refs/heads/x.lock", "")
	put(t, repo, "objects/pack/tmp_pack_1", "half")
	put(t, repo, "objects/info/alternates", "/elsewhere\n")
	put(t, repo, "hooks/post-receive", "#!/bin/sh\n")
	put(t, repo, "objects/pack/pack-"+strings.Repeat("a", 40)+".pack", "its index is not there yet")
	data, m := writeAndRead(t, from)

	to := t.TempDir()
	got, err := Extract(t.Context(), bytes.NewReader(data), to, ampleRoom)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m, got); d != "" {
		t.Errorf("manifest (-written +read):\n%s", d)
	}
	if d := cmp.Diff([]string{"shop"}, got.Repositories()); d != "" {
		t.Error(d)
	}
	for _, f := range got.Files {
		was, err := os.ReadFile(filepath.Join(from, f.Path))
		is, rerr := os.ReadFile(filepath.Join(to, f.Path))
		if err != nil || rerr != nil || !bytes.Equal(was, is) || f.Size != int64(len(is)) {
			t.Errorf("%s: %v, %v, or another content", f.Path, err, rerr)
		}
		if info, err := os.Stat(filepath.Join(to, f.Path)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", f.Path, info.Mode())
		}
		for _, no := range []string{"lock", "tmp_", "alternates", "hooks", "nightporter.log", "aaaa", "logs"} {
			if strings.Contains(f.Path, no) {
				t.Errorf("%s is in the backup", f.Path)
			}
		}
	}
	kinds := map[string]bool{}
	for _, f := range got.Files {
		kinds[filepath.Ext(f.Path)] = true
	}
	if !kinds[".pack"] || !kinds[".idx"] {
		t.Error("no pack is in the backup")
	}
	back := filepath.Join(to, Repositories, "shop.git")
	if err := errors.Join(CheckConfig(t.Context(), back), CheckObjects(t.Context(), back)); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(repo, "objects/info/alternates")); err != nil { // git would complain of it
		t.Fatal(err)
	}
	if d := cmp.Diff(run(t, "--git-dir="+repo, "for-each-ref"), run(t, "--git-dir="+back, "for-each-ref")); d != "" {
		t.Errorf("refs:\n%s", d)
	}
}

// TestRepositoryGrows writes to a repository while it is copied: the copy is
// valid.
func TestRepositoryGrows(t *testing.T) {
	from := newState(t)
	repo := filepath.Join(from, Repositories, "shop.git")
	ids := []string{run(t, "--git-dir="+repo, "rev-parse", "refs/heads/nightporter/shop/r1")}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		for n := 0; ctx.Err() == nil; n++ {
			cmd := exec.Command("git", "--git-dir="+repo, "-c", "user.name=M", "-c", "user.email=m@example.com", "commit-tree", "-p", ids[0], "-m", fmt.Sprint(n), ids[0]+"^{tree}")
			id, err := cmd.Output()
			if err == nil {
				err = exec.Command("git", "--git-dir="+repo, "update-ref", "refs/heads/nightporter/shop/r1", strings.TrimSpace(string(id))).Run()
			}
			if err == nil && n%5 == 0 {
				err = exec.Command("git", "--git-dir="+repo, "pack-refs", "--all").Run()
			}
			if err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	for range 10 {
		data, _ := writeAndRead(t, from)
		to := t.TempDir()
		if _, err := Extract(t.Context(), bytes.NewReader(data), to, ampleRoom); err != nil {
			t.Fatal(err)
		}
		back := filepath.Join(to, Repositories, "shop.git")
		if err := CheckObjects(t.Context(), back); err != nil {
			t.Error(err)
		}
		if refs := run(t, "--git-dir="+back, "for-each-ref"); strings.Count(refs, "\n") != 1 {
			t.Errorf("two refs became:\n%s", refs)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// entry is a file of a forged archive.
type entry struct {
	tar.Header
	text string
}

func file(name, text string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o600}, text}
}

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	for _, e := range entries {
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// manifest returns the manifest of the entries, with their hashes.
func manifest(t testing.TB, change func(*Manifest), entries ...entry) entry {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, e := range entries {
		path := filepath.Join(t.TempDir(), "file")
		put(t, filepath.Dir(path), "file", e.text)
		if err := w.Add(t.Context(), e.Name, path); err != nil {
			t.Fatal(err)
		}
	}
	m := Manifest{Version: Version, Time: modified, Files: w.files}
	if change != nil {
		change(&m)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return file(manifestName, string(text))
}

func TestExtractRefuses(t *testing.T) {
	db, key := file(Database, "db"), file(Key, wholeKey)
	whole := func(change func(*Manifest)) []byte { return archive(t, db, key, manifest(t, change, db, key)) }
	plain := whole(nil)
	with := func(e entry) []byte { return archive(t, db, e, key, manifest(t, nil, db, key)) }
	link := func(kind byte) entry {
		return entry{tar.Header{Typeflag: kind, Name: "logins/x", Linkname: "../operator.key"}, ""}
	}
	secret := filepath.Join(t.TempDir(), "outside")
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":           {nil, "this is no nightporter backup"},
		"text":              {[]byte("Dear Mira"), "this is no nightporter backup"},
		"empty":             {archive(t), "it ends without its manifest"},
		"no manifest":       {archive(t, db, key), "it ends without its manifest"},
		"cut":               {plain[:len(plain)/2], "it is cut off"},
		"cut checksum":      {plain[:len(plain)-3], "it is cut off"},
		"bit":               {flipBit(plain, len(plain)-6), "it is damaged"},
		"up":                {with(file("../outside", "x")), "leads out of the folder"},
		"up within":         {with(file("logins/../../outside", "x")), "leads out of the folder"},
		"absolute":          {with(file(secret, "x")), "leads out of the folder"},
		"backslash":         {with(file(`logins\x`, "x")), "leads out of the folder"},
		"dot":               {with(file("./logins/x", "x")), "leads out of the folder"},
		"control":           {with(file("logins/a\nb", "x")), "leads out of the folder"},
		"long":              {with(file("logins/"+strings.Repeat("x", 2000), "x")), "a name has 2007 bytes"},
		"program":           {with(file("bin/0123/nightporter", "x")), `holds no "bin/0123/nightporter"`},
		"hook":              {with(file("repos/shop.git/hooks/post-update", "x")), "holds no"},
		"alternates":        {with(file("repos/shop.git/objects/info/alternates", "x")), "holds no"},
		"no project":        {with(file("repos/Shop!.git/HEAD", "x")), "holds no"},
		"session":           {with(file("sessions/r1-1/token", "x")), "holds no"},
		"symbolic link":     {with(link(tar.TypeSymlink)), "no ordinary file"},
		"hard link":         {with(link(tar.TypeLink)), "no ordinary file"},
		"device":            {with(link(tar.TypeChar)), "no ordinary file"},
		"folder":            {with(link(tar.TypeDir)), "no ordinary file"},
		"twice":             {archive(t, db, db, key, manifest(t, nil, db, key)), "is in it twice"},
		"file as folder":    {archive(t, db, file("logins/a", "x"), file("logins/a/b", "x"), manifest(t, nil, db)), "file exists"},
		"not named":         {with(file("logins/x", "x")), `"logins/x" is not named by the manifest`},
		"not there":         {archive(t, db, manifest(t, nil, db, key)), `"operator.key" is named by the manifest and missing`},
		"no database":       {archive(t, key, manifest(t, nil, key)), "there is no nightporter.db"},
		"no key":            {archive(t, db, manifest(t, nil, db)), "there is no operator.key"},
		"other hash":        {whole(func(m *Manifest) { m.Files[0].SHA256 = m.Files[1].SHA256 }), `"nightporter.db" is not as it was written`},
		"other size":        {whole(func(m *Manifest) { m.Files[1].Size++ }), `"operator.key" is not as it was written`},
		"named twice":       {whole(func(m *Manifest) { m.Files = append(m.Files, m.Files[0]) }), "or named twice"},
		"newer":             {whole(func(m *Manifest) { m.Version, m.Program = Version+1, "9.0" }), "made by nightporter 9.0 in form 3"},
		"no version":        {whole(func(m *Manifest) { m.Version = 0 }), "no version"},
		"no time":           {whole(func(m *Manifest) { m.Time = time.Time{} }), "no time"},
		"manifest is text":  {archive(t, db, key, file(manifestName, "Dear Mira")), "manifest cannot be read"},
		"something after":   {archive(t, db, key, manifest(t, nil, db, key), file("logins/x", "x")), "after the manifest"},
		"another one after": {append(slices.Clone(plain), archive(t, file("logins/x", strings.Repeat("x", 2<<20)))...), "come after its end"},
		"too large":         {with(file("logins/x", strings.Repeat("x", 5000))), "there is no room for logins/x"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			room := int64(4000)
			if name == "another one after" {
				room = ampleRoom
			}
			_, err := Extract(t.Context(), bytes.NewReader(c.data), dir, room)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Extract: %v\nwant %q", err, c.want)
			}
			if out, _ := os.ReadDir(filepath.Dir(dir)); len(out) != 1 {
				t.Errorf("outside the folder: %v", out)
			}
		})
	}
	if _, err := os.Stat(secret); err == nil {
		t.Error("an absolute name was written")
	}
	if _, err := Extract(t.Context(), bytes.NewReader(plain), t.TempDir(), 4000); err != nil {
		t.Errorf("the plain one: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Extract(ctx, bytes.NewReader(plain), t.TempDir(), 4000); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

func flipBit(data []byte, at int) []byte {
	data = bytes.Clone(data)
	data[at] ^= 1
	return data
}

func TestCheckConfig(t *testing.T) {
	dir := filepath.Join(newState(t), Repositories, "shop.git")
	config := filepath.Join(dir, "config")
	was, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, lie := range []string{
		"[core]\n\tfsmonitor = /bin/evil\n", "[core]\n\thooksPath = hooks\n", "[include]\n\tpath = /etc/evil\n", "[includeIf \"gitdir:/\"]\n\tpath = x\n",
		"[alias]\n\tfsck = !evil\n", "[remote \"x\"]\n\turl = ext::evil\n", "[core]\n\tworktree = /\n", "[gc]\n\tauto = 1\n", "[core\n", "[core]\n\tbare\n",
	} {
		put(t, dir, "config", string(was)+lie)
		if err := CheckConfig(t.Context(), dir); err == nil {
			t.Errorf("it may say %q", lie)
		}
	}
	put(t, dir, "config", string(was))
	if err := CheckConfig(t.Context(), dir); err != nil {
		t.Error(err)
	}
	// One object is missing.
	id := run(t, "--git-dir="+dir, "rev-parse", "refs/heads/nightporter/shop/r1")
	if err := os.Remove(filepath.Join(dir, "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	if err := CheckObjects(t.Context(), dir); err == nil {
		t.Error("a repository without its commit is whole")
	}
}

func FuzzExtract(f *testing.F) {
	db, key := file(Database, "db"), file(Key, wholeKey)
	f.Add(archive(f, db, key, manifest(f, nil, db, key)))
	f.Add(archive(f, db, file("../x", "x")))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := filepath.Join(t.TempDir(), "a")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		m, err := Extract(t.Context(), bytes.NewReader(data), dir, 1<<20)
		if out, _ := os.ReadDir(filepath.Dir(dir)); len(out) != 1 {
			t.Fatalf("outside the folder: %v", out)
		}
		if err == nil && len(m.Files) < 2 {
			t.Fatalf("taken: %+v", m)
		}
	})
}

// TestDamagedKey: a backup that nothing could start with is not made.
func TestDamagedKey(t *testing.T) {
	for _, text := range []string{"", "\n", "ab", strings.Repeat("0f", keyBytes) + "0f", strings.Repeat("x", 2*keyBytes)} {
		dir := t.TempDir()
		put(t, dir, Key, text)
		if err := NewWriter(io.Discard).Add(t.Context(), Key, filepath.Join(dir, Key)); err == nil || !strings.Contains(err.Error(), "remove the file") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
