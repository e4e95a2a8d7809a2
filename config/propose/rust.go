package propose

// lookRust proposes cargo's checks and tests. It needs no setup, because cargo
// downloads the dependencies by itself.
func lookRust(f folder) (part, bool) {
	if !f.has("Cargo.toml") {
		return part{}, false
	}
	clippy := f.command("cargo clippy", "Cargo.toml", false).code()
	if !f.onPath("cargo-clippy") {
		clippy = clippy.off("clippy is not installed: rustup component add clippy")
	}
	return part{verify: []Command{
		f.command("cargo check", "Cargo.toml", false), clippy, f.command("cargo test", "Cargo.toml", false),
	}}, true
}
