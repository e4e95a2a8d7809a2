//go:build e2e

package systemd

import (
	"os"
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/internal/programtest"
)

func TestMain(m *testing.M) {
	if os.Args[0] == bootName {
		bootMain()
	}
	leaktest.Main(func() int { return programtest.Run(m) })
}
