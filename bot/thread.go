package bot

import "strings"

// A project's thread is a chat of its own (docs/spec 6.1). What is said here is
// about such a chat itself: it went, closed or moved.

// ThreadGone says, in the group of a topic that is not there, that its project
// is talked of in the group now; key is the configuration's, for another one.
func ThreadGone(project, key string) Message {
	m := newMessage("thread.gone", SignLook+" "+Cut(Clean(project), 20)+": its topic is gone")
	m.add("Make another one, and write the link of a message in it to " + key + ".")
	m.add("Until then all of it comes here.")
	m.Project = project
	return m
}

// ThreadShut says, in somebody's own chat, that a project's thread takes
// nothing, with the platform's reason. open are the ids of its open questions.
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

// ThreadMoved says, in a group that has another number now, what to write for
// it: setting is the value of the configuration's key.
func ThreadMoved(project, key, setting string) Message {
	m := newMessage("thread.moved", SignLook+" "+Cut(Clean(project), 12)+": another group number")
	m.add("Write " + key + " = \"" + setting + "\" into the configuration.")
	m.add("It goes on here in any case.")
	m.Project = project
	return m
}
