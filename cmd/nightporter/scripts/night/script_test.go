// Package night holds the scripts of whole runs: what agents do and how a run goes on and ends.
package night

import (
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/internal/programtest"
)

func TestMain(m *testing.M) { leaktest.Main(func() int { return programtest.Run(m) }) }

func TestScript(t *testing.T) { programtest.Scripts(t, "testdata") }
