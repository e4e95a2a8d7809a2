package formtest

// WreckIt are wreck-it's task files, in forms that people and printers write.
var WreckIt = []string{
	`[
  {
    "id": "design-1",
    "description": "Sketch the order schema. Two tables will do.",
    "status": "completed",
    "role": "ideas",
    "priority": 3,
    "complexity": 2,
    "phase": 1,
    "outputs": [
      { "kind": "file", "name": "sketch", "path": "notes/orders.md" }
    ]
  },
  {
    "id": "build-1",
    "description": "Write the order schema",
    "status": "pending",
    "priority": 9,
    "complexity": 4,
    "phase": 2,
    "depends_on": ["design-1"],
    "inputs": ["design-1/sketch"],
    "labels": ["db", "night"],
    "acceptance_criteria": "- the migration runs twice\n- it can be undone",
    "evaluation": { "mode": "command", "command": "make schema" },
    "failed_attempts": 1,
    "last_attempt_at": 1790000000,
    "max_retries": 2
  },
  {
    "id": "build-2",
    "description": "Round totals half up",
    "status": "failed"
  },
  {
    "id": "watch-1",
    "description": "Update the dependencies",
    "status": "pending",
    "kind": "recurring",
    "cooldown_seconds": 86400,
    "precondition_prompt": "a dependency has a newer release"
  }
]
`,
	"\ufeff[\r\n\t{\"id\" : \"1\",\"description\":\"Gr\\u00f6\\u00dfe \\ud83d\\ude80\", \"st\\u0061tus\"  :\t\"p\\u0065nding\" },\r\n\r\n\t{ \"id\":\"2\" , \"description\":\"B\",\"status\":\"completed\",\"note\":{\"status\":[1,{\"x\":\"}\"}]}}\r\n,\t{\"description\":\"a \\\"status\\\" in words\",\"status\":\"failed\",\"id\":\"3\",\"depends_on\":[\r\n\"1\",\"2\"]}]",
	`[{"id":"a","description":"A","status":"pending"},{"id":"b","description":"B","status":"inprogress"},{"id":"c","description":"C","status":"failed"}]`,
}

// TaskMaster are task files of Task Master.
var TaskMaster = []string{
	`{
  "master": {
    "tasks": [
      {
        "id": 1,
        "title": "Order schema",
        "description": "Two tables",
        "details": "orders and lines",
        "testStrategy": "The migration runs twice",
        "priority": "high",
        "dependencies": [],
        "status": "done",
        "subtasks": []
      },
      {
        "id": 2,
        "title": "Order service",
        "description": "Totals and taxes",
        "status": "pending",
        "priority": "medium",
        "dependencies": [
          1
        ],
        "subtasks": [
          {
            "id": 1,
            "title": "Totals",
            "description": "Half up",
            "dependencies": [],
            "status": "pending"
          },
          {
            "id": 2,
            "title": "Taxes",
            "details": "Of three countries",
            "dependencies": [
              1
            ],
            "status": "deferred"
          }
        ]
      },
      {
        "id": 3,
        "title": "Order page",
        "status": "review",
        "dependencies": [
          2,
          "2.1"
        ]
      }
    ],
    "metadata": {
      "created": "2026-11-01T08:00:00.000Z",
      "description": "Tasks of master"
    }
  }
}
`,
	"{\"meta\":{\"projectName\":\"shop\"},\"tasks\":[{\"id\":\"1\",\"title\":\"A\",\"status\":\"in-progress\",\"subtasks\":[{\"id\":1,\"title\":\"x\",\"status\":\"done\"},{\"id\":2,\"title\":\"y\",\"status\":\"in-progress\"}]},\r\n{\"id\":\"2\",\"title\":\"B\",\"status\":\"blocked\"},{\"id\":\"3\",\"title\":\"C\",\"dependencies\":[\"1\"],\"status\":\"cancelled\"}]}\r\n",
}

// PRDs are files of user stories with passes.
var PRDs = []string{
	`{
  "project": "Shop",
  "branchName": "ralph/orders",
  "description": "Orders",
  "userStories": [
    {
      "id": "US-001",
      "title": "Order schema",
      "description": "As a clerk I want orders to stay",
      "acceptanceCriteria": [
        "The migration runs twice",
        "Typecheck passes"
      ],
      "priority": 1,
      "passes": true,
      "notes": ""
    },
    {
      "id": "US-002",
      "title": "Order page",
      "description": "As a clerk I want to see orders",
      "acceptanceCriteria": ["The total shows in euros"],
      "priority": 2,
      "passes": false,
      "notes": "Ask about taxes",
      "dependsOn": ["US-001"]
    },
    {
      "id": "US-003",
      "title": "Order filter",
      "acceptanceCriteria": [],
      "priority": 3,
      "passes": false
    }
  ]
}
`,
	"{ \"name\":\"shop\",\t\"userStories\" :[\r\n{\"passes\" :\tfalse,\"id\":\"a\",\"title\":\"the \\\"passes\\\": true of it\"} ,\r\n{\"id\":\"b\",\"title\":\"B\",\"passes\":true,\"labels\":[\"x\"]},{\"id\":\"c\",\"title\":\"C\",\"passes\":false}\r\n]}",
}

