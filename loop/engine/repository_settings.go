package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// readsRepository warns of agents whose programs read settings of a repository that is not
// trusted. Such settings can name another server, which gets prompts and key, unless the
// network is closed.
func readsRepository(ctx context.Context, ports Ports, s ledger.Settings, tree string, agents []string) (warnings []ledger.Diagnostic, err error) {
	if ports.Reads == nil || tree == "" || s.Network.Mode == ledger.NetworkNone {
		return nil, nil
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(agents))) {
		paths, err := ports.Reads(ctx, tree, name)
		if err != nil {
			return nil, fmt.Errorf("look at settings for agent %q: %w", name, err)
		}
		if len(paths) > 0 {
			warnings = append(warnings, ledger.Diagnostic{
				Text:   fmt.Sprintf("agent %q reads %s of this repository, which can name another server for its key and start programs, and this machine cannot hide it from a session", name, strings.Join(paths, ", ")),
				Remedy: "nightporter doctor says what the machine lacks for that; network = \"none\" lets the key out to named hosts alone; trust_repo = true says that whoever writes it may.",
			})
		}
	}
	return warnings, nil
}
