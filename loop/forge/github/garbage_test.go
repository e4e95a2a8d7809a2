package github

import (
	"testing"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/forgetest"
)

func TestGarbage(t *testing.T) {
	forgetest.Garbage(t, func(api string) (forge.Forge, error) {
		return New(Options{API: api, Owner: "o", Name: "n", Token: "t"})
	})
}
