// Command hat is the program that an agent calls inside a session: to end the
// session with its one event, to look at its task, and to read guidance.
// Started under another program's name it is that program's wrapper (package
// guard).
package main

import (
	"os"

	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/internal/hatcli"
)

func main() {
	if w, is := guard.Find(os.Args[0]); is {
		os.Exit(w.Main(os.Args[1:], os.Stderr))
	}
	os.Exit(hatcli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}
