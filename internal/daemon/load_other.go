//go:build !linux

package daemon

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

// loadAverage returns the load average of the machine in the last minute: the processes
// that run or wait for a processor, on all processors together.
func loadAverage() (float64, error) {
	raw, err := unix.SysctlRaw("vm.loadavg") // struct loadavg: three fixed-point numbers of 32 bits, and what 1 is, 8-byte aligned
	if err != nil {
		return 0, err
	}
	if len(raw) < 24 {
		return 0, errors.New("vm.loadavg has another form")
	}
	one := binary.NativeEndian.Uint64(raw[16:])
	if one == 0 {
		return 0, errors.New("vm.loadavg has no scale")
	}
	return float64(binary.NativeEndian.Uint32(raw)) / float64(one), nil
}
