package bot

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// pairElsewhere replies to a pairing code that was not sent in a private chat
// with the bot. Such codes are not accepted.
func pairElsewhere(context.Context, sharedRequest) (Message, bool, error) {
	m := refusal("pair.elsewhere", SignFailed+" Not here: a code is for a chat")
	m.add("Send it to the bot, in a private chat. nightporter pair shows one.")
	return m, true, nil
}

// runsOfAll handles /runs, which determines its project itself.
func runsOfAll(ctx context.Context, h sharedRequest) (Message, bool, error) {
	m, err := listRuns(ctx, h.service, h.r, h.c)
	return m, true, err
}

// statusOfAll handles /status if the line names no project and there are
// several. It returns done = false for the status of one project.
func statusOfAll(_ context.Context, h sharedRequest) (Message, bool, error) {
	if h.c.Project == "" && h.r.Project == "" && len(projectNames(h.service)) > 1 {
		return StatusAll(h.service, h.r.Time), true, nil
	}
	return Message{}, false, nil
}

// listPeople answers /people.
func listPeople(_ context.Context, h sharedRequest) (Message, bool, error) {
	if !h.stays {
		return nobodyHere(), true, nil
	}
	return People(h.host.Shared(), h.r.Time), true, nil
}

// unpairPerson answers /unpair.
func unpairPerson(ctx context.Context, h sharedRequest) (Message, bool, error) {
	if !h.stays {
		return nobodyHere(), true, nil
	}
	m, err := removePerson(ctx, h.host, h.r, h.c)
	return m, true, err
}

func nobodyHere() Message {
	m := newMessage("people", SignLater+" Nobody is paired with this run")
	m.add("People are let in where nightporter stays: nightporter up.")
	return m
}

// splitAddress splits an id into the platform's name and the number on that
// platform: "telegram:48213377" gives "Telegram" and "48213377".
func splitAddress(id string) (name, number string) {
	name, number, _ = strings.Cut(Clean(id), ":")
	if name == "" {
		return "unknown", number
	}
	return strings.ToUpper(name[:1]) + name[1:], number
}

// Whoami tells the sender of a request their name, role, chat and time zone, and
// who else is paired (docs/spec 6.2). stays is false for a foreground run, where
// nobody is paired.
func Whoami(host DaemonService, stays bool, r Request) Message {
	if !stays {
		m := newMessage("whoami", SignLater+" You are on the host")
		m.add("You may do everything. Nobody else is paired with this run.")
		return m
	}
	shared := host.Shared()
	p, ok := shared.Person(r.Actor)
	first := "You are on the host · admin"
	if ok {
		first = Cut(Foreign(p.Name), 20) + " · " + string(p.Role)
	}
	m := newMessage("whoami", first)
	if ok {
		name, number := splitAddress(p.ID)
		m.add(name + " user " + number)
	}
	if r.Chat != "" {
		name, number := splitAddress(r.Chat)
		m.add("This chat: " + name + " " + number)
	}
	m.add("Your clock: " + r.Time.Format("15:04 MST"))
	verb := "Looks at "
	if !ok || p.Role.May(ledger.RoleSteer) {
		verb = "Steers "
	}
	m.add(verb + orNothing(strings.Join(projectNames(host), ", ")))
	var others []string
	for _, o := range shared.People {
		if o.ID != r.Actor {
			others = append(others, Cut(Foreign(o.Name), 20)+" "+string(o.Role))
		}
	}
	m.add("Also paired: " + orElse(strings.Join(others, ", "), "nobody"))
	return m
}

// People lists the paired people, with the ids that /unpair takes.
func People(shared loop.Shared, now time.Time) Message {
	m := newMessage("people", SignLater+" "+Plural(len(shared.People), "person")+" paired")
	if len(shared.People) != 1 {
		m = newMessage("people", fmt.Sprintf("%s %d people paired", SignLater, len(shared.People)))
	}
	for _, p := range shared.People {
		m.add(Cut(Foreign(p.Name), 20) + " · " + string(p.Role) + " · since " + Clock(p.Since, now) + " · " + Clean(p.ID))
	}
	m.add("Take somebody out: /unpair ID. Let somebody in, on the host: nightporter pair")
	return m
}

