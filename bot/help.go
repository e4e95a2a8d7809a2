package bot

import "strings"

// Help says what can be typed: all of it, or one command.
func Help(about string) Message {
	word := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(about), "/"))
	if f, ok := find(word); ok {
		m := newMessage("help.one", f.use)
		m.add(f.help)
		return m
	}
	if word != "" && word != "all" {
		return mistake(&UnknownError{Word: "/" + word, Meant: nearestCommand(word)})
	}
	m := newMessage("help", "Commands")
	m.pre("Steer   /guidance TEXT  /now TEXT")
	m.pre("        /queue  /drop g9")
	m.pre("Hold    /pause /resume /stop")
	m.pre("Look    /status /tasks /task 7 /log 7")
	m.pre("        /diff 7 /evidence 7 /plan 6 /hats")
	m.pre("Decide  q5 retry · /approve /reject")
	m.pre("        /retry 8 /skip 8 /next 9")
	m.pre("Start   /run /runs /projects /whoami")
	m.pre("Night   /digest /cost")
	m.add("One of them: /help now")
	return m
}
