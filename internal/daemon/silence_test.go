package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestSilence compares the checksum with the check value of its kind, and has a decoder
// read the file where there is one.
func TestSilence(t *testing.T) {
	if got := oggSum([]byte("123456789")); got != 0x89a1897f {
		t.Errorf("checksum %#x", got)
	}
	path := filepath.Join(t.TempDir(), "voice.ogg")
	if err := os.WriteFile(path, silence(), 0o600); err != nil {
		t.Fatal(err)
	}
	ffmpeg, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Log("ffmpeg is not installed: nothing decodes it")
		return
	}
	if out, err := exec.Command(ffmpeg, "-v", "error", "-xerror", "-i", path, "-f", "null", "-").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
