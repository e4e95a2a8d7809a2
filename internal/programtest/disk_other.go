//go:build !linux

package programtest

import (
	"errors"
	"syscall"
)

func mountDisk(string, int, bool) error { return errors.ErrUnsupported }

func unmountDisk(string) error { return errors.ErrUnsupported }

func canMount() bool { return false }

func endWithTest() *syscall.SysProcAttr { return nil }
