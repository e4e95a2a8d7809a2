//go:build !linux

package daemontest

import "os"

func exit(code int) { os.Exit(code) }
