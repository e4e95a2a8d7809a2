package triage_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/triage"
)

var update = flag.Bool("update", false, "write the table of docs/triage.md anew")

// labelled is a report of the corpus with the gate that should set it aside.
type labelled struct {
	ID, Lang, Title, Body, Page, URL, Console, Screenshot, Of string
	Gate                                                      ledger.Gate
	held                                                      bool // no rule was tuned on it
}

var shop = triage.Vocabulary{
	Routes: []string{"/cart", "/checkout", "/invoices", "/invoices/:id", "/login", "/orders", "/orders/:id", "/products/:id", "/search",
		"/settings", "/settings/profile", "/api/settings"},
	Components: []string{"CartDrawer", "CheckoutForm", "InvoiceList", "LoginForm", "OrderTable", "ProductCard", "SearchBar"},
	Terms:      []string{"carrito", "factura", "facturas", "invoice", "product card", "product cards", "warenkorb", "rechnung"},
	Domains:    []string{"lumen.example"},
	Siblings:   []string{"Lumen Warehouse", "lumen-admin", "warehouse.lumen.example"},
}

func corpus(t testing.TB) (list []labelled, tasks []ledger.Task) {
	raw, err := os.ReadFile(filepath.Join("testdata", "corpus.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		l := &list[i]
		l.held = i%2 == 1
		r := &ledger.Report{Page: l.Page, URL: l.URL, Screenshot: l.Screenshot}
		if l.Console != "" {
			r.Console = []string{l.Console}
		}
		tasks = append(tasks, ledger.Task{ID: l.ID, Title: l.Title, Body: l.Body, Report: r})
	}
	return list, tasks
}

// TestCorpus holds docs/triage.md to what the rules do with the corpus.
func TestCorpus(t *testing.T) {
	list, tasks := corpus(t)
	got := map[string]ledger.Triage{}
	for _, r := range triage.Sort(triage.Inputs{Reports: tasks, Vocabulary: shop, Now: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}) {
		got[r.Task] = r
	}
	// The higher-scored of two duplicates stays, which may be the later one.
	for i, l := range list {
		if r := got[l.ID]; l.Gate == ledger.GateDuplicate && r.Kept() {
			for j, o := range list {
				if o.ID == l.Of && got[o.ID].Gate == ledger.GateDuplicate && got[o.ID].Of == l.ID {
					list[i].Gate, list[j].Gate = "", ledger.GateDuplicate
				}
			}
		}
	}
	var b strings.Builder
	for _, held := range []bool{false, true} {
		name := "Tuned on"
		if held {
			name = "Held out"
		}
		fmt.Fprintf(&b, "| %s | reports to set aside | set aside | rightly | precision | recall | missed, but left to the triager |\n|---|---|---|---|---|---|---|\n", name)
		for _, g := range append(ledger.Gates(), "any gate") {
			var want, said, right, open int
			for _, l := range list {
				r := got[l.ID]
				isWanted, isSaid := l.Gate == g, r.Gate == g
				if g == "any gate" {
					isWanted, isSaid = l.Gate != "", r.Gate != ""
				}
				if l.held != held {
					continue
				}
				want += count(isWanted)
				said += count(isSaid)
				right += count(isWanted && isSaid)
				open += count(isWanted && r.Kept() && len(r.Open) > 0)
			}
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %s | %d |\n", g, want, said, right, share(right, said), share(right, want), open)
		}
		b.WriteByte('\n')
	}
	b.WriteString("Every miss:\n\n| report | half | title | should be | rules say | left open |\n|---|---|---|---|---|---|\n")
	for _, l := range list {
		if r := got[l.ID]; r.Gate != l.Gate {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", l.ID, map[bool]string{true: "held out", false: "tuned on"}[l.held], l.Title,
				kept(l.Gate), kept(r.Gate), strings.Trim(fmt.Sprint(r.Open), "[]"))
		}
	}
	path := filepath.Join("..", "..", "docs", "triage.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- corpus -->\n", "<!-- end of corpus -->"
	head, rest, ok := strings.Cut(string(page), begin)
	old, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", path)
	}
	if old == b.String() {
		return
	}
	if !*update {
		t.Fatalf("%s has other figures than the rules; go test ./loop/triage -update writes these:\n%s", path, b.String())
	}
	if err := os.WriteFile(path, []byte(head+begin+b.String()+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func share(n, of int) string {
	if of == 0 {
		return "none"
	}
	return fmt.Sprintf("%.2f", float64(n)/float64(of))
}

func kept(g ledger.Gate) string {
	if g == "" {
		return "kept"
	}
	return string(g)
}
