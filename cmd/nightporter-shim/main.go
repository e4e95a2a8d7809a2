// nightporter-shim supervises one session (loop/agent). nightporter can do the same;
// this program has nothing else in it, so that it starts in a quarter of the time and
// takes a third of the memory. Three of its processes belong to each session.
package main

import (
	"fmt"
	"os"

	"github.com/nightporter/nightporter/loop/agent"
)

func main() {
	if code, is := agent.RunShim(os.Args); is {
		os.Exit(code)
	}
	fmt.Fprintln(os.Stderr, "nightporter-shim is started by nightporter itself")
	os.Exit(2)
}
