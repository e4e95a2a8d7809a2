package hatcli

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// mcp implements hat mcp: the process becomes nightporter's MCP server. hat has no
// server of its own, because the protocol's library makes a program three times as
// large, and every call of hat would pay for its start.
func (h *hat) mcp(args []string) error {
	if len(args) > 0 {
		return usageError{"mcp: takes nothing; agents' programs start it", ""}
	}
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self) // in a session, hat is a link to the program beside nightporter
	}
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	program := filepath.Join(filepath.Dir(self), "nightporter")
	return fmt.Errorf("mcp: start %s: %w", program, h.become(program, []string{program, "mcp"}))
}

// become replaces this process by another program. It returns only if that fails.
func become(program string, args []string) error { return syscall.Exec(program, args, os.Environ()) }
