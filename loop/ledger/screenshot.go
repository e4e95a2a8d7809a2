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

// Picture is a PNG of a tree. Its bytes lie beside the ledger, under their hash, like
// those of an Attachment.
type Picture struct {
	Hash   string `json:"hash"` // SHA-256 of the bytes, as hex
	Size   int64  `json:"size"` // bytes
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// Shot is the try to take a picture of one tree.
type Shot struct {
	Tree    string   `json:"tree"` // tree, or commit for an attempt's start
	Picture *Picture `json:"picture,omitempty"`
	Why     string   `json:"why,omitempty"` // why there is no picture, for people
}

// Pictured compares the start of an attempt with its result.
type Pictured struct {
	Start  Shot `json:"start"`
	Result Shot `json:"result,omitzero"` // empty: it is taken next
	Same   bool `json:"same,omitempty"`  // both have a picture, and every pixel is equal
}

// Compare returns the comparison of two shots. Pictures are encoded anew when they are
// taken over, so equal pixels are equal bytes.
func Compare(start, result Shot) Pictured {
	same := start.Picture != nil && result.Picture != nil && start.Picture.Hash == result.Picture.Hash
	return Pictured{Start: start, Result: result, Same: same}
}
