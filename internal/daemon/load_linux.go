package daemon

import (
	"fmt"
	"os"
)

// loadAverage returns the load average of the machine in the last minute: the processes
// that run or wait for a processor or a disk, on all processors together.
func loadAverage() (load float64, err error) {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscan(string(data), &load); err != nil {
		return 0, fmt.Errorf("/proc/loadavg: %w", err)
	}
	return load, nil
}
