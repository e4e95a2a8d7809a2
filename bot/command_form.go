package bot

import (
	"context"
	"strings"

	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// commandForm is a row of the command table: everything that belongs to one command.
type commandForm struct {
	verb  Verb
	takes takes
	use   string // how to type the command; "" for a command without a slash
	help  string // one line, for /help VERB and a chat's menu
	role  ledger.Role
	// roleFor returns the required role if it depends on the arguments; nil:
	// role.
	roleFor func(Command) ledger.Role

	// At least one of shared and project is set. shared is called first and needs
	// no project; it returns done = false to leave the command to project.
	shared  func(ctx context.Context, h sharedRequest) (m Message, done bool, err error)
	project func(ctx context.Context, d dispatch) (Message, error)

	section string // section of /help; "" = /help does not list the command
	listed  string // the command as /help lists it
	menu    int    // its position in a chat's menu from 1, 0 for none
	twin    Twin   // its counterpart in the shell
}

// Twin is the shell's counterpart of a chat command: `nightporter pause` of
// /pause. The zero value means that there is none.
type Twin struct {
	Name  string // "" for none: the help then says where to type the command instead
	Args  string // as the usage line shows them
	Short string // one line; "" for a subcommand with a usage of its own
}

// helpSections lists the sections of /help in order.
var helpSections = []string{"Steer", "Hold", "Look", "Decide", "Start", "Night", "People"}

// commandForms is the table of commands, in the order of /help. init fills it because
// handlers read it for suggestions, which Go refuses as an initialization cycle
// in a variable's value.
var commandForms []commandForm

// typed reports whether the command is typed with a slash.
func (f commandForm) typed() bool { return f.use != "" }

// row returns the verb's row of the table, the zero form for an unknown verb.
func (v Verb) row() commandForm {
	for _, f := range commandForms {
		if f.verb == v {
			return f
		}
	}
	return commandForm{}
}

// Twins returns, by chat command, the shell commands that only pass their line
// to the process that holds the lock of the state folder.
func Twins() map[Verb]Twin {
	out := map[Verb]Twin{}
	for _, f := range commandForms {
		if f.twin.Short != "" {
			out[f.verb] = f.twin
		}
	}
	return out
}

// TwinNames returns the names of all shell counterparts, by chat command.
func TwinNames() map[Verb]string {
	out := map[Verb]string{}
	for _, f := range commandForms {
		if f.twin.Name != "" {
			out[f.verb] = f.twin.Name
		}
	}
	return out
}

// findCommand returns the row of a command word, in any case and without its slash.
func findCommand(word string) (commandForm, bool) {
	for _, f := range commandForms {
		if f.typed() && strings.EqualFold(word, string(f.verb)) {
			return f, true
		}
	}
	return commandForm{}, false
}

// nearestCommand returns the command most similar to a word, with its slash; ""
// if no command is similar.
func nearestCommand(word string) string {
	var names []string
	for _, f := range commandForms {
		if f.typed() && f.verb != VerbStart { // nobody means to type /start, which Telegram sends
			names = append(names, string(f.verb))
		}
	}
	if near := nearest.Of(word, names); near != "" {
		return "/" + near
	}
	return ""
}
