package task

import (
	"os"
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
)

func TestMain(m *testing.M) {
	if os.Getenv(markIn) != "" { // a helper, which is killed
		os.Exit(m.Run())
	}
	leaktest.Main(m.Run)
}
