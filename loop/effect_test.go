package loop

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEffectClasses: a crash asks of every effect what is to be done about
// it, so every kind has a class. The kinds are read from the source, because
// one that was forgotten would be in no list.
func TestEffectClasses(t *testing.T) {
	pkg, err := parser.ParseFile(token.NewFileSet(), "effect.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	ast.Inspect(pkg, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncDecl); ok && f.Name.Name == "EffectKind" {
			declared++
		}
		return true
	})
	if declared == 0 || declared != len(effectKinds) {
		t.Errorf("%d kinds of effect, and %d of them have a class", declared, len(effectKinds))
	}
	for kind, k := range effectKinds {
		if k.body.EffectKind() != kind {
			t.Errorf("%s is listed as %s", k.body.EffectKind(), kind)
		}
		if k.class != Repeatable && k.class != Findable {
			t.Errorf("%s has class %q", kind, k.class)
		}
		v := reflect.New(reflect.TypeOf(k.body)).Elem()
		fill(t, v, kind)
		want := Effect{Project: "shop", Key: "k", Body: v.Interface().(EffectBody)}
		p, err := want.Pending()
		if err != nil {
			t.Fatal(err)
		}
		if p.Stream != "project/shop" || p.Kind != kind || p.Class != k.class || p.Key != "k" {
			t.Errorf("%s is kept as %+v", kind, p)
		}
		got, err := p.Effect()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Body, got); diff != "" {
			t.Errorf("%s comes back as something else: %s", kind, diff)
		}
	}
}

type strangeEffect struct{}

func (strangeEffect) EffectKind() string { return "strange" }

func TestUnknownEffects(t *testing.T) {
	if _, err := (Effect{Body: strangeEffect{}}).Pending(); err == nil || !strings.Contains(err.Error(), "strange") {
		t.Errorf("an effect without a class can be committed: %v", err)
	}
	if _, err := (PendingEffect{Kind: "strange"}).Effect(); err == nil {
		t.Error("an effect of an unknown kind is read")
	}
	if _, err := (PendingEffect{Kind: "mark", Body: []byte("x")}).Effect(); err == nil {
		t.Error("an effect that does not decode is read")
	}
}
