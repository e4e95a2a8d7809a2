package bench

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// program compiles a package of this module as the Makefile does, with cgo or
// without, and returns the binary's path.
func program(b *testing.B, name, pkg string, cgo bool) string {
	b.Helper()
	env, flags := "CGO_ENABLED=0", "-ldflags=-s -w"
	if cgo {
		env, flags = "CGO_ENABLED=1", "-ldflags="
	}
	bin := filepath.Join(shared(b), name)
	build(b, filepath.Join("..", ".."), env, "-trimpath", flags, "-o", bin, pkg)
	return bin
}

// source compiles one file of Go that needs nothing but the standard library.
func source(b *testing.B, name, text string) string {
	b.Helper()
	dir := b.TempDir()
	for file, text := range map[string]string{"go.mod": "module " + name + "\n\ngo 1.26\n", "main.go": text} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	bin := filepath.Join(shared(b), name)
	build(b, dir, "CGO_ENABLED=0", "-trimpath", "-ldflags=-s -w", "-o", bin, ".")
	return bin
}

func build(b *testing.B, dir, env string, args ...string) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "go", append([]string{"build"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
}

// shared is a temporary folder that a session's user can reach: as root,
// sessions run as somebody else.
func shared(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// median returns the middle of the values, and the value that 95 of 100 do
// not pass.
func median[T cmp.Ordered](values []T) (middle, high T) {
	if len(values) == 0 {
		return middle, high
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2], sorted[len(sorted)*95/100]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
