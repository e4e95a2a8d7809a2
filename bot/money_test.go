package bot

import "testing"

// TestMoneyOfSums: the same amounts added up in another order are written the same.
func TestMoneyOfSums(t *testing.T) {
	sum := 0.0
	for range 10 {
		sum += 0.0095
	}
	if sum == 0.095 {
		t.Fatal("the sums do not differ")
	}
	if got, want := Money(sum), Money(0.095); got != want {
		t.Errorf("%s and %s", got, want)
	}
}
