//go:build e2e

package systemd

import (
	"testing"
)

// TestBootRoot: the machine's root has nothing of the host.
func TestBootRoot(t *testing.T) {
	m := newMachine(t)
	m.power("/bin/sh", "-c", "findmnt; ls -la / /tmp /run /var /etc; id; cat /proc/self/cgroup /proc/self/uid_map; ls -la /usr/local/bin; touch /usr/x; echo x >/proc/sys/kernel/panic")
	<-m.off
	t.Log(m.console)
}
