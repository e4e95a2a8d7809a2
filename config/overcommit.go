package config

import (
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Overcommitted returns a warning about a run whose sessions can use more memory together
// than a machine has, machine bytes of it. Each of them keeps its limit, and yet the kernel
// kills one of them, or nightporter. It says nothing of a run with one lane, of a machine
// whose memory is unknown (0), or where sessions have no limit: somebody decided that.
func (c *Config) Overcommitted(s ledger.Settings, machine int64) (ledger.Diagnostic, bool) {
	n := int64(min(s.Parallel, c.Sessions(s)))
	each := c.Limits.MaxMemory(machine)
	if n < 2 || machine == 0 || n*each <= machine {
		return ledger.Diagnostic{}, false
	}
	const gb, spare = 1e9, 90 // percent that sessions may have together
	return ledger.Diagnostic{
		File:   c.File,
		Text:   fmt.Sprintf("%d sessions at a time may use %.1f GB of memory together, and the machine has %.1f: what goes over it can end any of them", n, float64(n*each)/gb, float64(machine)/gb),
		Remedy: fmt.Sprintf(`memory = "%d%%" in [limits], or fewer at a time`, max(spare/n, 1)),
	}, true
}
