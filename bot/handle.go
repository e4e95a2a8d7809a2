package bot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/bot/words"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Handle carries out the command in r.Text and returns the reply for its sender.
// A mistake of the sender leads to a message and no error. An error means a
// fault of the machine or in nightporter; the message that comes with it tells the
// sender so.
func Handle(ctx context.Context, service Service, r Request) (Message, error) {
	c, err := Parse(r.Text)
	if err != nil {
		return parseMistake(err), nil
	}
	c = c.namingProject(projectNames(service))
	if does := c.Verb.row().shared; does != nil {
		host, stays := service.(DaemonService)
		m, done, err := does(ctx, sharedRequest{service: service, host: host, stays: stays, r: r, c: c})
		if err != nil {
			return failedReply(c, err), fmt.Errorf("%s: %w", c.Verb, err)
		}
		if done {
			return m, nil
		}
	}
	if run, _ := cutWord(c.Target); c.Project == "" && (c.Verb == VerbDiff || c.Verb == VerbLog) && runForm.MatchString(run) {
		if c.Project, err = ranIn(ctx, service, run); err != nil {
			return failedReply(c, err), fmt.Errorf("%s: %w", c.Verb, err)
		}
	}
	project, problem := pickProject(service, &c, r)
	if problem != nil {
		return *problem, nil
	}
	s, ok := stateOf(service, project)
	if !ok {
		return noProject(project, service.Projects()), nil
	}
	does := c.Verb.row().project
	if does == nil {
		err := fmt.Errorf("%s %s: no handler", project, c.Verb)
		return failedReply(c, err), err
	}
	m, err := does(ctx, dispatch{service: service, r: r, c: c, s: s, project: project})
	m.Project = project
	if err != nil {
		return failedReply(c, err), fmt.Errorf("%s %s: %w", project, c.Verb, err)
	}
	return m, nil
}

// only returns the only one of the projects whose state satisfies is, "" if none or
// several do.
func only(service Service, names []string, is func(loop.State) bool) string {
	found := ""
	for _, name := range names {
		if s, ok := stateOf(service, name); ok && is(s) {
			if found != "" {
				return ""
			}
			found = name
		}
	}
	return found
}

// onlyMeant returns the project that a command is about although none is named, ""
// where that cannot be told. A look at a task belongs to the only project that has such
// a task. Plain words belong to the only project at work, or else to the only one that
// asks something: all that they do is an offer, which names the project.
func onlyMeant(service Service, names []string, c Command) string {
	if c.Verb == VerbResume {
		return whereAgent(service, names, c.Target)
	}
	if c.Verb != VerbWords {
		if c.Target == "" || RequiredRole(c) != ledger.RoleView {
			return ""
		}
		return only(service, names, func(s loop.State) bool { _, ok := FindTask(s, c.Target); return ok })
	}
	if words.Read(c.Words).Intent == words.Guidance {
		return ""
	}
	return cmp.Or(
		only(service, names, func(s loop.State) bool { return !s.Project.Run.Over() }),
		only(service, names, func(s loop.State) bool { return len(s.Project.Questions) > 0 }),
	)
}

// whereAgent returns the project for a /resume that names a held agent, where it does the
// same in all of them: none has a run that it could mean.
func whereAgent(service Service, names []string, agent string) string {
	for n, name := range names {
		s, ok := stateOf(service, name)
		_, held := s.Shared.Agents[agent]
		if !ok || !held || !s.Project.Run.Over() {
			return ""
		}
		if n == len(names)-1 {
			return names[0]
		}
	}
	return ""
}

// pickProject returns the project that a command is about, or the message that
// asks for one. If the first word of the arguments is not a project's name,
// pickProject returns it to the arguments: it may be an agent's name or the start
// of a sentence.
func pickProject(service Service, c *Command, r Request) (string, *Message) {
	all := projectNames(service)
	if c.Project != "" && !slices.Contains(all, c.Project) {
		if c.Verb == VerbResume && c.Target == "" {
			c.Target, c.Project = c.Project, "" // "/resume codex"
			return pickProject(service, c, r)
		}
		if c.Verb != VerbWords {
			m := noProject(c.Project, all)
			return "", &m
		}
		// "note: …" begins a sentence and names no project.
		c.Project, c.Words = "", c.Line
	}
	first, rest := cutWord(c.Target) // "/drop g14 g15", "/task shop 3", "/net shop"
	if name := strings.ToLower(first); c.Project == "" && (rest != "" || c.Verb == VerbNet) && slices.Contains(all, name) {
		c.Project, c.Target = name, rest
	}
	switch {
	case c.Project != "":
		return c.Project, nil
	case ProjectOf(service, first) != "":
		return ProjectOf(service, first), nil
	case r.Project != "":
		return r.Project, nil
	case len(all) == 1:
		return all[0], nil
	case onlyMeant(service, all, *c) != "":
		return onlyMeant(service, all, *c), nil
	case len(all) == 0:
		m := refusal("cmd.noproject", SignLater+" No project runs here")
		m.add("Start one: nightporter run")
		return "", &m
	}
	which := SignAsk + " For which project?"
	if len(all) == 2 {
		which = SignAsk + " For " + all[0] + " or " + all[1] + "?"
	}
	m := refusal("cmd.whichproject", which)
	m.quote(c.Line)
	m.pending("Not done yet.")
	line := c.Line
	if c.Verb == VerbWords && plainCommand(words.Read(c.Words)) != "" { // the button that names the project confirms it, too
		line = plainCommand(words.Read(c.Words))
	}
	for _, name := range all[:min(len(all), 6)] {
		m.exact(name, name+": "+line)
	}
	return "", &m
}
