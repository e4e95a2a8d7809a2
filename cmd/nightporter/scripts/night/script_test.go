// Package night runs the scripts about whole runs: actions of agents, the
// course and the end of a run.
package night

import (
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/internal/programtest"
)

func TestMain(m *testing.M) { leaktest.Main(func() int { return programtest.Run(m) }) }

func TestScript(t *testing.T) { programtest.Scripts(t, "testdata", true) }
