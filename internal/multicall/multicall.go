// Package multicall is what the program nightporter is under other names and
// with its internal commands: the agents' client hat, the wrapper of a denied
// program, the supervisor of a session, and the scripted agent. The daemon
// starts all of them from its own executable, so a test that runs a daemon in
// its process has to call Run first, too.
package multicall

import (
	"os"
	"path/filepath"

	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/internal/hatcli"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/agent/demo"
)

// Run does what the program was started for and returns its exit code. It
// reports false, and does nothing, where that is nightporter itself.
func Run() (code int, is bool) {
	if w, is := guard.Find(os.Args[0]); is {
		return w.Main(os.Args[1:], os.Stderr), true
	}
	if filepath.Base(os.Args[0]) == "hat" {
		return hatcli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv), true
	}
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "shim":
			return agent.ShimMain(os.Args[2]), true
		case "shim-inner":
			return agent.ShimInner(os.Args[2]), true
		}
	}
	if len(os.Args) > 1 && os.Args[1] == demo.Command {
		return demo.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr, os.Getenv), true
	}
	return 0, false
}
