package bot

import (
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// KeyHelp is the key of the list of commands. Its preformatted lines name commands as
// Telegram and a terminal take them, which other platforms have to change.
const KeyHelp = "help"

// Help lists the commands that a role may use, by section. With about, a command
// with or without its slash, it explains that command to any role.
func Help(about string, role ledger.Role) Message {
	word := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(about), "/"))
	if f, ok := findCommand(word); ok {
		m := newMessage("help.one", f.use)
		m.add(f.help)
		return m
	}
	if word != "" && word != "all" {
		return parseMistake(&UnknownError{Word: "/" + word, Meant: nearestCommand(word)})
	}
	m := newMessage(KeyHelp, "Commands")
	for _, section := range helpSections {
		m.commands(section, helpOf(section, role))
	}
	m.add("Or in words: how is it going?, stop after this task. What is no command is guidance.")
	m.add("One of them: /help now")
	return m
}

// helpOf lists the commands of a section that a role may use.
func helpOf(section string, role ledger.Role) []string {
	var out []string
	for _, f := range commandForms {
		if f.section == section && role.May(f.role) {
			out = append(out, f.listed)
		}
	}
	return out
}

// commands adds the commands of a section, on as many lines as they take at
// FirstWidth columns.
func (m *Message) commands(name string, commands []string) {
	const indent = 8
	line := ""
	for _, c := range commands {
		if line != "" && indent+Width(line+" "+c) > FirstWidth {
			m.pre(Pad(name, indent, 1) + line)
			name, line = "", ""
		}
		line = strings.TrimSpace(line + " " + c)
	}
	if line != "" {
		m.pre(Pad(name, indent, 1) + line)
	}
}
