package config

import (
	"path/filepath"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Config is the content of nightporter.toml (docs/spec 17), checked, with every
// path absolute. A key that the file omits has its zero value; Project.Settings
// and the methods of Config supply the defaults.
//
// The toml tags are the contract with people's files: keys are added, never
// renamed. Tag oneof lists the values that a text may have.
type Config struct {
	Timezone        string           `toml:"timezone"`     // IANA name; "" = the host's own
	MaxSessions     *int             `toml:"max_sessions"` // maximum of concurrent sessions in all projects
	MaxLoad         float64          `toml:"max_load"`     // load average from which no further lane begins a session; 0 = any
	Boundary        string           `toml:"boundary" oneof:"auto required"`
	SessionUser     Text             `toml:"session_user"` // name or uid, when started as root
	QuestionTimeout QuestionTimeout  `toml:"question_timeout"`
	InhibitSleep    *bool            `toml:"inhibit_sleep"` // keep the machine awake while a run works; nil = true
	Transcribe      []string         `toml:"transcribe"`    // a program and its arguments, which turns a recording into words; nil = voice notes are not taken
	Telegram        *Telegram        `toml:"telegram"`      // nil = not used
	Slack           *Slack           `toml:"slack"`         // nil = not used
	GitHub          *Forge           `toml:"github"`        // nil = only the usual places of the token
	Gitea           *Forge           `toml:"gitea"`         // Forgejo too; nil as for GitHub
	Bugs            *Bugs            `toml:"bugs"`          // nil = no address takes bug reports
	Digest          Digest           `toml:"digest"`
	Budget          Budget           `toml:"budget"`
	Retention       Retention        `toml:"retention"`
	Limits          Limits           `toml:"limits"`
	Agents          map[string]Agent `toml:"agents"`
	Projects        []Project        `toml:"project"`
	Hooks           []Hook           `toml:"hook"`

	// File is the absolute path of the file that was read; "" without a file.
	File string `toml:"-"`

	// dir is the folder of File as the caller wrote it in Load. Problems name
	// files in that form, because the person recognises it.
	dir string

	prices []ModelPrice // of PricesFile
}

// Dir returns the folder that holds the config file, its hats and its patterns;
// "" without a file.
func (c *Config) Dir() string {
	if c.File == "" {
		return ""
	}
	return filepath.Dir(c.File)
}

// Sessions returns how many sessions may run at the same time in all projects while a
// run with these settings is one of them: without max_sessions as many as the project
// with the most lanes has.
func (c *Config) Sessions(s ledger.Settings) int {
	if c.MaxSessions != nil {
		return *c.MaxSessions
	}
	most := max(s.Parallel, 1)
	for _, p := range c.Projects {
		most = max(most, deref(p.Parallel, 1))
	}
	return most
}

// MostSessions returns how many sessions the configuration allows at the same time in all
// projects, 0 for as many as they have lanes.
func (c *Config) MostSessions() int { return deref(c.MaxSessions, 0) }

// KeepsAwake reports whether the machine is kept from going to sleep while a run
// works.
func (c *Config) KeepsAwake() bool { return c.InhibitSleep == nil || *c.InhibitSleep }

// Telegram is the section [telegram].
type Telegram struct {
	TokenFile string `toml:"token_file"` // "" = the systemd credential telegram-token
	API       string `toml:"api"`        // "" = https://api.telegram.org
}

// Slack is the section [slack].
type Slack struct {
	AppTokenFile string `toml:"app_token_file"` // "" = the systemd credential slack-app-token
	BotTokenFile string `toml:"bot_token_file"` // "" = the systemd credential slack-bot-token
	API          string `toml:"api"`            // "" = https://slack.com/api/
}

// chats returns the chat sections that the file has.
func (c *Config) chats() []chat {
	var all []chat
	if t := c.Telegram; t != nil {
		all = append(all, chat{"telegram", t.API, []tokenFile{
			{&t.TokenFile, "token_file", "telegram-token", "telegram.token", "Ask @BotFather for a token, put it in %s, mode 0600"},
		}})
	}
	if s := c.Slack; s != nil {
		all = append(all, chat{"slack", s.API, []tokenFile{
			{&s.AppTokenFile, "app_token_file", "slack-app-token", "slack-app.token", "Put the app's token (xapp-…) in %s, mode 0600"},
			{&s.BotTokenFile, "bot_token_file", "slack-bot-token", "slack-bot.token", "Put the bot's token (xoxb-…) in %s, mode 0600"},
		}})
	}
	return all
}

// threads returns the project's own chat on each platform.
func (p Project) threads() []thread {
	return []thread{
		{"telegram_topic", "topic", p.TelegramTopic, Topic{}},
		{"slack_channel", "channel", p.SlackChannel, Channel("")},
	}
}

// Digest is the section [digest]: when the daily and the weekly summary are
// sent, and which messages make a sound in quiet hours.
type Digest struct {
	At     Clock    `toml:"at"`
	Weekly WeekTime `toml:"weekly"`
	Quiet  Hours    `toml:"quiet"`
	Urgent []string `toml:"urgent" oneof:"standstill question blocked ended trouble"` // kinds of messages that make a sound in quiet hours
}

// Budget is the section [budget]: the limit on the spending of all projects
// together in any 24 hours (docs/spec 12.2).
type Budget struct {
	USDDay    float64 `toml:"usd_day"`    // 0 = no limit
	TokensDay int64   `toml:"tokens_day"` // 0 = no limit
}

// Day returns it as the ledger records it.
func (b Budget) Day() ledger.DayBudget { return ledger.DayBudget{USD: b.USDDay, Tokens: b.TokensDay} }

// Limits is the section [limits]: what one session may use (docs/spec 12.1).
type Limits struct {
	Memory    Memory `toml:"memory"`    // of all its processes together; unset = 75% of the machine's
	Processes *int   `toml:"processes"` // with their threads; nil = 4096, 0 = no limit
	Files     *int   `toml:"files"`     // open in one process; nil = 65536, 0 = no limit
}

// Defaults of Limits. Only accidents should meet them.
const (
	defaultPercent   = 75
	defaultProcesses = 4096
	defaultFiles     = 65536
)

// Lower bounds of Limits, below which an agent or a compiler cannot start.
const (
	leastMemory    = 64e6
	leastProcesses = 64
	leastFiles     = 256
)

// MaxMemory returns how many bytes one session may use on a machine that has
// machine of them; 0 = no limit.
func (l Limits) MaxMemory(machine int64) int64 {
	if !l.Memory.Set {
		return machine * defaultPercent / 100
	}
	return l.Memory.of(machine)
}

// MaxProcesses returns how many processes and threads one session may have;
// 0 = no limit.
func (l Limits) MaxProcesses() int { return valueOr(l.Processes, defaultProcesses) }

// MaxFiles returns how many files one process of a session may have open; 0 = no
// limit.
func (l Limits) MaxFiles() int { return valueOr(l.Files, defaultFiles) }

func valueOr(p *int, otherwise int) int {
	if p == nil {
		return otherwise
	}
	return *p
}

// Agent is one section [agents.X]: a command of the user's own, or changed
// settings of an agent that nightporter knows.
type Agent struct {
	Command     []string `toml:"command"`
	Prompt      string   `toml:"prompt" oneof:"stdin arg file"`
	Output      string   `toml:"output"`                          // format of its output, one of adapter.Outputs
	EnvFile     string   `toml:"env_file"`                        // file of NAME=VALUE lines, which only its owner may read
	PassEnv     []string `toml:"pass_env"`                        // names of environment variables that sessions inherit
	USDEstimate float64  `toml:"usd_estimate"`                    // estimated cost of one session
	MCP         bool     `toml:"mcp"`                             // it is offered the verbs of hat as tools of MCP
	EventBlock  bool     `toml:"event_block"`                     // an event that ends its last message is taken as sent
	Terminal    bool     `toml:"terminal"`                        // it cannot work without a terminal of its own
	Fallback    Words    `toml:"fallback"`                        // agents to use while this one is unavailable, the first one first
	Reserve     Part     `toml:"reserve"`                         // part of its usage window that stays unused
	Tiers       *Tiers   `toml:"tiers"`                           // nil = the shipped ones
	CoAuthor    *string  `toml:"co_author"`                       // "Name <mail>" in commits; "" = none
	Network     string   `toml:"network" oneof:"open ports none"` // what its sessions reach, where it is narrower
	Hosts       []string `toml:"hosts"`                           // as of a project; nil = those that are known for it
	MaxSessions *int     `toml:"max_sessions"`                    // sessions of all projects at a time; nil = no limit of its own
}

// Project is one section [[project]].
type Project struct {
	Name          string                 `toml:"name"` // [a-z0-9-]{1,32}
	Repo          string                 `toml:"repo"`
	Source        Source                 `toml:"source"`
	Profile       string                 `toml:"profile" oneof:"review overnight"`
	Pattern       string                 `toml:"pattern"`
	Agent         string                 `toml:"agent"`
	Setup         []string               `toml:"setup"`
	SetupEnvFile  string                 `toml:"setup_env_file"`  // file of NAME=VALUE lines for setup of committed files
	SetupHome     string                 `toml:"setup_home"`      // folder whose content setup of committed files finds in HOME
	VerifyEnvFile string                 `toml:"verify_env_file"` // file of NAME=VALUE lines for verification
	PassEnv       []string               `toml:"pass_env"`        // names of environment variables that all commands of the project inherit
	RoomFiles     []string               `toml:"room_files"`      // untracked files of the checkout that rooms get; globs
	Verify        []Verify               `toml:"verify"`
	Screenshot    *Screenshot            `toml:"screenshot"` // nil = no pictures are taken
	Base          string                 `toml:"base"`       // branch that a run starts from and requests ask to be merged into
	Remote        string                 `toml:"remote"`     // name or address; "" = origin
	Forge         string                 `toml:"forge" oneof:"auto github gitea plain"`
	PR            PR                     `toml:"pr"`
	WatchPR       string                 `toml:"watch_pr" oneof:"until_merged night off"` // how long open requests are looked at
	Protected     []string               `toml:"protected"`
	Allow         []string               `toml:"allow"` // commands that deploy or publish, which its sessions may call
	Push          string                 `toml:"push" oneof:"never end task"`
	OnBlocked     string                 `toml:"on_blocked" oneof:"stop continue"`
	Proof         string                 `toml:"proof" oneof:"full checks off"` // how much of a task's proof is looked for
	Tests         []string               `toml:"tests"`                         // globs of tests besides the usual names; "!GLOB" = no test
	Queue         string                 `toml:"queue" oneof:"each batch"`      // when a task that converged is committed
	Order         string                 `toml:"order" oneof:"document score"`  // in which ready tasks are taken; "" = as the kind of source has it
	Unproved      string                 `toml:"unproved" oneof:"refuse allow"` // a run in which nothing can prove a task's work
	MaxTasks      *int                   `toml:"max_tasks"`                     // 0 = no limit, as for the next three
	MaxIterations *int                   `toml:"max_iterations"`
	MaxWaves      *int                   `toml:"max_waves"`
	MaxNewFiles   *int                   `toml:"max_new_files"` // new files of a session that are taken without asking; 0 = no limit
	Parallel      *int                   `toml:"parallel"`      // at least 1: tasks that are worked on at a time
	Batch         *int                   `toml:"batch"`         // at least 1: bug reports a wave, and tasks that queue = "batch" verifies together
	Domains       []string               `toml:"domains"`       // hosts at which the project is used: what reports are about
	StaleClaim    ledger.Duration        `toml:"stale_claim"`   // how long a claim on a bug report counts without progress; 0 = ledger.StaleClaim
	Start         Start                  `toml:"start"`
	Until         Clock                  `toml:"until"`
	Read          []string               `toml:"read"`                                   // folders that sessions may also read
	Cache         []string               `toml:"cache"`                                  // folders of caches; what sessions write there reaches no other task
	Shared        []string               `toml:"shared"`                                 // folders that sessions may also write, and that keep what they write
	Network       string                 `toml:"network" oneof:"open ports none"`        // what its sessions reach; "" = open
	SetupNetwork  string                 `toml:"setup_network" oneof:"open ports none"`  // of setup commands, where it is narrower
	VerifyNetwork string                 `toml:"verify_network" oneof:"open ports none"` // of all other commands, where it is narrower
	Ports         []int                  `toml:"ports"`                                  // with network = "ports"; nil = DefaultPorts
	Hosts         []string               `toml:"hosts"`                                  // HOST, *.HOST, HOST:PORT or HOST=ADDRESS
	ReadOnlyHosts []string               `toml:"read_only_hosts"`                        // as Hosts; nil = those of the package managers that the repository has files of
	Services      []string               `toml:"services"`                               // ADDRESS:PORT on this machine's loopback
	Layout        Layout                 `toml:"layout"`
	CommitStatus  bool                   `toml:"commit_status"`
	BdWrite       bool                   `toml:"bd_write"`         // finished issues of beads are closed through bd, which may commit and push
	CloseIssues   *bool                  `toml:"close_issues"`     // nil = true
	Learn         *bool                  `toml:"learn_thresholds"` // people may be asked about other thresholds; nil = true
	TrustRepo     bool                   `toml:"trust_repo"`
	Hooks         bool                   `toml:"hooks"`
	Sign          bool                   `toml:"sign"`
	Consensus     bool                   `toml:"consensus"`     // the critic must accept a plan before anything is built
	PlanApproval  bool                   `toml:"plan_approval"` // a person must accept a plan before anything is built
	ReplanAfter   int                    `toml:"replan_after"`  // failed attempts after which a task is planned anew, once; 0 = never
	AllowMerge    bool                   `toml:"allow_merge"`
	Cloud         *Cloud                 `toml:"cloud"`          // nil = no agent on a machine of others
	TelegramTopic Topic                  `toml:"telegram_topic"` // the project's own Telegram chat or topic
	SlackChannel  Channel                `toml:"slack_channel"`  // the project's own Slack channel
	Budget        ProjectBudget          `toml:"budget"`
	Hat           map[string]HatOverride `toml:"hat"`

	doc   *document // the file that it was read from; nil for a project of flags
	index int       // of its section in doc
}

// Cloud gives a project's tasks to an agent on a machine of others (docs/spec 14).
type Cloud struct {
	Agent     string          `toml:"agent" oneof:"copilot"` // "" = copilot
	Every     ledger.Duration `toml:"every"`                 // between two steps of `up`; 0 = 10m
	State     string          `toml:"state"`                 // state file; "" = the usual one of the repository
	Ralph     string          `toml:"ralph"`                 // entry of the repository's .wreck-it/config.toml
	Remote    string          `toml:"remote"`                // git remote with the forge's address; "" = origin
	API       string          `toml:"api"`                   // of the forge; "" = by the remote's address
	TokenFile string          `toml:"token_file"`            // "" = the systemd credential github-token, else github.token
}

// DefaultEvery is the time between two steps of a cloud agent.
const DefaultEvery = ledger.Duration(10 * time.Minute)

// leastEvery bounds it: forges limit calls, and nothing happens faster.
const leastEvery = ledger.Duration(time.Minute)

// Layout limits where a project's own files may be written.
type Layout struct {
	Write []string `toml:"write"` // globs
}

// ProjectBudget is a project's budget; 0 means no limit.
type ProjectBudget struct {
	USDRun     float64 `toml:"usd_run"`
	USDTask    float64 `toml:"usd_task"`
	USDSession float64 `toml:"usd_session"`
	TokensRun  int64   `toml:"tokens_run"`
}

// HatOverride holds a project's changes to a hat; "" keeps the hat's own value.
type HatOverride struct {
	Agent  string `toml:"agent"`
	Model  string `toml:"model"` // a model's name, or strong, fast, light
	Effort string `toml:"effort"`

	Escalate *bool `toml:"escalate"` // nil keeps the hat's own value
	Fallback Words `toml:"fallback"` // empty keeps the hat's own list
}

// Verify is one verification command, written as "CMD" or as
// {run = "CMD", when = "always|code|final", timeout = "10m", parallel = true}.
type Verify struct {
	Run      string          `toml:"run"`
	When     string          `toml:"when" oneof:"always code final"`
	Timeout  ledger.Duration `toml:"timeout"`
	Parallel bool            `toml:"parallel"` // it may run beside the check of another lane
}
