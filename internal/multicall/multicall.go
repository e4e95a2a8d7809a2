package multicall

import (
	"os"
	"path/filepath"

	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/internal/hatcli"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/agent/demo"
)

// Run acts as the program that the process was started as and returns its exit
// code. It returns false and does nothing if that program is nightporter
// itself. Call it first in main and in TestMain.
func Run() (code int, is bool) {
	if w, is := guard.Find(os.Args[0]); is {
		return w.Main(os.Args[1:], os.Stderr), true
	}
	if filepath.Base(os.Args[0]) == "hat" {
		return hatcli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv), true
	}
	if code, is := agent.RunShim(os.Args); is {
		return code, true
	}
	if len(os.Args) > 1 && os.Args[1] == demo.Command {
		return demo.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr, os.Getenv), true
	}
	return 0, false
}
