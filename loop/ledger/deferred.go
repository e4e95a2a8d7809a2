package ledger

// DeferredCommand is a command that a question may confirm before it is carried out.
type DeferredCommand string

// Commands that can be confirmed first.
const (
	DeferPause    DeferredCommand = "pause"
	DeferPauseNow DeferredCommand = "pause now"
	DeferResume   DeferredCommand = "resume"
	DeferStop     DeferredCommand = "stop"
	DeferStopNow  DeferredCommand = "stop now"
	DeferNow      DeferredCommand = "now" // /now without words: reruns the running session
)
