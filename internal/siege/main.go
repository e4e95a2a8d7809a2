// Package main is a session that attacks the daemon, for tests and benchmarks:
// an agent's program that does to the session's socket, and to its own output,
// what the operator's daemon has to survive. main.go chooses attacks, attack.go
// is the table of them, wire.go sends what package api never would.
//
// siege NAME makes one attack until it is ended, or until what the attack sends
// is sent. siege -control FILE makes the attack that the file names, and another
// one as soon as the file names another: "" is none. A line on standard output
// says when an attack begins.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/api"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "siege:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	t := target{socket: os.Getenv(api.EnvSocket), token: os.Getenv(api.EnvToken)}
	switch {
	case len(args) == 2 && args[0] == "-control":
		return obey(t, args[1])
	case len(args) == 2: // another socket than the session's own
		t.socket = args[1]
	case len(args) != 1:
		return fmt.Errorf("use siege NAME [SOCKET] or siege -control FILE; NAME is one of %s", strings.Join(names(), " "))
	}
	a, ok := attacks[args[0]]
	if !ok {
		return fmt.Errorf("there is no attack %q; use one of %s", args[0], strings.Join(names(), " "))
	}
	fmt.Println("siege:", args[0])
	a(context.Background(), t)
	return nil
}

// obey makes the attacks that the file names, one after another. A second word
// in it is another socket than the session's own.
func obey(t target, file string) error {
	var now string
	stop := func() {}
	defer func() { stop() }()
	for ; ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		next := strings.TrimSpace(string(text))
		if next == now {
			continue
		}
		stop()
		now, stop = next, func() {}
		name, socket, _ := strings.Cut(next, " ")
		at := t
		if socket != "" {
			at.socket = socket
		}
		if a, ok := attacks[name]; ok {
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() { defer close(done); a(ctx, at) }()
			stop = func() { cancel(); <-done }
		} else if name != "" {
			return fmt.Errorf("there is no attack %q", name)
		}
		fmt.Printf("siege: %q\n", next)
	}
}

func names() []string {
	var all []string
	for name := range attacks {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
