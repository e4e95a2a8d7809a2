// Package crash runs the real nightporter on two tasks, or with several sessions at a
// time, kills it, its sessions or its git at any point, or alters its ledger. The run
// must reach the same result, or the damage must be detected.
package crash

import (
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/internal/programtest"
)

func TestMain(m *testing.M) { leaktest.Main(func() int { return programtest.Run(m) }) }
