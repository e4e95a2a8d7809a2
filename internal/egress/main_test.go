package egress

import (
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m.Run) }
