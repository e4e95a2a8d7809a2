package guard

import (
	"slices"
	"strings"
)

// sqlClients take statements as arguments.
var sqlClients = []string{
	"psql", "pgcli", "mysql", "mariadb", "mycli", "sqlite3", "sqlite", "litecli", "sqlcmd", "usql", "duckdb",
	"clickhouse-client", "clickhouse", "cockroach", "cqlsh", "snowsql", "trino",
}

// verbs begin a rule of SQL that is not in capitals.
var verbs = []string{"drop", "truncate", "delete", "alter"}

// things follow a verb there; without one of them it is a program's name.
var things = []string{"table", "database", "schema", "from", "index", "view", "user", "role"}

// isSQL reports whether a rule's words are SQL: all in capitals, or well known.
func isSQL(words []string) bool {
	for _, w := range words {
		if strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
			return len(words) > 1 && slices.Contains(verbs, strings.ToLower(words[0])) && slices.Contains(things, strings.ToLower(words[1]))
		}
	}
	return len(words[0]) > 2
}

// sqlTools are programs that do by themselves what the words say.
func sqlTools(words []string) []string {
	if slices.Equal(words, []string{"drop", "database"}) {
		return []string{"dropdb", "mysqladmin"}
	}
	return nil
}

// sqlIn is why a call of a client says the rule's words, "" for others.
func (r rule) sqlIn(c Call) string {
	why := "it says " + strings.ToUpper(strings.Join(r.words, " "))
	switch c.Program {
	case "dropdb":
		return "it drops a database"
	case "mysqladmin":
		if slices.Contains(c.Args, "drop") {
			return "it drops a database"
		}
		return ""
	}
	for _, a := range c.Args {
		// A statement can stand right behind its flag: -cDROP TABLE x.
		if says(a, r.words) || len(a) > 2 && a[0] == '-' && says(a[2:], r.words) {
			return why
		}
	}
	return ""
}

// says reports whether the words stand in the text one after the other, with
// nothing but space and comments between them. Quoted text counts: a statement
// can be given to another one in quotes.
func says(text string, words []string) bool {
	at := 0
	for len(text) > 0 {
		switch {
		case strings.HasPrefix(text, "/*") && !strings.HasPrefix(text, "/*!"): // /*! is run by MySQL
			_, text, _ = strings.Cut(text[2:], "*/")
			continue
		case strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
			continue
		case strings.ContainsRune(" \t\r\n\v\f", rune(text[0])):
			text = text[1:]
			continue
		}
		n := 0
		for n < len(text) && wordByte(text[n]) {
			n++
		}
		word := text[:max(n, 1)]
		text = text[len(word):]
		if !strings.EqualFold(word, words[at]) {
			at = 0
		}
		if strings.EqualFold(word, words[at]) {
			if at++; at == len(words) {
				return true
			}
		}
	}
	return false
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}
