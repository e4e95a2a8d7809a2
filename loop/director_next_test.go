package loop

import (
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// next says what the next effects find: "next WHAT=VALUE".
func (d *director) next(rest string) {
	k, v, _ := strings.Cut(rest, "=")
	switch k {
	case "same":
		d.taken.Tree = "same"
	case "tree":
		d.taken.Tree = v
	case "outside":
		d.taken.Outside = []string{v}
	case "secret":
		d.taken.Secrets = []ledger.SecretFound{{Path: v, Line: 3, Rule: "private-key", Print: "f1"}}
	case "held-secret": // the tree is kept
		d.taken.Secrets = []ledger.SecretFound{{Path: v, Line: 3, Rule: "private-key", Print: "f1"}}
		d.taken.Files = []ledger.FileChange{{Path: v, Added: 3}}
	case "runs-itself":
		d.taken.Outside, d.taken.RunsItself = []string{v}, []string{v}
	case "only-outside":
		d.taken.Tree, d.taken.Outside = "same", []string{v}
	case "refused": // TEXT, or FILE:LINE: TEXT
		file, text, ok := strings.Cut(v, ": ")
		f := ledger.Diagnostic{Text: v}
		if name, line, at := strings.Cut(file, ":"); ok && at {
			f.File, f.Text = name, text
			f.Line, _ = strconv.Atoi(line)
		}
		d.taken.Refused = []ledger.Diagnostic{f}
	case "file":
		d.taken.Files = []ledger.FileChange{{Path: v, Added: 1}}
	case "guard": // a change of a check: the tree with the start's version is to be verified
		d.taken.Proof = &ledger.ProofFacts{Guard: v, Summary: "1 test changed", Changes: []ledger.CheckChange{{Path: "a_test.go", Kind: "test", Action: "changed"}}}
	case "onstart": // a new test: the start with it is to be verified
		if d.taken.Proof == nil {
			d.taken.Proof = &ledger.ProofFacts{}
		}
		d.taken.Proof.OnStart, d.taken.Proof.Tests = v, []string{"b_test.go"}
	case "lock":
		d.taken.Lock, d.layer = true, false
	case "left":
		d.left = v
	case "conflict":
		d.laid.Conflicts = []string{v}
	case "empty": // the newer tip has the change already
		d.laid.Tree = treeOf(d.moved)
	case "moved":
		d.moved = v
	}
}
