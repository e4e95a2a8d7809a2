package ledger_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/ledger/ledgertest"
)

// TestEffectClasses checks that every kind of effect has a class, and a policy for
// faults. It reads the
// kinds from the source, because a kind that somebody forgot is in no list.
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
	if declared == 0 || declared != len(ledger.EffectKinds()) {
		t.Errorf("%d kinds of effect, and %d of them have a class", declared, len(ledger.EffectKinds()))
	}
	for kind, k := range ledger.EffectKinds() {
		if k.Body.EffectKind() != kind {
			t.Errorf("%s is listed as %s", k.Body.EffectKind(), kind)
		}
		if k.Class != ledger.Repeatable && k.Class != ledger.Findable {
			t.Errorf("%s has class %q", kind, k.Class)
		}
		if k.Retry != ledger.RetryHolds && k.Retry != ledger.RetryBeside {
			t.Errorf("%s has no policy for faults: %q", kind, k.Retry)
		}
		if does := ledger.EffectDoes(kind); does == "" || does == kind && strings.Contains(kind, ".") {
			t.Errorf("%s has no words", kind)
		}
		v := reflect.New(reflect.TypeOf(k.Body)).Elem()
		ledgertest.Fill(t, v, kind)
		want := ledger.Effect{Project: "shop", Key: "k", Body: v.Interface().(ledger.EffectBody)}
		p, err := want.Pending()
		if err != nil {
			t.Fatal(err)
		}
		if p.Stream != "project/shop" || p.Kind != kind || p.Class != k.Class || p.Key != "k" {
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
	if _, err := (ledger.Effect{Body: strangeEffect{}}).Pending(); err == nil || !strings.Contains(err.Error(), "strange") {
		t.Errorf("an effect without a class can be committed: %v", err)
	}
	if _, err := (ledger.PendingEffect{Kind: "strange"}).Effect(); err == nil {
		t.Error("an effect of an unknown kind is read")
	}
	if _, err := (ledger.PendingEffect{Kind: "mark", Body: []byte("x")}).Effect(); err == nil {
		t.Error("an effect that does not decode is read")
	}
}
