package ledger

// DeferredCommand is a command that starts, stops or resumes something.
type DeferredCommand string

// Deeds that can be asked about first.
const (
	DeferPause    DeferredCommand = "pause"
	DeferPauseNow DeferredCommand = "pause now"
	DeferResume   DeferredCommand = "resume"
	DeferStop     DeferredCommand = "stop"
	DeferStopNow  DeferredCommand = "stop now"
	DeferNow      DeferredCommand = "now" // without words: reruns the session in hand
)
