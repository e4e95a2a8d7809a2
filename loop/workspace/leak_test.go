package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Values that the rules take for secrets, put together so that no scan of this
// repository finds them.
var (
	leakedAWS = "AKIA" + "QYLPMN5HHHFPZAM2"
	leakedPEM = "-----BEGIN RSA PRIVATE " + "KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF5mUbYUjzQ7FGhYsWkDxYkT0rBq1\n", 3) + "-----END RSA PRIVATE " + "KEY-----\n"
)

// places lists findings as path:line (rule).
func places(found []ledger.SecretFound) []string {
	var list []string
	for _, f := range found {
		list = append(list, f.String())
	}
	return list
}

// TestCaptureFindsSecrets checks which lines of a session are found, and that
// the tree is then the input tree, in the folder and on the session's ref.
func TestCaptureFindsSecrets(t *testing.T) {
	for _, c := range []struct {
		name       string
		set, write map[string]string
		scope      *ledger.Scope
		want       []string
		skipped    int
	}{
		{name: "in a new file", write: map[string]string{"deploy.sh": "set -e\nexport KEY=" + leakedAWS + "\n", "a.go": "package a\n"}, want: []string{"deploy.sh:2 (aws-access-token)"}},
		{name: "over many lines", write: map[string]string{"id": "x\n" + leakedPEM}, want: []string{"id:2 (private-key)"}},
		{name: "in a line of an old file", set: map[string]string{"run.sh": "one\ntwo\n"}, write: map[string]string{"run.sh": "one\nexport KEY=" + leakedAWS + "\ntwo\n"}, want: []string{"run.sh:2 (aws-access-token)"}},
		{name: "the repository had it", set: map[string]string{"run.sh": "export KEY=" + leakedAWS + "\n"}, write: map[string]string{"run.sh": "# now with a remark\nexport KEY=" + leakedAWS + "\n"}},
		{name: "a name gives it away", write: map[string]string{"cert.p12": "\x00\x01"}, want: []string{"cert.p12 (pkcs12-file)"}},
		{name: "gitleaks:allow has no effect", write: map[string]string{"run.sh": "export KEY=" + leakedAWS + " # gitleaks:allow\n"}, want: []string{"run.sh:1 (aws-access-token)"}},
		{name: "nor have rules of the session", write: map[string]string{"run.sh": "export KEY=" + leakedAWS + "\n", ".gitleaksignore": "run.sh:aws-access-token:1\n", ".gitleaks.toml": "[allowlist]\npaths = ['.*']\n"}, want: []string{"run.sh:1 (aws-access-token)"}},
		{name: "the person's ignore file holds", set: map[string]string{".gitleaksignore": "# known\nrun.sh:aws-access-token:1\n"}, write: map[string]string{"run.sh": "export KEY=" + leakedAWS + "\nKEY2=" + leakedAWS + "\n"}, want: []string{"run.sh:2 (aws-access-token)"}},
		{name: "the person's allowlists hold", set: map[string]string{".gitleaks.toml": "[extend]\nuseDefault = true\n[[allowlists]]\ntargetRules = ['aws-access-token']\npaths = ['^fixtures/']\n[[rules]]\nid = 'private-key'\n[[rules.allowlists]]\npaths = ['^id$']\n"},
			write: map[string]string{"fixtures/a": "K=" + leakedAWS + "\n", "b": "K=" + leakedAWS + "\n", "id": leakedPEM}, want: []string{"b:1 (aws-access-token)"}},
		{name: "a broken file of theirs allows nothing", set: map[string]string{".gitleaks.toml": "[allowlist]\nregexes = ['(']\n"}, write: map[string]string{"run.sh": "K=" + leakedAWS + "\n"}, want: []string{"run.sh:1 (aws-access-token)"}, skipped: 1},
		{name: "too large", write: map[string]string{"big.sql": strings.Repeat("select 1;\n", 300_000), "b": "K=" + leakedAWS + "\n"}, want: []string{"b:1 (aws-access-token)"}, skipped: 1},
		{name: "attributes hide nothing", write: map[string]string{".gitattributes": "* -text -diff binary\n", "b": "K=" + leakedAWS + "\n"}, want: []string{"b:1 (aws-access-token)"}},
		{name: "out of scope is not taken anyway", scope: &ledger.Scope{Task: "cart", Allowed: []string{"**"}}, write: map[string]string{"b": "K=" + leakedAWS + "\n", "cart/a.go": "package cart\n"}},
		{name: "nothing", write: map[string]string{"a.go": "package a\n\nconst token = \"x\"\n\nvar key = os.Getenv(\"API_KEY\")\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := workspace(t, shopWith(t, c.set))
			base := begin(t, w, "r1")
			scope := all
			if c.scope != nil {
				scope = *c.scope
			}
			write := func(dir string) {
				for p, text := range c.write {
					writeFile(t, dir, p, text)
				}
			}
			taken := session(t, w, base, "", scope, write)
			if diff := cmp.Diff(c.want, places(taken.Secrets)); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			if len(taken.Unscanned) != c.skipped {
				t.Errorf("not searched: %v", taken.Unscanned)
			}
			recorded, err := w.gitOurs(t.Context(), "rev-parse", "refs/nightporter/shop/r1/task-1/a1/s1^{tree}")
			must(t, err)
			if recorded != taken.Tree || (taken.Tree == base.Tree) != (len(c.want) > 0) {
				t.Errorf("tree %s on the ref %s, and the input was %s", taken.Tree, recorded, base.Tree)
			}
			for p := range c.write {
				if _, was := c.set[p]; len(c.want) > 0 && !was && readFile(t, w.Work(only("r1", "")).Dir, p) != "(none)" {
					t.Errorf("%s is still in the folder", p)
				}
			}
			if text := fmt.Sprintf("%+v", taken) + readFile(t, w.o.State, "runs/r1/"+savedCaptureFile); strings.Contains(text, leakedAWS) || strings.Contains(text, "MIIE") {
				t.Errorf("the value is in the result:\n%s", text)
			}
			if len(c.want) == 0 {
				return
			}
			// A person calls all of it no secret.
			q := captureRequest(base, base.Tree, scope)
			for _, f := range taken.Secrets {
				q.Cleared = append(q.Cleared, f.Print)
			}
			must(t, w.Restore(t.Context(), only("r1", base.Tree)))
			write(w.Work(only("r1", "")).Dir)
			if taken, err = w.Capture(t.Context(), q); err != nil || len(taken.Secrets) > 0 || taken.Tree == base.Tree {
				t.Errorf("after it was cleared: %v %v", places(taken.Secrets), err)
			}
		})
	}
}

