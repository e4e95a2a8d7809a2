package task

import (
	"os"
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
)

func TestMain(m *testing.M) {
	if os.Getenv(markIn) != "" { // the helper process, which the test kills
		os.Exit(m.Run())
	}
	leaktest.Main(m.Run)
}
