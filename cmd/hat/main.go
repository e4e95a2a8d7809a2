// Command hat is what an agent inside a session calls: to end the session
// with its one event, to look at its task, and to read guidance.
package main

import (
	"os"

	"github.com/nightporter/nightporter/internal/hatcli"
)

func main() {
	os.Exit(hatcli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}
