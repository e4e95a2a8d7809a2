package bot

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestChoose(t *testing.T) {
	currency := ledger.Question{ID: "q2", Kind: ledger.AskAgent, Options: []string{"Euro", "Pound sterling"}}
	blocked := ledger.Question{ID: "q5", Kind: ledger.AskBlocked}
	budget := ledger.Question{ID: "q7", Kind: ledger.AskBudget}
	for _, c := range []struct {
		q             ledger.Question
		text          string
		choice, words string
	}{
		{currency, "a", "a", ""},
		{currency, "euro", "a", ""}, // an option's text, in any case
		{currency, "Pound Sterling", "b", ""},
		{currency, "skip", "skip", ""},
		{currency, "a man should look at it", "", "a man should look at it"},
		{currency, "euro, but show both", "", "euro, but show both"},
		{blocked, "r", "retry", ""},
		{blocked, "guide Refund by line", "guide", "Refund by line"},
		{blocked, "Refund by line", "", "Refund by line"},
		{blocked, "5", "", "5"},
		{budget, "+$5", "more", "+$5"}, // as its button has it
		{budget, "$ 7.50", "more", "$ 7.50"},
		{budget, "500k", "more", "500k"},
		{budget, "more 20", "more", "20"},
		{budget, "more or less", "more", "or less"}, // refused as an amount
		{budget, "5 minutes", "", "5 minutes"},
	} {
		if choice, words := Choose(c.q, c.text); choice != c.choice || words != c.words {
			t.Errorf("%s %q: %q, %q; want %q, %q", c.q.ID, c.text, choice, words, c.choice, c.words)
		}
	}
}
