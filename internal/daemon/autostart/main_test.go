package autostart_test

import (
	"os"
	"testing"

	"github.com/nightporter/nightporter/internal/daemon/daemontest"
)

func TestMain(m *testing.M) {
	daemontest.Dispatch()
	os.Exit(m.Run())
}
