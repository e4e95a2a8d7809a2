package hatcli

const helpAll = `hat talks to nightporter from inside a session.

  hat emit TYPE [--data JSON|@FILE|-]     end this session with its one event
  hat ask TEXT [--option A]… [--choice A] end it with a question to a person
  hat task list [--json]                  the tasks of this run
  hat task show [ID] [--json]             one task, yours without ID
  hat task add TITLE [--scope S] …        add a task, if your hat may
  hat guidance [--json]                   what people want to be heeded
  hat note TEXT                           keep a note for later sessions
  hat memory add [--kind decision] TEXT   keep something for good
  hat memory list                         what is kept
  hat version

Exit codes: 0 accepted, 1 refused (the text says what to change), 2 usage, 75 try later.`

const helpEmit = `usage: hat emit TYPE [--data JSON|@FILE|-]
  TYPE    one of the events that your prompt names under "How to end"
  --data  its fields as one JSON object: in place, from a file, or - for standard input
example:
  hat emit build.complete --data '{"summary":"Totals round half up","files_modified":["cart.go"]}'`

const helpAsk = `usage: hat ask TEXT [--option A]… [--choice A]
  --option  an answer to choose from; may be given several times
  --choice  what you would do without an answer
example:
  hat ask "Round half up or half even?" --option "half up" --option "half even" --choice "half up"`

const helpTask = `usage: hat task list [--json]
       hat task show [ID] [--json]
       hat task add TITLE [--scope S] …   (hat task add --help)`

const helpTaskAdd = `usage: hat task add TITLE [--body TEXT] [--scope S] [--depends-on ID]… [--acceptance TEXT]…
                    [--priority P0|P1|P2|P3] [--complexity 1-10] [--role ROLE] [--id ID] [--json]
       hat task add --data JSON|@FILE|- [--json]
  TITLE   at most 80 characters; what else there is to say goes into --body
  --id    only if others have to name it; else it gets the next free one
  --data  one task, {"title":…,"depends_on":[…]}, or several: {"tasks":[{…},{…}]}
Your hat has to be allowed to add tasks. A title or an id that is there already, a
dependency that is not, and tasks that wait for each other are refused.
example:
  hat task add "Totals round half up" --scope cart/ --depends-on 3 --acceptance "1.005 becomes 1.01"`

const helpGuidance = `usage: hat guidance [--json]`

const helpNote = `usage: hat note TEXT
  something unfinished that the next session has to know`

const helpMemory = `usage: hat memory add [--kind memory|decision] TEXT
       hat memory list
  memory    a fact about this repository that cost you time; without --kind it is one
  decision  a choice that later tasks have to keep to, with its reason
What only the next session needs goes into hat note.
example:
  hat memory add --kind decision "Amounts are cents in int64: floats lost one in rounding"`
