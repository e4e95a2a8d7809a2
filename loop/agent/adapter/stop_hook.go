package adapter

// StopHook is how a program is made to call `hat hook stop` before it ends a session, so
// that a session without its event is told so. It is a convenience: a program that
// ignores it ends, and the loop judges that end.
type StopHook struct {
	// Args returns arguments of the program for it. nil adds none.
	Args func(c Call) ([]string, error)
}

// stopHookCommand is the hook as the files of Home have it: hat is first on PATH. Gemini
// CLI, Qwen Code and Copilot CLI give it JSON with stop_hook_active, and take its answer,
// as Claude Code does.
const stopHookCommand = "hat hook stop"

// writeHook is the hook that some programs call before a tool writes a file: its answer
// keeps a session from changes that would be undone. Programs take exit code 2, which is
// that of a crash, too, for a refusal, so the command never fails.
func writeHook(hat string) string { return hat + " hook write || :" }
