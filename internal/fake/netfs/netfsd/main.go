//go:build linux

// Netfsd serves a file system of package netfs until its input ends, for netfs.Mount.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/nightporter/nightporter/internal/fake/netfs"
)

func main() {
	var limits netfs.Limits
	err := json.Unmarshal([]byte(os.Args[3]), &limits)
	if err == nil {
		err = netfs.Serve(os.Args[1], os.Args[2], limits, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
