package messagelint

// Teller is a package or file that shows ledger entries to people.
type Teller string

// The Tellers.
const (
	Console  Teller = "console"  // bot/termlog: the terminal of a run
	Notify   Teller = "notify"   // bot/notify: chats
	Report   Teller = "report"   // bot/report: the digest
	Log      Teller = "log"      // bot/log.go: /log
	Evidence Teller = "evidence" // bot/evidence.go: /evidence
)

// silent marks an entry that nobody is shown: later entries or the state show
// its effect.
var silent = []Teller{}

// Entries lists for each entry type the Tellers that show it. A test compares it
// with the ledger's types and with the Tellers' code.
var Entries = map[string][]Teller{
	"agent.chosen":      silent,
	"agent.faltered":    silent,
	"budget.raised":     silent,
	"budget.warned":     {Console, Notify},
	"agent.parked":      {Console, Report},
	"agent.uncounted":   {Console, Notify},
	"agent.unusable":    {Console, Notify},
	"agent.usable":      {Console, Notify},
	"answer.undone":     {Console, Notify, Log},
	"attempt.ended":     {Console, Notify, Report, Log, Evidence},
	"baseline.broke":    {Console, Notify, Log},
	"batch.begun":       silent,
	"batch.chained":     {Console, Log},
	"batch.ended":       {Console},
	"wave.begun":        {Evidence},
	"wave.triaged":      {Console, Log, Evidence},
	"wave.judged":       {Console, Evidence}, // chats read it in the wave's summary
	"wave.ended":        {Console, Notify, Report, Log, Evidence},
	"branch.remade":     {Console, Notify, Log},
	"remake.asked":      silent,
	"remake.begun":      silent,
	"remake.ended":      {Console, Notify, Log},
	"branch.pushed":     {Console, Log},
	"checks.begun":      silent,
	"claim":             {Report, Evidence},
	"clock.jumped":      silent,
	"command.refused":   silent,
	"comments.seen":     {Console, Notify},
	"commit":            {Console, Evidence},
	"digest.sent":       {Notify},
	"digest.week":       {Notify},
	"effect.failed":     {Console, Notify},
	"effect.recovered":  {Console, Notify},
	"event.accepted":    {Console, Log},
	"event.refused":     {Console},
	"evidence":          {Evidence},
	"exemptions.set":    {Console, Log},
	"files.attached":    {Notify},
	"files.erased":      silent, // the reply says it
	"voice.heard":       {Notify},
	"guidance.bound":    {Console, Notify, Report},
	"guidance.changed":  {Console, Notify},
	"guidance.dropped":  {Console, Notify, Report},
	"guidance.expired":  {Console, Notify, Report},
	"guidance.judged":   {Notify, Report},
	"guidance.kept":     {Console, Notify, Report},
	"guidance.queued":   {Console, Notify, Report},
	"guidance.reported": {Console, Notify, Report},
	"hats.read":         {Console, Log},
	"host.allowed":      {Console},
	"host.refused":      {Console},
	"hosts.missed":      {Console, Notify},
	"host.removed":      {Console},
	"network.kept_open": {Console},
	"taints.cleared":    {Console},
	"house.off":         {Report},
	"house.set":         silent,
	"id.issued":         silent,
	"input.poisoned":    {Console, Notify},
	"lease.granted":     silent,
	"lease.released":    silent,
	"memory.kept":       silent,
	"outlook.changed":   {Console, Notify},
	"pairing.ended":     silent,
	"pairing.offered":   silent,
	"pairing.tried":     silent,
	"parts.made":        {Console, Log, Evidence},
	"part.merged":       {Report, Log, Evidence}, // the console has it of the task's status
	"parts.merged":      silent,
	"paths.allowed":     {Console},
	"new_files.settled": {Console},
	"merge.begun":       silent, // the reply to the answer says it
	"merge.ended":       {Console, Notify},
	"request.seen":      {Console, Notify},
	"request.left":      {Console, Notify},
	"person.paired":     silent,
	"person.removed":    silent,
	"plan.settled":      {Console, Log},
	"threshold.set":     silent, // the reply to the answer or to the command says it
	"preflight.done":    {Console, Notify},
	"preflight.failed":  {Console, Notify},
	"load.held":         silent, // the status says it
	"lift.begun":        silent,
	"lift.ended":        silent,
	"push.begun":        silent,
	"question.answered": {Console, Notify},
	"question.asked":    {Console, Notify},
	"question.expired":  {Console, Notify},
	"quiet.set":         silent,
	"redo":              {Console, Report},
	"reminder.due":      {Notify},
	"reply.begun":       silent,
	"reply.ended":       {Console, Notify}, // a refusal
	"request.begun":     silent,
	"request.edited":    silent, // the status and the run's end show what became of it
	"request.opened":    {Console, Log},
	"routed":            {Console, Report},
	"run.ended":         {Console, Notify, Report},
	"run.finishing":     {Console},
	"run.planned":       {Report}, // which runs are none of the plan's
	"run.queued":        silent,   // the reply says it
	"run.resumed":       {Console},
	"run.started":       {Console, Notify, Report},
	"run.state":         {Console, Notify, Report},
	"secrets.cleared":   {Console},
	"session.cut":       silent,
	"session.ended":     {Console, Notify, Report, Log, Evidence},
	"session.output":    silent,
	"session.planned":   {Console, Report, Log, Evidence},
	"session.throttled": {Console, Notify},
	"shared.head":       silent,
	"source.marked":     {Console},
	"idea.taken":        silent, // the reply says it
	"idea.planned":      silent, // the question that follows shows it
	"idea.changed":      silent, // the answered question says it
	"idea.accepted":     silent, // as idea.changed
	"idea.ended":        {Console, Notify},
	"tasks.asked":       silent, // the reply says it
	"tasks.added":       {Notify},
	"tasks.unasked":     silent, // the reply says it
	"tasks.removed":     {Notify},
	"source.read":       {Console, Report},
	"stage.set":         silent,
	"stranger.wrote":    {Report},
	"submit":            {Evidence},
	"task.committed":    {Console, Report, Log, Evidence},
	"task.next":         silent,
	"task.pictured":     {Evidence},
	"task.proved":       {Console, Log, Evidence},
	"task.replanned":    {Console, Log},
	"task.set":          {Console, Report, Log},
	"task.words":        silent,
	"tip.failed":        silent, // the start of the run, or its end, says it
	"tip.found":         silent,
	"tree.kept":         silent,
	"tree.merged":       silent,
	"tree.taken":        {Console},
	"tree.verified":     {Console, Notify, Report, Log, Evidence},
}
