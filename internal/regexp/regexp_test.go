package regexp

import (
	"regexp"
	"sync"
	"testing"
)

// TestLazy checks that an expression is compiled at its first use, once, and
// then does what the standard library's does.
func TestLazy(t *testing.T) {
	defer func(was bool) { eager = was }(eager)
	if !eager {
		t.Error("a test's program does not compile its expressions at the start")
	}
	eager = false
	r, bad := MustCompile(`(\w+)@(\w+)`), MustCompile(`(`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := r.FindStringSubmatch("to ana@shop"); len(got) != 3 || got[1] != "ana" {
				t.Errorf("found %q", got)
			}
		})
	}
	wg.Wait()
	if std := regexp.MustCompile(r.String()); std.ReplaceAllString("ana@shop", "$2") != r.ReplaceAllString("ana@shop", "$2") {
		t.Error("it replaces other than the standard library")
	}
	defer func() {
		if recover() == nil {
			t.Error("a broken expression matches something")
		}
	}()
	bad.MatchString("x")
}

// TestEager checks that a broken expression fails the tests of its package.
func TestEager(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a broken expression is accepted in a test")
		}
	}()
	MustCompile(`(`)
}

func TestCompile(t *testing.T) {
	if _, err := Compile(`(`); err == nil {
		t.Error("a broken expression is no error")
	}
	if r, err := Compile(`a+`); err != nil || !r.MatchString("caat") || r.MatchString("b") {
		t.Errorf("%v, %v", r, err)
	}
}
