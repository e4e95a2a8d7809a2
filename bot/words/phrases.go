package words

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed phrases
var files embed.FS

// phraseBook holds the phrases of all languages.
type phraseBook struct {
	phrases  map[string]Meaning   // by their words, parted by spaces
	byCount  map[int][][]string   // the same as words, by their number
	fillers  [][]string           // words that say nothing at either end, the longest first
	keywords map[string][]Meaning // meanings that a word hints at
}

// phrases returns the phrases of all languages. They are read once.
var phrases = sync.OnceValue(func() *phraseBook {
	b, err := load()
	if err != nil {
		panic(err) // cannot happen: the files are part of the program, and a test reads them
	}
	return b
})

// load reads all phrase files. Its error names every line that cannot be read, and
// every phrase with two meanings.
func load() (*phraseBook, error) {
	entries, err := files.ReadDir("phrases")
	if err != nil {
		return nil, err
	}
	b := newPhraseBook()
	var wrong []error
	for _, e := range entries {
		text, err := files.ReadFile("phrases/" + e.Name())
		if err == nil {
			err = b.read(string(text))
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", e.Name(), err))
		}
	}
	slices.SortStableFunc(b.fillers, func(x, y []string) int { return len(y) - len(x) })
	return b, errors.Join(wrong...)
}

func newPhraseBook() *phraseBook {
	return &phraseBook{phrases: map[string]Meaning{}, byCount: map[int][][]string{}, keywords: map[string][]Meaning{}}
}

// read adds the phrases of a file. A line is one of:
//
//	# a comment
//	[stop now]         the following lines mean Stop with the argument "now"
//	stop (it|the run)  a phrase; (a|b) is one of them, [a|b] one of them or nothing
//	~ stop halt        words that hint at the meaning within a sentence
//
// In section [filler], phrases are what may stand before or behind any other one.
func (b *phraseBook) read(text string) error {
	var m Meaning
	var wrong []error
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") && strings.Count(line, "[") == 1 && !strings.Contains(line, "|"):
			intent, arg, _ := strings.Cut(line[1:len(line)-1], " ")
			if m = (Meaning{Intent: Intent(intent), Arg: arg}); !slices.Contains(intents, m.Intent) {
				wrong = append(wrong, fmt.Errorf("line %d: no meaning %q", n+1, intent))
			}
			continue
		case strings.HasPrefix(line, "~"):
			for _, w := range strings.Fields(line[1:]) {
				key := strings.Join(tokens(w), " ")
				b.keywords[key] = append(b.keywords[key], m)
			}
			continue
		}
		for _, p := range expand(line) {
			if err := b.add(tokens(p), m); err != nil {
				wrong = append(wrong, fmt.Errorf("line %d: %w", n+1, err))
			}
		}
	}
	return errors.Join(wrong...)
}

func (b *phraseBook) add(ws []string, m Meaning) error {
	if m.Intent == filler {
		b.fillers = append(b.fillers, ws)
		return nil
	}
	key := strings.Join(ws, " ")
	switch old, twice := b.phrases[key]; {
	case key == "":
		return fmt.Errorf("a phrase without words")
	case twice && old != m:
		return fmt.Errorf("%q means both %v and %v", key, old, m)
	case twice:
		return nil
	}
	b.phrases[key] = m
	b.byCount[len(ws)] = append(b.byCount[len(ws)], ws)
	return nil
}

// expand returns all phrases that a line stands for. Groups do not nest.
func expand(line string) []string {
	open := strings.IndexAny(line, "([")
	if open < 0 {
		return []string{line}
	}
	size := strings.IndexAny(line[open:], ")]")
	if size < 0 {
		return []string{line}
	}
	choices := strings.Split(line[open+1:open+size], "|")
	if line[open] == '[' {
		choices = append(choices, "")
	}
	var out []string
	for _, rest := range expand(line[open+size+1:]) {
		for _, c := range choices {
			out = append(out, line[:open]+c+rest)
		}
	}
	return out
}
