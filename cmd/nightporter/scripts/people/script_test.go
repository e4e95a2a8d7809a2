// Package people runs the scripts about people's queries, commands and answers.
package people

import (
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/internal/programtest"
)

func TestMain(m *testing.M) { leaktest.Main(func() int { return programtest.Run(m) }) }

func TestScript(t *testing.T) { programtest.Scripts(t, "testdata", false) }
