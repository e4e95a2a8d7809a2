package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// fetchedRef leads to the last commit that was fetched. Maintenance keeps it, so
// that the next fetch has something to build on whatever became of the runs.
const fetchedRef = "refs/nightporter-fetched/last"

// fetch copies a ref of the user's repository, with all its objects, to a ref
// of ours.
//
// It is safe with any configuration of that repository. There git starts
// upload-pack, which runs a program in two cases only:
// uploadpack.packObjectsHook, which git reads from the machine's and the user's
// configuration (both are switched off here), and missing objects of a partial
// clone (which usable refuses). upload-pack reads no index and no work tree, so
// no filter and no fsmonitor runs.
//
// git would look at each of our refs several times, and there is one for each
// session. It is given a git dir with our objects and few refs instead: the
// branches, the tags and what was fetched last.
func (w *Workspace) fetch(ctx context.Context, t userRepo, src, ref, commit string) error {
	for _, r := range []string{ref, fetchedRef} {
		if err := w.dropStaleLock(ctx, filepath.Join(w.gitDir, filepath.FromSlash(r)+".lock")); err != nil {
			return err
		}
	}
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	upload := quoted(w.program)
	for _, kv := range []string{"safe.directory=*", "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.alternateRefsCommand=true"} {
		upload += " -c " + quoted(kv)
	}
	// Tags that point into the fetched history come along: a build may make a
	// version of the nearest one.
	args := []string{"fetch", "--quiet", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-recurse-submodules", "--upload-pack=" + upload + " upload-pack"}
	// Old protocol versions refuse to fetch a commit by its hash, so git
	// fetches the ref, and the result is compared with the expected commit:
	// HEAD could have moved in between.
	_, err := os.Lstat(filepath.Join(w.gitDir, "shallow"))
	var got string
	switch oursShallow := err == nil; {
	case t.shallow || oursShallow: // where the history ends is a file of the git dir
		if args = append(args, "--unshallow"); t.shallow {
			args[len(args)-1] = "--update-shallow" // a shallow clone's missing history may be missing here
		} // otherwise the user has fetched the rest since
		if _, err := w.gitOurs(ctx, append(args, "--", t.gitDir, "+"+src+":"+ref)...); err != nil {
			return err
		}
		got, err = w.gitOurs(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	default:
		if got, err = w.fetchApart(ctx, append(args, "--", t.gitDir, "+"+src+":"+fetchedRef), ref, formatOf(commit)); err != nil {
			return err
		}
	}
	if err != nil || got != commit {
		return fmt.Errorf("fetch %s: it was %.12s and is now %.12s: try again", src, commit, got)
	}
	return nil
}

// fetchApart runs git fetch in a git dir of few refs, and records in ours what came:
// the tags, and the value of fetchedRef, also as ref. It returns that value.
func (w *Workspace) fetchApart(ctx context.Context, args []string, ref, format string) (string, error) {
	known, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/", "refs/tags/", fetchedRef}})
	if err != nil {
		return "", err
	}
	apart := filepath.Join(w.gitDir, "fetch")
	if err := os.RemoveAll(apart); err != nil {
		return "", err
	}
	defer os.RemoveAll(apart)
	config, err := w.initRepository(ctx, apart, format)
	if err != nil {
		return "", err
	}
	for name, text := range map[string]string{"config": config, "packed-refs": "# pack-refs with: sorted \n" + string(known)} {
		if err := os.WriteFile(filepath.Join(apart, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	git := call{gitDir: apart, env: []string{"GIT_OBJECT_DIRECTORY=" + filepath.Join(w.gitDir, "objects")}, args: args}
	if _, err := w.run(ctx, git); err != nil {
		return "", err
	}
	git.args = []string{"for-each-ref", "--format=%(objectname) %(refname)", "refs/tags/", fetchedRef}
	out, err := w.run(ctx, git)
	if err != nil {
		return "", err
	}
	had := map[string]bool{}
	for line := range strings.Lines(string(known)) {
		had[strings.TrimSpace(line)] = true
	}
	got := ""
	var updates strings.Builder
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		hash, name, _ := strings.Cut(line, " ")
		if name == fetchedRef {
			got = hash
			fmt.Fprintf(&updates, "update %s %s\n", ref, hash)
		}
		if !had[line] {
			fmt.Fprintf(&updates, "update %s %s\n", name, hash)
		}
	}
	_, err = w.run(ctx, call{gitDir: w.gitDir, in: strings.NewReader(updates.String()), args: []string{"update-ref", "--stdin"}})
	return got, err
}