// PRDStatus is a file of stories with a status.
const PRDStatus = `{
  "version": 1,
  "qualityGates": ["npm test"],
  "stories": [
    { "id": "US-001", "title": "Order schema", "status": "done", "dependsOn": [], "acceptanceCriteria": ["It runs twice"], "completedAt": "2026-11-01T08:00:00Z" },
    { "id": "US-002", "title": "Order page", "status": "in_progress", "dependsOn": ["US-001"], "startedAt": null },
    { "id": "US-003", "title": "Order filter", "status": "open", "dependsOn": ["US-002"] }
  ]
}
`

// Beads are exports of bd.
var Beads = []string{
	`{"id":"shop-1","title":"Orders","status":"open","priority":1,"issue_type":"epic","created_at":"2026-11-01T08:00:00Z"}
{"id":"shop-1.1","title":"Order schema","description":"Two tables","design":"One migration","acceptance_criteria":"- it runs twice\n- it can be undone","notes":"Ask about taxes","status":"closed","priority":0,"issue_type":"task","labels":["db"],"dependencies":[{"issue_id":"shop-1.1","depends_on_id":"shop-1","type":"parent-child"}],"close_reason":"done"}
{"id":"shop-1.2","title":"Order page","status":"open","priority":2,"issue_type":"feature","dependencies":[{"issue_id":"shop-1.2","depends_on_id":"shop-1.1","type":"blocks"},{"issue_id":"shop-1.2","depends_on_id":"shop-1","type":"parent-child"},{"issue_id":"shop-1.2","depends_on_id":"shop-9","type":"related"}]}
{"id":"shop-2","title":"Release","status":"blocked","priority":3,"issue_type":"chore","dependencies":[{"issue_id":"shop-2","depends_on_id":"shop-1","type":"blocks"}]}
{"id":"shop-3","title":"Gone","status":"tombstone","priority":2,"issue_type":"task"}
`,
	"{\"_type\":\"issue\",\"id\":\"a-1\",\"title\":\"A\",\"status\":\"open\",\"issue_type\":\"task\"}\r\n\r\n{\"id\":\"a-2\",\"title\":\"B\",\"status\":\"in_progress\",\"issue_type\":\"bug\"}\r\n{\"id\":\"a-3\",\"title\":\"C\",\"status\":\"closed\",\"issue_type\":\"task\"}",
}

// Bugs are inboxes of bug reports: a list, an object with one, a report a line.
var Bugs = []string{
	`[
  {
    "id": "mem_a8f",
    "title": "Total is NaN",
    "body": "I clicked Pay and saw NaN instead of the total.",
    "severity": "critical",
    "page": "/cart",
    "tags": ["cart", "money"],
    "status": "open",
    "created_at": "2026-11-20T08:00:00Z",
    "meta": { "screenshot": "shots/1.png", "consoleErrors": ["TypeError: x is undefined"], "userAgent": "Firefox", "url": "https://shop.example/cart" }
  },
  { "id": "mem_b4d", "body": "The label says Sing in.", "severity": "low", "page": "/login", "status": "fixed" },
  { "id": "mem_c1a", "body": "The list is empty after a search.", "severity": "medium", "page": "/search", "status": "blocked" }
]
`,
	"\ufeff{\r\n\t\"version\": 2,\r\n\t\"bugs\": [\r\n\t\t{\"status\": \"new\", \"id\": 1, \"body\": \"A crash on save\", \"page\": \"/a\"},\r\n\t\t{\"id\": 2, \"body\": \"B\", \"status\": \"closed\"},\r\n\t\t{\"id\": \"x\", \"body\": \"C\", \"status\": \"in_progress\"}\r\n\t]\r\n}",
	"{\"id\":\"l1\",\"body\":\"One a line\",\"severity\":\"p1\",\"status\":\"open\"}\n\n{\"id\":\"l2\",\"body\":\"Two\",\"status\":\"resolved\"}\n{\"id\":\"l3\",\"body\":\"Three\",\"status\":\"todo\"}\n",
}
