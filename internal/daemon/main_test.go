package daemon_test

import (
	"testing"

	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/leaktest"
)

func TestMain(m *testing.M) {
	daemontest.Dispatch()
	leaktest.Main(m.Run)
}
