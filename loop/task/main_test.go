package task

import (
	"flag"
	"os"
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
)

func TestMain(m *testing.M) {
	if os.Getenv(markIn) != "" { // the helper process, which the test kills
		os.Exit(m.Run())
	}
	leaktest.Main(func() int {
		// Tests that are parallel wait for files far more than they compute. Each
		// check of rapid writes and syncs some twenty files, and each kind has its
		// own checks; the forms' packages check their texts without files. make soak
		// asks for more checks.
		flag.Parse()
		for name, value := range map[string]string{"test.parallel": "8", "rapid.checks": "40"} {
			if f := flag.Lookup(name); f.Value.String() == f.DefValue {
				_ = flag.Set(name, value)
			}
		}
		return m.Run()
	})
}
