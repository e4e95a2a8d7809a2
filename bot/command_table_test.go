package bot

import (
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestCommandTable checks that each command in the table has all its cells, and
// that /help lists it for exactly the roles that may use it.
func TestCommandTable(t *testing.T) {
	seen := map[Verb]bool{}
	places := map[int]Verb{}
	for _, f := range commandForms {
		if seen[f.verb] {
			t.Errorf("%s stands in the table twice", f.verb)
		}
		seen[f.verb] = true
		if f.role == "" || f.project == nil && f.shared == nil {
			t.Errorf("%s has no role, or nothing carries it out", f.verb)
		}
		if !f.typed() {
			continue
		}
		if f.help == "" || !strings.HasPrefix(f.use, "/"+string(f.verb)) {
			t.Errorf("%s misses its help, or how it is typed: %q", f.verb, f.use)
		}
		if other, taken := places[f.menu]; taken && f.menu > 0 {
			t.Errorf("%s and %s have one place in the menu", f.verb, other)
		}
		places[f.menu] = f.verb
		if f.twin.Short != "" && f.twin.Name == "" {
			t.Errorf("%s has a twin without a name", f.verb)
		}
		if f.verb == VerbHelp || f.verb == VerbStart { // /help is the command being tested, /start is its alias
			continue
		}
		if !slices.Contains(helpSections, f.section) || !strings.HasPrefix(f.listed, "/"+string(f.verb)) {
			t.Errorf("%s does not stand in /help: section %q, %q", f.verb, f.section, f.listed)
		}
		for _, role := range []ledger.Role{ledger.RoleView, ledger.RoleSteer, ledger.RoleAdmin} {
			words := strings.Fields(Help("", role).Text(0))
			if listed := slices.Contains(words, "/"+string(f.verb)); listed != role.May(f.role) {
				t.Errorf("/help of %s lists %s: %v", role, f.verb, listed)
			}
		}
	}
}
