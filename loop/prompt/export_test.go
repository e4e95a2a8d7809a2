package prompt

// Parts of the package that its tests check by themselves. The tests are an
// external package because they use internal/scenario, which imports the
// engine, which imports this package.
const (
	MaxMemoryTokens = maxMemoryTokens
	MaxListBytes    = maxListBytes
)

var (
	HeadOf    = headOf
	TailOf    = tailOf
	OpenFence = openFence
)

// ConventionsText returns the text of the part that conventionsPart returns.
func ConventionsText(files []File) string { return conventionsPart(files).text }
