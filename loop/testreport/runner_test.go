package testreport_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/testreport"
)

// TestWrittenReports holds what is read of runners of which testdata has no output:
// the texts are in the forms that their documentation and sources give.
func TestWrittenReports(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"gradle",
			`> Task :compileJava UP-TO-DATE
> Task :checkstyleMain FAILED
> Task :test FAILED

CartTest > sums() FAILED
    org.opentest4j.AssertionFailedError: expected: <3> but was: <-1>
        at app//CartTest.sums(CartTest.java:8)

CartTest > WithTax > adds it FAILED
    java.lang.IllegalStateException at CartTest.java:12

3 tests completed, 3 failed

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':test'.
`, `  gradle: -1 passed, -1 skipped
  line      gradle      | (task :checkstyleMain)
  error     gradle      | (unnamed failure 1)
  assertion gradle      | CartTest > WithTax > adds it
  assertion gradle      | CartTest > sums()
  line                  | FAILURE: Build failed with an exception.
`,
		},
		{
			"dotnet",
			`  Shop -> /work/p/bin/Debug/net9.0/Shop.dll
Starting test execution, please wait...
A total of 1 test files matched the specified pattern.
[xUnit.net 00:00:00.21]     Shop.Tests.CartTests.Sums [FAIL]
  Failed Shop.Tests.CartTests.Sums [12 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
  Failed Shop.Tests.CartTests.Adds(a: 1, b: 2) [< 1 ms]
  Error Message:
   Assert.True() Failure

Failed!  - Failed:     2, Passed:     3, Skipped:     1, Total:     6, Duration: 15 ms - Shop.Tests.dll (net9.0)
`, `  dotnet test: 3 passed, 1 skipped
  ran dotnet test: 3 passed, 2 failed, 1 skipped
  assertion dotnet test  | Shop.Tests.CartTests.Adds(a: 1, b: 2)
  assertion dotnet test  | Shop.Tests.CartTests.Sums
`,
		},
		{
			"dotnet compiler",
			`/work/p/Cart.cs(3,14): error CS1002: ; expected [/work/p/Shop.csproj]
/work/p/Cart.cs(3,14): error CS1002: ; expected [/work/p/Shop.csproj]
`, `  compiler: -1 passed, -1 skipped, build
  build     compiler   Cart.cs | CS1002: ; expected
`,
		},
		{
			"xctest",
			`Test Suite 'All tests' started at 2026-11-23 10:00:00.000
Test Case 'CartTests.testSums' started at 2026-11-23 10:00:00.001
/work/p/Tests/CartTests/CartTests.swift:6: error: CartTests.testSums : XCTAssertEqual failed: ("-1") is not equal to ("3")
Test Case 'CartTests.testSums' failed (0.002 seconds)
Test Case 'CartTests.testZero' passed (0.000 seconds)
Test Suite 'CartTests' failed at 2026-11-23 10:00:00.004
	 Executed 3 tests, with 1 test skipped and 1 failure (0 unexpected) in 0.002 (0.002) seconds
Test Suite 'All tests' failed at 2026-11-23 10:00:00.004
	 Executed 3 tests, with 1 test skipped and 1 failure (0 unexpected) in 0.002 (0.002) seconds
`, `  xctest: 1 passed, 1 skipped
  ran xctest: 1 passed, 1 failed, 1 skipped
  assertion xctest      | CartTests.testSums
`,
		},
		{
			"maven 3.5 and later",
			`[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in CartTest
[ERROR] CartTest.sums -- Time elapsed: 0.01 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <3> but was: <-1>
[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0
`, `  maven: 1 passed, 0 skipped
  ran maven: 1 passed, 1 failed, 0 skipped
  assertion maven       | CartTest.sums
  line                  | org.opentest4j.AssertionFailedError: expected: <#> but was: <-1>
`,
		},
		{
			"marks that are not automake's",
			"FAIL: cart\nPASS: zero\n", `  : -1 passed, -1 skipped
  line                  | FAIL cart
  line                  | PASS: zero
`,
		},
		{
			"googletest within ctest counts nothing",
			`[ RUN      ] Cart.Sums
[  FAILED  ] Cart.Sums (0 ms)
[  PASSED  ] 3 tests.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] Cart.Sums

50% tests passed, 1 tests failed out of 2

Total Test time (real) =   0.02 sec

The following tests FAILED:
	  2 - cart (Failed)
`, `  ctest, googletest: 1 passed, 0 skipped
  ran ctest: 1 passed, 1 failed, 0 skipped
  assertion googletest  | Cart.Sums
  assertion ctest       | cart
`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := show(testreport.Parse(c.text, testreport.Ended{Exit: 1, Dirs: []string{"/work/p"}}))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
