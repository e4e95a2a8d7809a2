// Package crash runs the real nightporter on two tasks and ends it, its
// sessions or its git at any point, or alters its ledger. Whatever happens, the
// run comes to the same result, or the harm is found.
package crash

import (
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/internal/programtest"
)

func TestMain(m *testing.M) { leaktest.Main(func() int { return programtest.Run(m) }) }
