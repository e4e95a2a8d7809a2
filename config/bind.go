package config

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// fromTOML is implemented by types that accept several forms in TOML. An
// implementation returns errTable for a table, which the binder then reads into
// the struct's fields.
type fromTOML interface{ fromTOML(x any) error }

var errTable = errors.New("as a table")

// valueError is a bad value with a suggestion or a remedy.
type valueError struct{ text, meant, fix string }

func (e *valueError) Error() string { return e.text }

// binder copies a document into a struct and collects every mistake. A field
// with a mistake keeps its zero value.
type binder struct {
	doc      *document
	root     reflect.Type
	problems []ledger.Diagnostic
}

// bind reads the whole document into the struct that v points to, and returns
// all mistakes.
func bind(doc *document, v any) []ledger.Diagnostic {
	b := &binder{doc: doc, root: reflect.TypeOf(v).Elem()}
	b.table(reflect.ValueOf(v).Elem(), doc.values, nil)
	return b.problems
}

func (b *binder) value(v reflect.Value, x any, path []string, tag reflect.StructTag) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if f, ok := v.Addr().Interface().(fromTOML); ok {
		err := f.fromTOML(x)
		if err == nil {
			return
		}
		if !errors.Is(err, errTable) {
			b.bad(path, err)
			return
		}
	} else if t, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		s, isText := x.(string)
		if !isText {
			b.wrongType(path, "a text in quotes", x)
		} else if err := t.UnmarshalText([]byte(s)); err != nil {
			b.bad(path, err)
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		b.text(v, x, path, tag)
	case reflect.Bool:
		if t, ok := x.(bool); ok {
			v.SetBool(t)
		} else {
			b.wrongType(path, "true or false, without quotes", x)
		}
	case reflect.Int, reflect.Int64, reflect.Float64:
		b.number(v, x, path)
	case reflect.Slice:
		b.list(v, x, path, tag)
	case reflect.Map:
		b.tables(v, x, path)
	case reflect.Struct:
		if t, ok := x.(map[string]any); ok {
			b.table(v, t, path)
		} else {
			b.wrongType(path, "a table", x)
		}
	default:
		panic("config: no way to read a " + v.Type().String()) // a field of this program, not an input
	}
}

func (b *binder) text(v reflect.Value, x any, path []string, tag reflect.StructTag) {
	s, ok := x.(string)
	if !ok {
		b.wrongType(path, "a text in quotes", x)
		return
	}
	if words := strings.Fields(tag.Get("oneof")); len(words) > 0 && !slices.Contains(words, s) {
		b.bad(path, &valueError{
			text:  notOneOf(strings.TrimPrefix(lastName(path), eachOf), s, words),
			meant: nearest.Of(s, words),
		})
		return
	}
	v.SetString(s)
}

// notOneOf is the message about a text that is not among a key's allowed
// values.
func notOneOf(key, text string, words []string) string {
	return fmt.Sprintf("%s: %q is not one of %s", key, text, list(words))
}

// number reads a number. It refuses negative ones: every number in the
// configuration is a count, a limit or an amount.
func (b *binder) number(v reflect.Value, x any, path []string) {
	var n float64
	switch x := x.(type) {
	case int64:
		n = float64(x)
		if v.Kind() != reflect.Float64 {
			v.SetInt(max(x, 0))
		}
	case float64:
		n = x
		if v.Kind() != reflect.Float64 {
			b.wrongType(path, "a whole number", x)
			return
		}
		if math.IsNaN(n) || math.IsInf(n, 0) {
			b.bad(path, fmt.Errorf("%s cannot be without end: leave it out for no limit", lastName(path)))
			return
		}
	default:
		b.wrongType(path, map[bool]string{true: "a number", false: "a whole number"}[v.Kind() == reflect.Float64]+" without quotes", x)
		return
	}
	if n < 0 {
		b.bad(path, fmt.Errorf("%s cannot be negative", lastName(path)))
		return
	}
	if v.Kind() == reflect.Float64 {
		v.SetFloat(n)
	}
}

func (b *binder) list(v reflect.Value, x any, path []string, tag reflect.StructTag) {
	items, ok := x.([]any)
	if !ok {
		if t, isTable := x.(map[string]any); isTable && len(path) == 1 && v.Type().Elem().Kind() == reflect.Struct {
			p := b.doc.atKey(path, fmt.Sprintf("[%s] has to be [[%s]]: there can be several", path[0], path[0]))
			p.Meant = "[[" + path[0] + "]]"
			b.problems = append(b.problems, p)
			one := reflect.MakeSlice(v.Type(), 1, 1) // reads the single value as a list, so that mistakes within it are reported, too
			b.table(one.Index(0), t, path)
			return
		}
		b.wrongType(path, `a list like ["a", "b"]`, x)
		return
	}
	out := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		b.value(out.Index(i), item, child(path, strconv.Itoa(i)), tag)
	}
	v.Set(out)
}

