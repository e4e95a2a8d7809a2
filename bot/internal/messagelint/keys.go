package messagelint

// Keys lists every message key that nightporter sends, with its permitted last
// lines. Check fails for a key that is missing here.
//
// The last line of a pushed message (docs/spec 25) says what happens next: it begins
// with one of these texts, or ends with one that starts with "…". A message that
// is not pushed (a reply, a receipt, an edit of a pushed one) has nil. A key
// that ends in ".*" stands for all keys with that prefix.
var Keys = map[string][]string{
	// Pushed: questions.
	"ask.agent":    {"No answer by ", "Waits as long as it takes"},
	"ask.allow":    {"No answer by ", "Waits as long as it takes"},
	"ask.budget":   {"Other work that fits goes on."},
	"ask.newfiles": {"No answer by ", "Waits as long as it takes"},
	"ask.secret":   {"Waits as long as it takes"},
	"ask.checks":   {"Waits as long as it takes"},
	"ask.baseline": {"No answer by ", "Waits as long as it takes"},
	"ask.host":     {"Closed until you answer"},
	"ask.late":     {"No answer by "},
	"ask.idea":     {"No answer by ", "Waits as long as it takes"},
	"idea.written": {"A run starts with it.", "The run under way takes it.", "The next run takes it."},
	"idea.failed":  {"Nothing was written."},
	"ask.remake":   {"No answer by ", "Waits as long as it takes"},
	"ask.now":      {"No answer by "},
	"ask.merge":    {"No answer by "},
	"ask.start":    {"No answer by "},
	"ask.plan":     {"No answer: "},
	"ask.blocked":  {"Stays blocked"},
	"ask.blocked3": {"They stay blocked", "Stays blocked", "Nothing of it waits for you any more."},
	"ask.manual":   {"Waits as long as it takes"},
	"ask.skip":     {"Waits as long as it takes", "No answer: ", "Nothing is done "},
	"ask.unticked": {"Waits as long as it takes"},
	"ask.reminder": {"No answer by "},
	"ask.review":   {"Stays paused until you resume."},
	"again.away":   {"No answer by ", "No answer: ", "Stays blocked", "Waits as long as it takes", "Stays paused until you resume."},

	"ask.threshold": {"Stays as it is until you say so."},

	// Pushed: the run.
	"run.started":    {"Works alone from here"},
	"run.outlook":    {"Work goes on."},
	"budget.80":      {"Work goes on."},
	"run.warnings":   {"It starts all the same."},
	"run.hosts":      {"They stay closed to its sessions.", "For services of this machine"},
	"run.notstarted": {"Nothing runs. Mend it, then /run"},
	"run.ended": {
		"Nothing runs. /run goes on with ", "Nothing runs. Retry starts the next run with ", "Nothing runs. /run asks", "Nothing runs until somebody starts it", "Nothing runs.",
		"Nothing was pushed. Look at /diff", "Merge when you like; nothing runs.", "Merge once its checks pass; nothing runs.", "Merge once it is pushed and its checks pass.", "Look at ", "Pass ends the plan; until then it waits.",
	},

	"wave.ended": {"The next wave has begun.", "It was the last one."},

	// Pushed: conditions that end by themselves, or say how to end them.
	"limit.waiting":     {"Goes on by itself."},
	"limit.network":     {"The network or the far side fails. Tried again until it works", "Counts for no task. Tried again until a session works."},
	"standstill":        {"Looks again every ", "Looks again by itself"},
	"outage":            {"Goes on by itself. Sent directly"},
	"disk":              {"On the host: nightporter du"},
	"disk.full":         {"Goes on by itself once there is room"},
	"effect.failing":    {"Goes on by itself once it works.", "The run goes on; tried until it works.", "Tried again after your next command."},
	"agent.replaced":    {"shop goes on with "},
	"agent.uncounted":   {"Work goes on."},
	"baseline.broke":    {"The run goes on."},
	"session.lost":      {"It is run again", "It counts as a failed attempt", "The attempt failed"},
	"session.leak":      {"The attempt failed.", "Its result counts as failed."},
	"session.throttled": {"All else goes on"},
	"branch.remade":     {"Whether it is green will stand here."},
	"branch.verified":   {"Merge when you like; nothing runs.", "Merge once it is pushed and its checks pass.", "Merge once its checks pass; nothing runs.", "Nothing was pushed. Look at /diff", "The run goes on with it.", "Look at ", "Nothing runs."},
	"branch.unverified": {"The next run verifies it first."},
	"branch.notmade":    {"Nothing was changed; "},
	"mark.failed":       {"What is done is known all the same"},
	"poisoned":          {"All else goes on."},
	"late.telegram":     {"Work went on.", "1 message follows", "What is over is left out.", "The rest is in /status."},
	"late.slack":        {"Work went on.", "1 message follows", "What is over is left out.", "The rest is in /status."},
	"thread.gone":       {"Until then all of it comes here."},
	"thread.shut":       {"All that it was for comes here until"},
	"blocked":           {"Goes on by itself when that is mended.", "Looked at again by itself"},
	"unblocked":         {"A run that waited goes on."},
	"thread.moved":      {"It goes on here in any case."},

	// Pushed: requests.
	"request":       {"Looked at until it is merged or closed.", "Merge when you like; nothing runs.", "It is not looked at any more."},
	"comments":      {"The others follow as these are settled."},
	"comments.mute": {"Its comments are worked on all the same."},
	"request.kept":  {"Looked at until it is merged or closed.", "Nothing was pushed. Tried again when "},
	"request.left":  {"Nothing more is done by itself. "},
	"merge.done":    {"It is not looked at any more."},
	"merge.queued":  {"The forge merges it by itself"},
	"merge.refused": {"Nothing was merged. /merge "},

	// Pushed: the digest.
	"digest":        digestEnds,
	"digest.week":   digestEnds,
	"digest.fault":  {"Why stands in the host's log. All else goes on."},
	"digest.idle":   {"Nothing runs.", "Next: ", "Merge when you like", "Merge once its checks pass", "Look at ", "Nothing is left to do"},
	"digest.broken": {"The host's log says why"},

	// Outcomes of a question: edits of its message.
	"settled.*": nil,
	"expired.*": nil,

	// Ends of a wait: edits of its message.
	"goes.on": nil, "outage.over": nil, "disk.over": nil,

	// Receipts of guidance.
	"guidance.queued": nil, "guidance.sticky": nil, "guidance.changed": nil, "guidance.injected": nil, "guidance.replaced": nil,
	"guidance.addressed": nil, "guidance.setaside": nil, "guidance.notreported": nil, "guidance.notfollowed": nil, "guidance.expired": nil,
	"guidance.dropped": nil, "guidance.joined": nil, "guidance.none": nil, "guidance.dropall": nil, "guidance.toolate": nil, "guidance.nohat": nil, "guidance.words": nil, "guidance.address": nil,

	// Replies to /add and /bug, edited as the tasks are written.
	"add.writing": nil, "add.waits": nil, "add.done": nil, "add.found": nil, "add.failed": nil, "add.leaving": nil, "add.out": nil, "add.stays": nil,
	"add.source": nil, "add.nosource": nil, "add.twice": nil, "add.words": nil, "bug.words": nil, "fix.which": nil, "fix.noinbox": nil, "fix.settled": nil,

	// Replies to /idea.
	"idea.taken": nil, "idea.words": nil, "idea.nohost": nil, "idea.source": nil,

	// The live message.
	"status.running": nil, "status.waiting": nil, "status.standstill": nil, "status.pausing": nil, "status.paused": nil, "status.stopping": nil,
	"status.planned": nil, "status.idle": nil, "status.all": nil, "status.off": nil, "status.moved": nil, "blocked.status": nil,

	// Replies to commands.
	"card":      nil,
	"cards":     nil,
	"card.none": nil,
	"card.gone": nil,
	"answer.*":  nil, "task.*": nil, "words.*": nil,
	"asked": nil, "media": nil, "voice.hearing": nil, "voice.heard": nil, "voice.failed": nil, "fault": nil, "unsaved": nil, "cost": nil, "diff": nil, "diff.empty": nil, "diff.file": nil, "diff.html": nil, "diff.nofile": nil, "diff.page": nil, "diff.which": nil, "digest.all": nil, "digest.elsewhere": nil, "digest.none": nil,
	"evidence.altered": nil, "evidence.broken": nil, "evidence.none": nil, "evidence.open": nil, "evidence.whole": nil,
	"hats": nil, "hats.one": nil, "hats.routes": nil, "hats.trouble": nil, "hats.unknown": nil, "help": nil, "help.one": nil,
	"log": nil, "log.tail": nil, "log.file": nil, "why": nil, "merge.hand": nil, "pair.welcome": nil, "pair.already": nil, "pair.elsewhere": nil, "people": nil, "people.which": nil,
	"plan": nil, "plan.night": nil, "plan.none": nil, "projects": nil, "queue": nil, "stats": nil, "stats.by": nil, "stats.elsewhere": nil, "stats.none": nil, "stats.reading": nil, "quiet": nil, "quiet.wrong": nil,
	"net": nil, "net.host": nil, "net.usage": nil, "triage": nil, "waves": nil,
	"threshold": nil, "threshold.none": nil, "threshold.usage": nil,
	"press.second": nil, "run.idle": nil, "run.nohost": nil, "run.nothing": nil, "run.running": nil, "runs": nil, "runs.one": nil, "tasks": nil, "whoami": nil,

	// Replies to plain words.
	"plain.*": nil,

	// Input that has no meaning in this chat.
	"cmd.again": nil, "cmd.unclear": nil,
	"cmd.empty": nil, "cmd.forbidden": nil, "cmd.noguidance": nil, "cmd.noproject": nil, "cmd.noquestion": nil, "cmd.norun": nil, "cmd.notask": nil, "cmd.nowave": nil,
	"cmd.notverb": nil, "cmd.notyesno": nil, "cmd.unknown": nil, "cmd.usage": nil, "cmd.whichfiles": nil, "cmd.whichguidance": nil, "cmd.whichproject": nil,
	"cmd.whichquestion": nil, "cmd.whichtask": nil,
}

var digestEnds = []string{
	"Nothing runs.", "Merge when you like; nothing runs.", "Merge once its checks pass; nothing runs.", "Look at ", "Goes on by itself", "Pass ends the plan; until then it waits.",
	"Nothing was pushed. Look at /diff", "Stays paused until you resume.", "… goes on by itself.",
}
