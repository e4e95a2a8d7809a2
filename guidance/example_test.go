package guidance_test

import (
	"fmt"
	"time"

	"github.com/nightporter/nightporter/guidance"
)

// A directive waits in the queue, enters the prompt of the next session that
// its address permits, and ends with that session's report.
func Example() {
	sent := time.Date(2026, 11, 20, 2, 14, 0, 0, time.UTC)
	address, text := guidance.Parse("@builder Keep the old function names")

	var queue guidance.Queue
	queue = queue.Add(guidance.Item{ID: "g1", Text: text, Hat: address.Hat, By: "Mira", At: sent})

	planner := guidance.Target{Session: "r14-1", Hat: "planner", Task: "task 1"}
	fmt.Println("planner has to report on", queue.Plan(planner).Bound)

	builder := guidance.Target{Session: "r14-2", Hat: "builder", Task: "task 1", Writes: true}
	binding := queue.Plan(builder)
	queue = queue.Bind(builder, binding)
	fmt.Println("builder has to report on", queue.Owed(binding.Bound))

	queue = queue.Report("g1", guidance.Addressed, "kept all three", sent.Add(5*time.Minute))
	item, _ := queue.Get("g1")
	fmt.Printf("%s %s: %s\n", item.ID, item.State.Word(), item.Note)
	// Output:
	// planner has to report on []
	// builder has to report on [g1]
	// g1 addressed: kept all three
}

// The address precedes the text; a "#" or "@" after the beginning belongs to
// the text.
func ExampleParse() {
	address, text := guidance.Parse("!sticky #12 Ask @mira before changing #3")
	fmt.Printf("%+v %q\n", address, text)
	// Output: {Hat: Task:12 Sticky:true} "Ask @mira before changing #3"
}
