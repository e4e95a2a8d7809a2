package bot

import "strings"

// A project's thread is a chat for that project alone (docs/spec 6.1). The
// messages here report that such a chat was deleted, closed or moved.

// ThreadGone tells a group that a project's topic is gone and that the project's
// messages arrive in the group itself now. key is the configuration key for
// another topic.
func ThreadGone(project, key string) Message {
	m := newMessage("thread.gone", SignLook+" "+Cut(Clean(project), 20)+": its topic is gone")
	m.add("Make another one, and write the link of a message in it to " + key + ".")
	m.add("Until then all of it comes here.")
	m.Project = project
	return m
}

// ThreadShut tells a person, in their own chat, that a project's thread accepts no
// messages. why is the platform's reason; open are the ids of the project's open
// questions.
func ThreadShut(project, why string, open []string) Message {
	m := newMessage("thread.shut", SignLook+" "+Cut(Clean(project), 16)+": its chat takes nothing")
	m.quote(why)
	if len(open) > 0 {
		m.add("Open questions: " + strings.Join(open, " "))
	}
	m.add("All that it was for comes here until somebody writes there again.")
	m.button("Status", "/status "+project)
	m.Project = project
	return m
}

// ThreadMoved tells a group whose number has changed what to write into the
// configuration: setting is the new value of key.
func ThreadMoved(project, key, setting string) Message {
	m := newMessage("thread.moved", SignLook+" "+Cut(Clean(project), 12)+": another group number")
	m.add("Write " + key + " = \"" + setting + "\" into the configuration.")
	m.add("It goes on here in any case.")
	m.Project = project
	return m
}
