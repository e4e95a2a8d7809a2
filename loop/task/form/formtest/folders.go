package formtest

// Folder is a folder of Backlog.md.
type Folder struct {
	Files map[string]string // by path below the folder
	First string            // path of the file of the first open task
}

// Folders are folders of Backlog.md as its users have them: with its own columns and
// with others, with Windows' line ends, with ids of older versions.
var Folders = []Folder{
	{First: "tasks/task-3 - Round-half-up.md", Files: map[string]string{
		"config.yml": "project_name: \"Shop\"\ndefault_status: \"To Do\"\nstatuses: [\"To Do\", \"In Progress\", \"Done\"]\nlabels: []\ndate_format: yyyy-mm-dd hh:mm\ntask_prefix: \"task\"\n",
		"tasks/task-3 - Round-half-up.md": `---
id: TASK-3
title: 'Round half up: everywhere'
status: To Do
assignee: @ann
created_date: '2026-04-24 10:00'
labels:
  - cart
dependencies:
  - TASK-1
priority: high
ordinal: 2000
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
Totals are cut off.

## Cases

- [ ] 1.005 is a case, not a criterion

` + "```markdown\n## Acceptance Criteria\n- [ ] #9 in code\n```" + `
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [ ] #1 1.005 becomes 1.01
- [x] #2 The cart
  shows it
<!-- AC:END -->

## Definition of Done
<!-- DOD:BEGIN -->
- [ ] #1 tests pass
<!-- DOD:END -->

## Implementation Plan

1. A function

## Implementation Notes

Seen on Sunday.
`,
		"tasks/task-4 - Show-it.md":             "---\nid: TASK-4\ntitle: >-\n  Show it in the\n  cart\nstatus: \"In Progress\" # since Monday\nlabels: []\ndependencies: [task-3]\nordinal: 1000\n---\n",
		"tasks/task-4.1 - Euro.md":              "---\nid: TASK-4.1\ntitle: Euro\nstatus: to do\nlabels: []\ndependencies: []\nparent_task_id: TASK-4\npriority: low\n---\n\n## Description\n\nIn euros.\n",
		"tasks/task-5 - Docs.md":                "---\nid: TASK-5\ntitle: Docs\nstatus: Done\ndependencies: []\n---\n\n## Acceptance Criteria\n- [x] #1 a page\n",
		"tasks/readme.md":                       "# Tasks\n\n- [ ] none\n",
		"completed/task-1 - Add-up.md":          "---\nid: TASK-1\ntitle: Add up\nstatus: Done\ndependencies: []\n---\n\n## Description\n\nLong ago.\n",
		"archive/tasks/task-2 - Gone.md":        "---\nid: TASK-2\ntitle: Gone\nstatus: To Do\n---\n",
		"drafts/draft-1 - Some-day.md":          "---\nid: DRAFT-1\ntitle: Some day\nstatus: Draft\n---\n",
		"docs/doc-1 - Prices.md":                "---\nid: doc-1\ntitle: Prices\n---\n",
		"decisions/decision-1 - Whole-cents.md": "---\nid: decision-1\ntitle: Whole cents\nstatus: accepted\n---\n",
	}},
	{First: "tasks/shop-01 - A.md", Files: map[string]string{
		"config.yml": "project_name: Laden\r\nstatuses:\r\n  - Icebox\r\n  - Ready\r\n  - Doing\r\n  - On hold\r\n  - In review\r\n  - Won't Do\r\n  - Live\r\ndefault_status: Icebox\r\ntask_prefix: shop\r\nzero_padded_ids: 2\r\n",
		"tasks/shop-01 - A.md": "\ufeff---\r\nid: SHOP-01\r\ntitle: A\r\nstatus: 'Ready'\r\ndependencies: []\r\npriority: high\r\n---\r\n\r\n## Description\r\n\r\nOne.\r\n\r\n## Acceptance Criteria\r\n" +
			"<!-- AC:BEGIN -->\r\n- [ ] #1 a\r\n<!-- AC:END -->",
		"tasks/shop-02 - B.md": "---\r\nid: SHOP-02\r\ntitle: \"B \\\"b\\\"\"\r\nstatus: On hold\t\r\ndependencies:\r\n- shop-1\r\n---",
		"tasks/shop-03 - C.md": "---\nid: SHOP-03\ntitle: C\nstatus:   \"In review\"\n---\n",
		"tasks/shop-04 - D.md": "---\nid: SHOP-04\ntitle: D\nstatus: Live\n---\n",
		"tasks/shop-05 - E.md": "---\nid: SHOP-05\ntitle: E\nstatus: Doing\n---\n",
		"tasks/shop-06 - F.md": "---\nid: SHOP-06\ntitle: F\nstatus: Icebox\n---\n",
		"tasks/shop-07 - G.md": "---\nid: SHOP-07\ntitle: G\nstatus: Won't Do\n---\n",
	}},
	{First: "tasks/task-9 - Nine.md", Files: map[string]string{
		"tasks/task-9 - Nine.md":      "---\nid: task-9\ntitle: Nine\nstatus: To Do\nlabels: [\"a\", b]\ndependencies: [\"task-9.1\"]\n---\n## Description\nWhat Nine is.\n\n## Acceptance Criteria (Optional)\n- [ ] without a number\n- a bullet\n",
		"tasks/task-9.1 - Part.md":    "---\nid: task-9.1\ntitle: Part\nstatus: To Do\nparent_task_id: task-9\n---\n",
		"tasks/task-9.2 - Another.md": "---\nid: task-9.2\ntitle: Another\nstatus: In Progress\nparent_task_id: task-9\ndependencies: [task-9.1]\n---\n",
		"tasks/task-10 - Ten.md":      "---\nid: task-10\ntitle: Ten\nstatus: Done\n---\n",
	}},
}
