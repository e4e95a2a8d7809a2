// Package setup holds the scripts of what is done before and beside runs: set up, check, back up.
package setup

import (
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/internal/programtest"
)

func TestMain(m *testing.M) { leaktest.Main(func() int { return programtest.Run(m) }) }

func TestScript(t *testing.T) { programtest.Scripts(t, "testdata") }
