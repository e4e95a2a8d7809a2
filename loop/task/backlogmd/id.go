package backlogmd

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// splitID splits an id at its last hyphen before a digit: "TASK", "12.1".
func splitID(id string) (prefix, number string) {
	n := strings.IndexFunc(id, unicode.IsDigit)
	if n < 0 {
		return "", id
	}
	return strings.TrimSuffix(id[:n], "-"), id[n:]
}

// keyOf returns what two ids of one task have in common: case and zeros before a
// number do not matter.
func keyOf(id string) string {
	prefix, number := splitID(ledger.FoldID(id))
	parts := strings.Split(number, ".")
	for n, p := range parts {
		if p = strings.TrimLeft(p, "0"); p == "" {
			p = "0"
		}
		parts[n] = p
	}
	return prefix + "-" + strings.Join(parts, ".")
}

// compareIDs orders ids by prefix and in counting order: 2 < 2.1 < 10.
func compareIDs(a, b string) int {
	ap, an := splitID(keyOf(a))
	bp, bn := splitID(keyOf(b))
	if c := strings.Compare(ap, bp); c != 0 {
		return c
	}
	as, bs := strings.Split(an, "."), strings.Split(bn, ".")
	for n := range min(len(as), len(bs)) {
		if c := cmp.Or(cmp.Compare(len(as[n]), len(bs[n])), strings.Compare(as[n], bs[n])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

// IDOf returns the id in the name of a task's file, "" for none.
func IDOf(name string) string {
	if !IsTaskName(path.Base(name)) {
		return ""
	}
	id, _, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".md"), " - ")
	return id
}

// NextIDs returns ids for new tasks: those that they bring, or else the next ones
// after all that were ever given. files are the tasks there are, names the names of
// all files, archived ones as well. An id that is there is a *ledger.InputError.
func NextIDs(c Config, folder string, files []*File, names []string, tasks []ledger.Task) ([]string, error) {
	taken := map[string]bool{}
	highest, prefix := 0, strings.ToUpper(c.Prefix)
	note := func(id string) {
		taken[keyOf(id)] = true
		if p, number := splitID(id); strings.EqualFold(p, c.Prefix) {
			number, _, _ = strings.Cut(number, ".")
			if n, err := strconv.Atoi(number); err == nil && n < 1e9 {
				highest = max(highest, n)
			}
		}
	}
	for _, f := range files {
		note(f.ID)
		if p, _ := splitID(f.ID); strings.EqualFold(p, c.Prefix) && p == strings.ToLower(p) {
			prefix = p // older versions of Backlog.md write task-12
		}
	}
	for _, name := range names {
		if id := IDOf(name); id != "" {
			note(id)
		}
	}
	var ids []string
	for _, t := range tasks {
		id := t.ID
		if id == "" {
			highest++
			id = fmt.Sprintf("%s-%0*d", prefix, max(c.Digits, 1), highest)
		}
		switch {
		case taken[keyOf(id)]:
			return nil, form.InputError(folder, "has "+id+" already", "Give the new task another id")
		case !IsTaskName(id + ".md"):
			return nil, form.InputError(folder, fmt.Sprintf("cannot take the id %q: expected one word like %s-12", clip(id, 40), prefix), "")
		}
		taken[keyOf(id)] = true
		ids = append(ids, id)
	}
	for _, t := range tasks {
		for _, on := range t.DependsOn {
			if !taken[keyOf(on)] {
				return nil, form.InputError(folder, "has no "+on+", which the new task depends on", "")
			}
		}
	}
	return ids, nil
}