// removePerson removes a person, given by id or by a name that only one person has.
func removePerson(ctx context.Context, host DaemonService, r Request, c Command) (Message, error) {
	typed := strings.TrimSpace(c.Target)
	var found []ledger.Person
	for _, p := range host.Shared().People {
		_, number := splitAddress(p.ID)
		if p.ID == typed || number == typed {
			found = []ledger.Person{p}
			break
		}
		if typed != "" && strings.EqualFold(p.Name, typed) {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		m := refusal("people.which", SignAsk+" /unpair: whom?")
		m.add("Nobody was taken out. /people lists the ids; type for example /unpair 48213377.")
		m.button("People", "/people")
		return m, nil
	}
	a, err := host.Do(ctx, loop.Input{Key: r.Key, Time: r.Time, Actor: r.Actor, Name: r.Name, Body: people.Remove{ID: found[0].ID}})
	if err != nil {
		return Message{}, fmt.Errorf("take out %s: %w", found[0].ID, err)
	}
	return FromAnswer((people.Remove{}).InputKind(), a, r.Key), nil
}

// Welcome returns the first message to a person who was just paired
// (docs/spec 23.1).
func Welcome(service Service, p ledger.Person) Message {
	m := newMessage("pair.welcome", SignDone+" "+Cut(Foreign(p.Name), 14)+", you are paired as "+string(p.Role))
	all := projectNames(service)
	runs := "Nothing runs."
	var idle []string
	for _, name := range all {
		s, _ := stateOf(service, name)
		switch {
		case !s.Project.Run.Over():
			runs = name + " runs."
		case CanBegin(s):
			idle = append(idle, name)
		}
	}
	m.add("Projects: " + orNothing(strings.Join(all, ", ")) + ". " + runs)
	rings := "Rings when something needs you, and when a run ends"
	if host, ok := service.(DaemonService); ok {
		if _, hours := host.Shared().QuietHours(p.ID, host.QuietHours()).Until(); hours != ledger.QuietOff && hours != "" {
			rings += "; " + strings.ReplaceAll(string(hours), "-", "–") + " only if all stands still"
		}
	}
	m.add(rings + ".")
	for _, name := range idle[:min(len(idle), 2)] {
		m.button("Start "+name, "/run "+name)
	}
	m.button("Help", "/help")
	return m.For(p.Role)
}

// Paired replies to a paired person who sends an invalid pairing code.
func Paired(p ledger.Person) Message {
	m := newMessage("pair.already", SignLater+" "+Cut(Foreign(p.Name), 14)+", you are paired as "+string(p.Role))
	m.add("That code is not open. Your role stays as it is.")
	m.button("Help", "/help")
	return m
}

// otherAdmins returns the names of the admins except for the person with id but. A
// refusal names them, so that its reader knows whom to ask.
func otherAdmins(shared loop.Shared, but string) string {
	var names []string
	for _, p := range shared.People {
		if p.Role == ledger.RoleAdmin && p.ID != but {
			names = append(names, Cut(Foreign(p.Name), 20))
		}
	}
	return strings.Join(names, " or ")
}

// Forbidden returns the reply to a person whose role does not include a command.
func Forbidden(shared loop.Shared, p ledger.Person) Message {
	m := refusal("cmd.forbidden", SignFailed+" "+Cut(Foreign(p.Name), 18)+", your role is "+string(p.Role))
	works := "/status /tasks /log /diff work."
	if p.Role == ledger.RoleSteer {
		works = "All but plan approval, /merge, changes by /net, /people and /unpair works."
	}
	m.add(works + " For more ask " + orElse(otherAdmins(shared, p.ID), "on the host") + ".")
	return m
}
