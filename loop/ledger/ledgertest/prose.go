package ledgertest

import (
	"reflect"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// prose names the fields of entries, effects and states in which sentences stand.
// Codes and reasons that programs compare have types of their own.
var prose = map[string]bool{
	"Text": true, "Why": true, "Note": true, "Reason": true, "Then": true, "Trouble": true, "LastFail": true, "HatsBad": true, "Remedy": true,
}

// Reword returns a copy of an entry with every sentence changed by to.
func Reword(t testing.TB, e ledger.Entry, to func(string) string) ledger.Entry {
	t.Helper()
	r, err := e.Record()
	if err != nil {
		t.Fatalf("%v", err)
	}
	if e, err = r.Entry(); err != nil {
		t.Fatalf("%v", err)
	}
	body := reflect.New(reflect.TypeOf(e.Body))
	body.Elem().Set(reflect.ValueOf(e.Body))
	RewordIn(body.Interface(), to)
	e.Body = body.Elem().Interface().(ledger.Body)
	return e
}

// RewordIn changes every sentence in the value that p points to, and in all that
// the value's exported fields hold.
func RewordIn(p any, to func(string) string) { reword(reflect.ValueOf(p), to) }

func reword(v reflect.Value, to func(string) string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			reword(v.Elem(), to)
		}
	case reflect.Slice:
		for i := range v.Len() {
			reword(v.Index(i), to)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			e := reflect.New(v.Type().Elem())
			e.Elem().Set(v.MapIndex(k))
			reword(e, to)
			v.SetMapIndex(k, e.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f, def := v.Field(i), v.Type().Field(i)
			switch {
			case !def.IsExported():
			case prose[def.Name] && f.Type() == reflect.TypeFor[string]():
				if f.String() != "" {
					f.SetString(to(f.String()))
				}
			default:
				reword(f, to)
			}
		}
	}
}
