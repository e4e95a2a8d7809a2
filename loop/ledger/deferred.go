package ledger

// DeferredCommand is a command that is carried out only after a question
// confirms it.
type DeferredCommand string

// Commands that may need a confirmation.
const (
	DeferPause    DeferredCommand = "pause"
	DeferPauseNow DeferredCommand = "pause now"
	DeferResume   DeferredCommand = "resume"
	DeferStop     DeferredCommand = "stop"
	DeferStopNow  DeferredCommand = "stop now"
	DeferNow      DeferredCommand = "now" // /now without words: runs the session in progress again
)
