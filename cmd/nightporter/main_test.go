package main_test

import (
	"testing"

	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/internal/programtest"
)

func TestMain(m *testing.M) {
	daemontest.Dispatch()
	leaktest.Main(func() int { return programtest.Run(m) })
}
