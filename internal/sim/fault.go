package main

// fault is one kind of thing that goes wrong in a night.
type fault int

// Faults, by the part of the world in which they happen.
const (
	agentSilent fault = iota
	agentCrash
	agentStall
	agentWall
	agentWrong
	agentTwice
	agentFlood
	agentIdle
	agentLies
	agentStrays
	agentSecret
	agentRefused
	agentAsks
	agentBlocks
	agentLimit
	agentAuth
	agentNetwork
	agentMemory
	agentLost
	agentMissing
	agentShort
	agentRejects
	checkFlaky
	checkRed
	checkLost
	checkDisk
	baseRed
	gitSlow
	gitError
	gitInput
	machineDown
	startFails
	branchMoved
	repoAway
	branchHeld
	markFails
	diskFull
	diskErrors
	diskLies
	diskDamage
	powerCut
	commitCut
	daemonKill
	daemonStop
	daemonLong
	clockBack
	clockSleep
	clockDST
	chatOffline
	chatUnknown
	chatRate
	chatGone
	chatSlow
	chatTwice
	chatOrder
	planAdds
	planEdits
	planTicks
	planUnticks
	planBreaks
	planHalf
	planLoses
	planBack
	personPresses
	personOld
	personLate
	personTalks
	personGuides
	personHolds
	personStops
	personTask
	personHasty
	personRemakes
	personAdds
	personDecides
	sourceAdds
	remoteFails
	addFails
	addCut
	manyProjects
	taskReturns
	runIdle
	hostAsked
	hostReached
	faults // the number of kinds
)

// faultRow describes one kind. One in per of the occasions has it, at intensity 1;
// 0 means that the place of injection has a rate of its own.
type faultRow struct {
	name string
	text string
	per  int
}