// tables reads a table whose keys are names that people chose, such as
// [agents.X].
func (b *binder) tables(v reflect.Value, x any, path []string) {
	t, ok := x.(map[string]any)
	if !ok {
		b.wrongType(path, fmt.Sprintf("tables by name, like [%s.NAME]", lastName(path)), x)
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for name, item := range t {
		e := reflect.New(v.Type().Elem()).Elem()
		b.value(e, item, child(path, name), "")
		v.SetMapIndex(reflect.ValueOf(name), e)
	}
}

func (b *binder) table(v reflect.Value, t map[string]any, path []string) {
	fields := fieldsOf(v.Type())
	for key, x := range t {
		f, ok := fields[key]
		if !ok {
			b.unknown(key, fields, path)
			continue
		}
		b.value(v.FieldByIndex(f.Index), x, child(path, key), f.Tag)
	}
}

// unknown reports an unknown key. It suggests the nearest key of the same
// section, or names the section to which the key belongs.
func (b *binder) unknown(key string, fields map[string]reflect.StructField, path []string) {
	text := fmt.Sprintf("unknown key %q", key)
	if s := b.section(path); s != "" {
		text += " in " + s
	}
	p := b.doc.atKey(child(path, key), text)
	if home := b.sectionOf(b.root, key, nil); home != "" {
		p.Remedy = fmt.Sprintf("%q belongs %s", key, home)
	} else {
		names := make([]string, 0, len(fields))
		for n := range fields {
			names = append(names, n)
		}
		p.Meant = nearest.Of(key, names)
	}
	b.problems = append(b.problems, p)
}

// sectionOf describes the section of the schema that has the key, for a
// message: "in [telegram]". "" when no section has it.
func (b *binder) sectionOf(t reflect.Type, key string, path []string) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		if t.Kind() == reflect.Map {
			path = child(path, "NAME")
		}
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && len(path) == 1 {
			path = []string{"[" + path[0] + "]"}
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return ""
	}
	if _, ok := fieldsOf(t)[key]; ok {
		if len(path) == 0 {
			return "at the top, before the first section"
		}
		return "in [" + strings.Join(path, ".") + "]"
	}
	for i := range t.NumField() {
		if name := tomlName(t.Field(i)); name != "" {
			if home := b.sectionOf(t.Field(i).Type, key, child(path, name)); home != "" {
				return home
			}
		}
	}
	return ""
}

// section names the part of the file that a path leads to, as people write it:
// "[[project]] shop", "[agents.mine]".
func (b *binder) section(path []string) string {
	if len(path) == 0 {
		return ""
	}
	items, isList := b.doc.values[path[0]].([]any)
	if !isList || len(path) < 2 {
		return "[" + strings.Join(path, ".") + "]"
	}
	s := "[[" + path[0] + "]]"
	if i, err := strconv.Atoi(path[1]); err == nil && i < len(items) {
		if t, ok := items[i].(map[string]any); ok {
			if name, ok := t["name"].(string); ok {
				s += " " + name
			}
		}
	}
	for i, name := range path[2:] {
		if _, err := strconv.Atoi(name); err == nil {
			continue // an index in a list: the line shows which element
		}
		s += map[bool]string{true: ", ", false: "."}[i == 0] + name
	}
	return s
}

func (b *binder) bad(path []string, err error) {
	p := b.doc.atValue(path, err.Error())
	var ve *valueError
	if errors.As(err, &ve) {
		p.Meant, p.Remedy = ve.meant, ve.fix
	}
	b.problems = append(b.problems, p)
}

func (b *binder) wrongType(path []string, want string, got any) {
	b.problems = append(b.problems, b.doc.atValue(path, fmt.Sprintf("%s must be %s, not %s", lastName(path), want, kindOf(got))))
}

// kindOf names the TOML type of a value, for a message.
func kindOf(x any) string {
	switch x.(type) {
	case string:
		return "a text"
	case int64:
		return "a number"
	case float64:
		return "a number with a fraction"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date or time without quotes"
}

const eachOf = "each of "

// lastName returns the last key of a path, without the indices of lists.
func lastName(path []string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if _, err := strconv.Atoi(path[i]); err != nil {
			if i < len(path)-1 {
				return eachOf + path[i]
			}
			return path[i]
		}
	}
	return "it"
}

func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	if fields, ok := fieldsByType.Load(t); ok {
		return fields.(map[string]reflect.StructField)
	}
	fields := map[string]reflect.StructField{}
	for i := range t.NumField() {
		if name := tomlName(t.Field(i)); name != "" {
			fields[name] = t.Field(i)
		}
	}
	fieldsByType.Store(t, fields)
	return fields
}

// fieldsByType holds what fieldsOf returned: dozens of hats have one type.
var fieldsByType sync.Map

func tomlName(f reflect.StructField) string {
	if name := f.Tag.Get("toml"); name != "-" {
		return name
	}
	return ""
}

func child(path []string, name string) []string { return append(slices.Clone(path), name) }
