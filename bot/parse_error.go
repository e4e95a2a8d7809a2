package bot

import (
	"errors"
	"strings"

	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxTwin limits the bytes of a person's words that a button's command repeats.
const maxTwin = 200

// parseMistake returns the reply to a line that Parse refused.
func parseMistake(err error) Message {
	var unknown *UnknownError
	var usage *UsageError
	switch {
	case errors.As(err, &unknown):
		m := refusal("cmd.unknown", SignAsk+" No "+Cut(Foreign(unknown.Word), 14)+". "+didYouMean(unknown.Meant))
		m.quote(unknown.Rest)
		m.add("Nothing was done.")
		if strings.EqualFold(unknown.Word, "/undo") {
			m.add(howToTakeBack)
		}
		if twin := unknown.Meant; twin != "" {
			if len(unknown.Rest) < maxTwin {
				twin = strings.TrimSpace(twin + " " + unknown.Rest)
			}
			// "/stopp the presses" gets no button: /stop does not take these words.
			if _, err := Parse(twin); err == nil {
				label := strings.TrimPrefix(unknown.Meant, "/")
				m.button(strings.ToUpper(label[:1])+label[1:], twin)
			}
		}
		m.button("Help", "/help")
		return m
	case errors.As(err, &usage):
		m := refusal("cmd.usage", SignFailed+" Not done: "+Cut(Foreign(usage.Got), 20)+"?")
		m.add("Type " + usage.Use + ".")
		return m
	}
	m := refusal("cmd.empty", SignAsk+" Nothing was typed")
	m.button("Help", "/help")
	return m
}

func didYouMean(word string) string {
	if word == "" {
		return "See /help"
	}
	return "Meant " + word + "?"
}

func noProject(name string, all []string) Message {
	m := refusal("cmd.noproject", SignFailed+" No project "+Cut(Foreign(name), 24))
	m.add("Nothing was done. Here: " + orNothing(strings.Join(all, ", ")) + ".")
	return m
}

func noTask(s loop.State, typed string) Message {
	typed = Cut(Foreign(typed), 14)
	if digits.MatchString(typed) {
		typed = "#" + typed
	}
	var ids []string
	for _, t := range s.Project.Tasks.All() {
		if t.Status != ledger.Withdrawn {
			ids = append(ids, t.Task.ID)
		}
	}
	has := ""
	if len(ids) > 0 {
		has = " (it has " + Ranges(ids) + ")"
	}
	m := refusal("cmd.notask", SignFailed+" "+s.Project.Name+" has no "+typed+has)
	m.add("Nothing was changed.")
	m.button("Tasks", "/tasks")
	return m
}

func noHat(hat string, hats []string, text string) Message {
	m := refusal("guidance.nohat", SignFailed+" Not queued: no hat @"+Cut(Foreign(hat), 16))
	m.quote(text)
	if best := nearest.Of(hat, hats); best != "" {
		m.add("Meant @" + best + "?")
		_, words, _ := strings.Cut(text, "@"+hat)
		if words = strings.TrimLeft(words, ": "); words != "" && len(text) < maxTwin {
			m.button("Use @"+best, "/guidance @"+best+" "+words)
		}
		return m
	}
	m.add("Hats: " + strings.Join(hats, ", ") + ".")
	return m
}

// exampleTask returns the id of a task that is not over, "7" if there is none.
func exampleTask(s loop.State) string {
	for _, t := range s.Project.Tasks.All() {
		if t.Status != ledger.Withdrawn && t.Status != ledger.Done {
			return idArg(t.Task.ID)
		}
	}
	return "7"
}