var faultTable = [faults]faultRow{
	agentSilent:   {"agent.silent", "a session ends without an event", 25},
	agentCrash:    {"agent.crash", "an agent exits with an error", 40},
	agentStall:    {"agent.stall", "a session shows no activity until its limit", 50},
	agentWall:     {"agent.wall", "a session works until its wall limit", 90},
	agentWrong:    {"agent.wrong", "an event of the wrong type or form", 15},
	agentTwice:    {"agent.twice", "an event is sent twice, or two different ones", 15},
	agentFlood:    {"agent.flood", "a session sends fifty events", 60},
	agentIdle:     {"agent.idle", "a writing session changes nothing", 25},
	agentLies:     {"agent.lies", "a session says done over code that fails", 8},
	agentStrays:   {"agent.strays", "a session writes out of its scope", 25},
	agentSecret:   {"agent.secret", "a session writes a secret", 60},
	agentRefused:  {"agent.refused", "a session leaves what git cannot hold", 60},
	agentAsks:     {"agent.asks", "a session asks a question", 25},
	agentBlocks:   {"agent.blocks", "a session says that the task cannot be done", 60},
	agentLimit:    {"agent.limit", "the provider's usage limit", 40},
	agentAuth:     {"agent.auth", "the agent is logged out", 150},
	agentNetwork:  {"agent.network", "the provider cannot be reached", 40},
	agentMemory:   {"agent.memory", "the kernel kills a session for memory", 80},
	agentLost:     {"agent.lost", "a session vanishes without a trace", 60},
	agentMissing:  {"agent.missing", "the agent's program is missing", 200},
	agentShort:    {"agent.short", "a burst of sessions that end within a second", 200},
	agentRejects:  {"agent.rejects", "a review finds issues", 5},
	checkFlaky:    {"check.flaky", "a green tree fails once", 20},
	checkRed:      {"check.red", "a command fails on a red tree", 0},
	checkLost:     {"check.lost", "a command's process vanishes or is killed", 50},
	checkDisk:     {"check.disk", "a command finds the disk full", 80},
	baseRed:       {"base.red", "verification is red before any work", 12},
	gitSlow:       {"git.slow", "a git operation takes minutes", 60},
	gitError:      {"git.error", "a git operation fails: EAGAIN, index.lock, EIO", 100},
	gitInput:      {"git.input", "a git operation refuses for a person's mistake", 400},
	machineDown:   {"machine.down", "git and processes fail for a while", 0},
	startFails:    {"start.fails", "the machine cannot start a session for now", 60},
	branchMoved:   {"git.moved", "somebody commits on the run's branch", 0},
	repoAway:      {"git.away", "the user's repository is away for a while", 0},
	branchHeld:    {"git.held", "somebody has the run's branch checked out for a while", 0},
	markFails:     {"mark.fails", "the user's file cannot be written", 40},
	diskFull:      {"disk.full", "the disk of the ledger is full for a while", 0},
	diskErrors:    {"disk.errors", "reads, writes or syncs of the ledger fail for a while", 0},
	diskLies:      {"disk.lies", "a disk loses what it confirmed", 0},
	diskDamage:    {"disk.damage", "a page of the ledger goes bad", 0},
	powerCut:      {"power.cut", "the power fails, between steps or in a write", 250},
	commitCut:     {"kill.commit", "the daemon dies right after a commit", 250},
	daemonKill:    {"kill.step", "the daemon dies between two steps", 0},
	daemonStop:    {"stop.daemon", "the daemon is stopped and started", 0},
	daemonLong:    {"stop.long", "the daemon is off for longer than half an hour", 0},
	clockBack:     {"clock.back", "the clock jumps back by up to a day", 0},
	clockSleep:    {"clock.sleep", "the machine sleeps for hours", 0},
	clockDST:      {"clock.dst", "a night of a daylight-saving change", 0},
	chatOffline:   {"chat.offline", "a platform cannot be reached for a while", 0},
	chatUnknown:   {"chat.unknown", "a message's arrival is not known", 30},
	chatRate:      {"chat.rate", "a platform asks for a pause", 40},
	chatGone:      {"chat.gone", "a message to edit is gone", 60},
	chatSlow:      {"chat.slow", "a platform answers after minutes", 60},
	chatTwice:     {"chat.twice", "a platform delivers an input again", 8},
	chatOrder:     {"chat.order", "a platform delivers inputs out of order", 8},
	planAdds:      {"plan.adds", "a person adds a task", 0},
	planEdits:     {"plan.edits", "a person edits a task", 0},
	planTicks:     {"plan.ticks", "a person ticks a task", 0},
	planUnticks:   {"plan.unticks", "a checkout unticks what is done", 0},
	planBreaks:    {"plan.breaks", "a plan that does not parse is saved", 0},
	planHalf:      {"plan.half", "a plan is saved slowly: half of it first", 0},
	planLoses:     {"plan.loses", "a person removes a task's lines", 0},
	planBack:      {"plan.back", "an old version of the plan, and back", 0},
	personPresses: {"person.presses", "a person presses a button", 0},
	personOld:     {"person.old", "a person presses a button of an old message", 0},
	personLate:    {"person.late", "a command arrives more than an hour late", 20},
	personTalks:   {"person.talks", "a person asks or chats", 0},
	personGuides:  {"person.guides", "a person gives guidance", 0},
	personHolds:   {"person.holds", "a person pauses the run", 0},
	personStops:   {"person.stops", "a person stops the run", 0},
	personTask:    {"person.task", "a person skips, retries or prefers a task", 0},
	personHasty:   {"person.hasty", "a person stops, pauses or interrupts while a session is prepared", 0},
	personRemakes: {"person.remakes", "a person takes tasks out of the branch, brings them back or has them done again", 0},
	personAdds:    {"person.adds", "a person adds tasks from a chat, or takes them out again", 0},
	personDecides: {"person.decides", "a person starts, changes or drops the plan of an idea", 0},
	sourceAdds:    {"source.adds", "a session or a person at the host adds tasks", 0},
	remoteFails:   {"remote.fails", "the remote does not answer, before it heard or after", 4},
	addFails:      {"add.fails", "the user's file cannot take a task", 12},
	addCut:        {"kill.add", "the daemon dies between the writing of a task and the record of it", 15},
	taskReturns:   {"task.returns", "a recurring task comes back", 0},
	hostAsked:     {"host.asked", "people are asked about a host", 0},
	hostReached:   {"host.reached", "a session reaches a host that people allowed", 0},
	runIdle:       {"run.idle", "a run has nothing to do but tasks whose cooldown is not over", 0},
	manyProjects:  {"projects", "several projects share ledger, limits and chats", 0},
}
