package guard

import (
	"slices"
	"strings"
)

// sqlClients are programs that take statements as arguments.
var sqlClients = []string{
	"psql", "pgcli", "mysql", "mariadb", "mycli", "sqlite3", "sqlite", "litecli", "sqlcmd", "usql", "duckdb",
	"clickhouse-client", "clickhouse", "cockroach", "cqlsh", "snowsql", "trino",
}

// sqlVerbs begin a rule of SQL in lower case, if a word of sqlNouns follows.
var sqlVerbs = []string{"drop", "truncate", "delete", "alter"}

// sqlNouns tell such a rule from a program with the name of a verb.
var sqlNouns = []string{"table", "database", "schema", "from", "index", "view", "user", "role"}

// isSQL reports whether a rule is SQL: in capitals, or a verb and a noun.
func isSQL(words []string) bool {
	for _, w := range words {
		if strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
			return len(words) > 1 && slices.Contains(sqlVerbs, strings.ToLower(words[0])) && slices.Contains(sqlNouns, strings.ToLower(words[1]))
		}
	}
	return len(words[0]) > 2
}

// sqlTools returns programs equivalent to an SQL statement, such as dropdb for
// DROP DATABASE.
func sqlTools(words []string) []string {
	if slices.Equal(words, []string{"drop", "database"}) {
		return []string{"dropdb", "mysqladmin"}
	}
	return nil
}

// sqlReason returns why a client's call contains the rule's words, "" if it
// does not.
func (r rule) sqlReason(c Call) string {
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
		// A statement may follow its flag directly: "-cDROP TABLE x".
		if containsWords(a, r.words) || len(a) > 2 && a[0] == '-' && containsWords(a[2:], r.words) {
			return why
		}
	}
	return ""
}

// containsWords reports whether text contains the words one after the other,
// with only space and comments between them. It also finds them in quotes: a
// quoted string may be a statement for another program.
func containsWords(text string, words []string) bool {
	at := 0
	for len(text) > 0 {
		switch {
		case strings.HasPrefix(text, "/*") && !strings.HasPrefix(text, "/*!"): // MySQL executes /*! comments
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
