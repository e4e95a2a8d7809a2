package project

import "testing"

// TestClear: a plan that can be read ends the obstacle of a project, but not that git
// hangs in its repository: then the obstacle would come and go, and nobody be told.
func TestClear(t *testing.T) {
	p := &Planner{Catalog: &Catalog{}}
	for _, hangs := range []bool{true, false} {
		p.setObstacle("shop", Obstacle{Why: "it does not answer", Hangs: hangs})
		p.Clear("shop")
		if o, _ := p.Obstacle("shop"); (o.Why != "") != hangs {
			t.Errorf("hangs %v: %+v after the plan was read", hangs, o)
		}
	}
}
