package workspace

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/proof"
)

// TestCheckChangeWords checks that decisions compare with the words of loop/proof.
func TestCheckChangeWords(t *testing.T) {
	for have, want := range map[string]string{
		ledger.CheckTest: string(proof.KindTest), ledger.CheckSnapshot: string(proof.KindSnapshot),
		ledger.CheckDeleted: string(proof.Deleted), ledger.CheckSkipped: string(proof.Skipped), ledger.CheckMoved: string(proof.Moved),
	} {
		if have != want {
			t.Errorf("%q, and loop/proof says %q", have, want)
		}
	}
}