// TestCaptureHoldsATreeWithSecrets checks that the tree is kept where a person
// is asked about it, and that a finding has one fingerprint in a project, which
// another state folder's does not equal.
func TestCaptureHoldsATreeWithSecrets(t *testing.T) {
	prints := map[string]int{}
	repo := shop(t)
	for range 2 {
		w := workspace(t, repo)
		base := begin(t, w, "r1")
		for range 2 {
			must(t, w.Restore(t.Context(), only("r1", base.Tree)))
			writeFile(t, w.Work(only("r1", "")).Dir, "run.sh", "export KEY="+leakedAWS+"\n")
			q := captureRequest(base, base.Tree, all)
			q.Hold = true
			taken, err := w.Capture(t.Context(), q)
			must(t, err)
			if len(taken.Secrets) != 1 || taken.Tree == base.Tree || len(taken.Files) != 1 {
				t.Fatalf("%+v", taken)
			}
			prints[taken.Secrets[0].Print]++
		}
		info, err := os.Stat(filepath.Join(w.gitDir, "fingerprint-key"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the key's mode: %v %v", info, err)
		}
	}
	if len(prints) != 2 {
		t.Errorf("%d fingerprints of one finding in two state folders", len(prints))
	}
}

// TestCaptureRecordsFewSecrets bounds what a session can make an entry hold.
func TestCaptureRecordsFewSecrets(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	taken := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "keys", strings.Repeat("K="+leakedAWS+"\n", 5000)) })
	if len(taken.Secrets) != maxFound {
		t.Errorf("%d findings", len(taken.Secrets))
	}
}

// TestCaptureEndsWithTheReaderOfTexts checks that a capture ends where the process
// that reads the texts for the search for secrets ends early, or with the run.
func TestCaptureEndsWithTheReaderOfTexts(t *testing.T) {
	for name, does := range map[string]string{"killed": "kill -9 $$", "stopped": "sleep 60", "silent": "exit 0"} {
		t.Run(name, func(t *testing.T) {
			w := workspace(t, shop(t))
			base := begin(t, w, "r1")
			must(t, w.Restore(t.Context(), only("r1", base.Tree)))
			writeFile(t, w.Work(only("r1", "")).Dir, "cart/cart.go", "package cart // new\n")
			dir := t.TempDir()
			began := filepath.Join(dir, "began")
			must(t, os.WriteFile(filepath.Join(dir, "git"), fmt.Appendf(nil, "#!/bin/sh\ncase \"$*\" in *cat-file\\ --batch) touch %s; %s; exit ;; esac\nexec %s \"$@\"\n", began, does, w.program), 0o755))
			w.program = filepath.Join(dir, "git")
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			go func() {
				_, err := w.Capture(ctx, captureRequest(base, base.Tree, all))
				ended <- err
			}()
			for _, err := os.Stat(began); err != nil; _, err = os.Stat(began) {
				time.Sleep(time.Millisecond)
			}
			if name == "stopped" {
				stop()
			}
			select {
			case err := <-ended:
				if err == nil {
					t.Error("captured without a search for secrets")
				}
			case <-time.After(3 * time.Minute):
				t.Error("the capture does not end")
			}
		})
	}
}
