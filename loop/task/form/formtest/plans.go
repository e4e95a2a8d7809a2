// Package formtest has texts for tests of forms and of the sources that read them.
package formtest

// SeedPlan is a plan with every field and mark.
const SeedPlan = `# Checkout

| PRD | Research | Status | Created |
|---|---|---|---|
| - | - | in progress | 2026-11-01 |

## Overview

- [ ] talk to finance

## Tasks

- [x] **Task 1: Order schema**
  - Scope: ` + "`db/migrations`" + `
  - Depends on: none
  - Acceptance:
    - orders table exists
    - migration runs twice
  - Notes: Optional

- [ ] **Task 2: Order service**
  - Scope: ` + "`order/`, `go.mod`" + `
  - Depends on: Task 1
  - Acceptance: totals are right

- [ ] (blocked) **Task 5: Integrate payment API**
  - Scope: ` + "`cloud/functions/payments`" + `
  - Depends on: Task 1, Task 2
  - Acceptance: Payment webhook handler works
  - Notes: Blocked - need API credentials
    from finance team
- [ ] (manual-verify) **Task 6: Look at it**
  - Acceptance:
    - [ ] the total shows
      in euros
    - [x] buttons:
      - pay
      - cancel

## Verification

- [ ] ` + "`go test ./...`" + `
`

// Plans are plans in forms that people and editors write.
var Plans = []string{
	SeedPlan,
	"\ufeff## Tasks\r\n\r\n* [ ] **Task 1: A**  \r\n\t- Scope: `a/b`\t\r\n\r\n* [X] **Task 2a: B** trailing\r\n+ [ ]  **Task 2.5: C**\t\r\n\t* Depends on: Tasks 1-2a\r\n<!-- note -->",
	"- [ ] **Task 1: A (blocked)**\n- [ ] **Task 2: B** (manual-verify)   \n- [ ] **(Blocked) Task 3: C**\n- [ ] (manual verify) **Task 4: D** (Manual-Verify)\n- [x] (blocked) **Task 5: E**\n- [ ] **Task 6: F** (blocked) because",
	"    - [ ] **Task 9: not one**\n\n1. Phase\n   - [ ]\t**Task 1: Größe ✓ `**x**` (blocked users)**\n     - [ ] sub\n   - [ ] **Task 10: B**\n\n     ```\n   - [ ] **Task 11: C** <!-- (blocked) -->",
}
