package propose

// lookRust proposes what seed 001 names for Rust. cargo fetches what it needs
// by itself, so there is no setup.
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
