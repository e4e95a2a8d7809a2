// Package ledgertest makes entries for tests.
//
//   - fill.go fills every field of an entry: for the golden JSON in package ledger
//     and for the fold in package loop. A type with a fixed set of values needs a
//     row in its table of samples.
//   - prose.go changes every sentence of an entry or a state, for tests that
//     nothing depends on a sentence.
package ledgertest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// samples holds a valid value for each type with a fixed set of values.
var samples = map[reflect.Type]any{
	reflect.TypeFor[time.Time]():              time.Date(2026, 11, 19, 23, 10, 0, 5, time.UTC),
	reflect.TypeFor[json.RawMessage]():        json.RawMessage(`{"summary":"s","other":[1,null]}`),
	reflect.TypeFor[ledger.Duration]():        ledger.Duration(90 * time.Second),
	reflect.TypeFor[ledger.Status]():          ledger.Blocked,
	reflect.TypeFor[ledger.Mark]():            ledger.MarkBlocked,
	reflect.TypeFor[ledger.Kind]():            ledger.KindVerify,
	reflect.TypeFor[ledger.ExitReason]():      ledger.ExitSelf,
	reflect.TypeFor[ledger.FailureClass]():    ledger.FailureLimit,
	reflect.TypeFor[ledger.SessionOutcome]():  ledger.EndedEvent,
	reflect.TypeFor[ledger.Accounting]():      ledger.CountsAsSuccess,
	reflect.TypeFor[ledger.Severity]():        ledger.Major,
	reflect.TypeFor[ledger.RunState]():        ledger.RunWaiting,
	reflect.TypeFor[ledger.WaitReason]():      ledger.WaitLimit,
	reflect.TypeFor[ledger.Reason]():          ledger.ReasonBlocked,
	reflect.TypeFor[ledger.Stage]():           ledger.StageChecks,
	reflect.TypeFor[ledger.Expect]():          ledger.ExpectPass,
	reflect.TypeFor[ledger.ThresholdSide]():   ledger.Above,
	reflect.TypeFor[ledger.QuestionKind]():    ledger.AskBlocked,
	reflect.TypeFor[guidance.State]():         guidance.Addressed,
	reflect.TypeFor[ledger.Role]():            ledger.RoleSteer,
	reflect.TypeFor[ledger.DeferredCommand](): ledger.DeferStopNow,
	reflect.TypeFor[ledger.AttemptOutcome]():  ledger.OutcomeStalled,
	reflect.TypeFor[ledger.MemoryKind]():      ledger.MemoryDecision,
	reflect.TypeFor[ledger.Hours]():           ledger.Hours("23:00-07:00"),
	reflect.TypeFor[ledger.IdeaEnd]():         ledger.IdeaWritten,
}

// Fill sets every field of v to a value that is not its zero value. String
// fields get name, or the name of their field in lower case, and then suffix.
// Types whose values are words of a fixed set get one of these words.
func Fill(t *testing.T, v reflect.Value, name string, suffix ...string) {
	t.Helper()
	if s, ok := samples[v.Type()]; ok {
		v.Set(reflect.ValueOf(s))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(name + strings.Join(suffix, ""))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(len(name)))
	case reflect.Float64:
		v.SetFloat(0.25)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		Fill(t, v.Index(0), name, suffix...)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		Fill(t, e, name, suffix...)
		v.SetMapIndex(reflect.ValueOf(name+strings.Join(suffix, "")).Convert(v.Type().Key()), e)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		Fill(t, v.Elem(), name, suffix...)
	case reflect.Struct:
		for n := range v.NumField() {
			if f := v.Type().Field(n); f.Tag.Get("json") != "-" { // no entry stores it
				Fill(t, v.Field(n), strings.ToLower(f.Name), suffix...)
			}
		}
	default:
		t.Fatalf("%s: no sample for %s", name, v.Type())
	}
}
