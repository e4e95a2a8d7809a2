package ledger

import "time"

// Screenshot says how a picture of a tree is taken (docs/spec 8.5): by headless
// Chromium of what Run serves at URL, or else by Command.
type Screenshot struct {
	Run     string   `json:"run,omitempty"`     // serves URL until it is ended
	URL     string   `json:"url,omitempty"`     // on the session's loopback
	Command string   `json:"command,omitempty"` // writes a PNG to the file that EnvScreenshot names
	Wait    Duration `json:"wait,omitempty"`    // 0 = DefaultScreenshotWait
}

// DefaultScreenshotWait is how long a page, or the command of a picture, may take.
const DefaultScreenshotWait = Duration(time.Minute)

// EnvScreenshot is the variable with the path of the file that a picture is written to.
const EnvScreenshot = "NIGHTPORTER_SCREENSHOT"
