package patch_test

import (
	"testing"

	"github.com/nightporter/nightporter/bot/patch"
	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/internal/scenario"
)

func TestMain(m *testing.M) { leaktest.Main(m.Run) }

// version returns the version that a patch describes.
func version(text string) patch.Version { return patch.Version{Files: scenario.Changes(text)} }

// sample has a file of each kind.
const sample = `diff --git a/go.sum b/go.sum
index 1..2 100644
--- a/go.sum
+++ b/go.sum
@@ -1,1 +1,4 @@
 a v1 h1:abc=
+b v1 h1:def=
+c v1 h1:ghi=
+d v1 h1:jkl=
diff --git a/order/service.go b/order/service.go
index 1..2 100644
--- a/order/service.go
+++ b/order/service.go
@@ -9,11 +9,16 @@ func (s *Service) Place(o Order) error {
 	if err := o.Validate(); err != nil {
 		return fmt.Errorf("order %s: %w", o.ID, err)
 	}
-	return legacy.Place(o.ID, o.Lines, nil)
+	// The old code stays; the adapter turns cents into its whole units, which it rounds half up.
+	return adapter.Place(o.ID, o.Lines, nil)
 }
 
-const retries = 3
+const retries = 5
+
+var admin = map[string]bool{"user` + "\u202e \u2066" + `// check": true}` + "  " + `
+
+func (s *Service) close() { s.once.Do(func() { close(s.done) }) }
diff --git a/order/service_test.go b/order/service_test.go
index 1..2 100644
--- a/order/service_test.go
+++ b/order/service_test.go
@@ -3,3 +3,4 @@ func TestPlace(t *testing.T) {
 	s := New()
-	if err := s.Place(Order{}); err == nil {
+	// An order without lines is refused.
+	if err := s.Place(t.Context(), Order{}); err == nil {
 		t.Fatal("accepted")
\ No newline at end of file
diff --git a/order/very/deep/folder/of/the/repository/adapter.go b/order/very/deep/folder/of/the/repository/adapter.go
new file mode 100644
index 0..2
--- /dev/null
+++ b/order/very/deep/folder/of/the/repository/adapter.go
@@ -0,0 +1,6 @@
+package order
+
+/* Adapter wraps the old
+   code. */
+type Adapter struct{ n int64 }
+
diff --git a/docs/new name.md b/docs/new name.md
similarity index 90%
rename from docs/old.md
rename to docs/new name.md
index 1..2 100644
--- a/docs/old.md
+++ b/docs/new name.md
@@ -1,2 +1,2 @@
 # Orders
-See ` + "`legacy`" + `.
+See ` + "`adapter`" + `.
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/lib/dep b/lib/dep
index 1..2 160000
--- a/lib/dep
+++ b/lib/dep
@@ -1 +1 @@
-Subproject commit 1111111111111111111111111111111111111111
+Subproject commit 2222222222222222222222222222222222222222
diff --git a/legacy/old.py b/legacy/old.py
deleted file mode 100644
index 1..0
--- a/legacy/old.py
+++ /dev/null
@@ -1,2 +0,0 @@
-def old():
-    return None
`
