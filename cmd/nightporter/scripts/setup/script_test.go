// Package setup runs the scripts about work before and besides runs: setup,
// checks, backups.
package setup

import (
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/internal/programtest"
)

func TestMain(m *testing.M) { leaktest.Main(func() int { return programtest.Run(m) }) }

func TestScript(t *testing.T) { programtest.Scripts(t, "testdata", false) }
