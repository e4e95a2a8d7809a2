package formtest

// SeedBacklog is a backlog as its users write it, with every status. Its third column
// is the status, in all of these.
const SeedBacklog = `# Backlog

## 🎯 Goals

| Milestone | Goal | Metric |
|-----------|------|--------|
| **LAUNCH** | first release | 1K stars |

## Очередь

| ID | Задача | Status | Priority | Feature.md |
|----|--------|--------|----------|------------|
| TECH-068 | Native triggers (was blocked \| queued twice) | done | P2 | [spec](features/TECH-068-2026-02-02-native-triggers.md) |
| TECH-069 | Fresh context per spec | queued | P1 | [spec](features/TECH-069-2026-02-02-fresh-context.md) |
| TECH-070 | Sync limits | draft | P2 | [spec](features/TECH-070.md) |
| BUG-071a | Totals done wrong | in_progress | P0 | — |

## 📈 GROWTH

| ID | Задача | Status | Impact | Feature.md |
|----|--------|--------|--------|------------|
| GROWTH-001 | Launch post | blocked | ⭐⭐⭐⭐⭐ | [draft](features/TECH-068-2026-02-02-native-triggers.md) |
| GROWTH-002 | Showcase | resumed | ⭐⭐⭐ | closed: covered by TECH-068 |

## Statuses

| Status | Owner | Description |
|--------|-------|-------------|
| ` + "`queued`" + ` | Spark | Ready |

| ID | Задача | Feature.md |
|----|--------|------------|
| TECH-001 | Archived | [spec](features/TECH-001.md) |
`

// Backlogs are backlogs in forms that people and editors write.
var Backlogs = []string{
	SeedBacklog,
	"\ufeff| Id | Title | STATUS |\r\n| :-- | --- | :-: |\r\n| A-1 | one | **Queued** |  \r\n|A-2|two|`DONE`|\r\n| A-3 | three | ✅ done (2026-01-02) |",
	"---\ntitle: x | y\n---\nID | What | Status | Notes\n---|---|---|---\nX_Y-1 | `a` and `b` | _blocked_ until May | x\nX_Y-2 | done \\| queued | in progress | \n<!-- X_Y-9 | no | queued | -->\nX_Y-3 | c | manual-verify |\n\n```\n| ID | What | Status |\n|---|---|---|\n| X_Y-1 | code | queued |\n```\n",
}

// SeedSpec is a spec with every section that is read.
const SeedSpec = `# Tech: [TECH-069] Fresh context per spec

**Status:** queued | **Priority:** P1 | **Date:** 2026-02-02

## Why

Context piles up between specs.

---

## Allowed Files

**ONLY these files may be modified during implementation:**

1. ` + "`scripts/loop.sh`" + ` — new: the loop of ` + "`run()`" + `
2. ` + "`template/SKILL.md:10-20`" + ` — modify

**New files allowed:**
- ` + "`help/loop.md`, `help/img/`" + `

**FORBIDDEN:** All other files.
- ` + "`secrets.env`" + `

---

## Environment

nodejs: false
docker: true

## Implementation Plan

### Task 1: The loop

**Status:** of the task, not of the spec
- [ ] reads the backlog

` + "```markdown" + `
## Definition of Done
` + "```bash" + `
# not a heading
` + "```" + `
` + "```" + `

## Definition of Done

### Functional
- [ ] runs several specs
  in order
- [x] logs progress:
  - to the diary

## Autopilot Log

*(Filled by Autopilot during execution)*
`
