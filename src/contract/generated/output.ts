import type { Json } from "../json.ts";

/**
 * What became of one step
 */
export type OutcomeResult = ("created" | "updated" | "unchanged" | "skipped" | "blocked" | "failed" | "unknown" | "invalid")
/**
 * How the rollout that a write started ended; `superseded` if a newer write of the same resource replaced it first; null when it started none or nobody waited
 */
export type RolloutResult = ("succeeded" | "failed" | "timeout" | "superseded" | "progressing" | null)
/**
 * Version of the format: the first number grows when a reader of the older format would misread the newer one
 */
export type FormatVersion = "2.2"
/**
 * Why a field differs: who moved, the manifest, live, or both
 */
export type Cause = ("manifest" | "pending" | "drift" | "conflict" | "unrecorded" | "default" | "server" | "ignored")
/**
 * Why a command ended early; each code has an exit code
 */
export type FailureCode = ("error" | "invalid" | "unauthorized" | "refused" | "stale" | "partial" | "locked" | "timeout" | "interrupted" | "terminated")
/**
 * What a check sends: only GETs, dry runs too, writes in a workspace and an ml repo, or writes for the whole tenant
 */
export type ConformLevel = ("read" | "dry-run" | "write" | "write-tenant")
/**
 * Whether something holds, as far as it was checked
 */
export type ConformResult = ("holds" | "fails" | "not-checked")
/**
 * A resource's state at the end of the last pass that looked at it: the outcome of a writing pass, or what a reporting pass would do
 */
export type ResourceState = ("created" | "updated" | "unchanged" | "skipped" | "blocked" | "failed" | "unknown" | "invalid" | "to-create" | "to-update" | "to-ensure" | "orphan")
/**
 * Whether live is as the wanted commit declares it
 */
export type SyncState = ("Synced" | "OutOfSync" | "Unknown")
/**
 * How a target stands. Held: a person's hold, a freeze or the order of targets is the only reason why it is not Ready. Retired: its pattern no longer stands for it, and its state is kept
 */
export type TargetCondition = ("Ready" | "Reconciling" | "Held" | "Stalled" | "Retired")
/**
 * What a person may ask a daemon for
 */
export type ActionName = ("reconcile" | "hold" | "release" | "adopt" | "redeploy" | "resolve")
/**
 * How far a stage has come, or a target of it
 */
export type StageState = ("Held" | "Failed" | "Halted" | "Waiting" | "Progressing" | "Unknown" | "Synced" | "Healthy")
/**
 * Where the operator's configuration has the gate; null if that is not known
 */
export type GatePlace = ({
/**
 * The file, relative to the working directory
 */
readonly file: string
/**
 * The line, from 1
 */
readonly line: number
} | null)
/**
 * What a step does; keep, block and orphan write nothing
 */
export type Action = ("create" | "update" | "keep" | "ensure" | "block" | "orphan")
/**
 * Why a step is blocked, or how it came to be kept or ensured
 */
export type Reason = ("read-only" | "dependency" | "reference-absent" | "immutable" | "version-gap" | "token-sink" | "no-files" | "model-version-write" | "create-only" | "secret-source" | "not-compared" | "refused" | "disabled" | "type-changed" | "unreadable" | "by-ledger" | "forbidden" | "guard" | "gate" | "policy" | "held")
/**
 * Who caused a step: the change that is planned, what waited before it, somebody in live, several of them, or nobody knows
 */
export type CausedBy = ("change" | "pending" | "drift" | "mixed" | "unrecorded")
/**
 * What makes a step dangerous: adopts overwrites what somebody else manages, privilege-growth gives somebody more rights, scale-to-zero may leave no replica running, exposure changes what the network can reach, secret-removed takes a secret away, reverts undoes a change that was made in live, version-immutable would change the content of a version that exists
 */
export type Risk = ("adopts" | "privilege-growth" | "scale-to-zero" | "exposure" | "secret-removed" | "reverts" | "version-immutable")

/**
 * Why a step failed; its message carries no value of the manifest
 */
export type OutcomeError = {
readonly code: string
readonly message: string
/**
 * HTTP status that the control plane answered
 */
readonly status?: number
/**
 * JSON Pointer in the manifest, where the control plane named one
 */
readonly pointer?: string
/**
 * The least role that may write the resource, and where, such as `workspace-editor on workspace dev:web`; only where the control plane forbids the write and the token is not known to have that role
 */
readonly role?: string
}
/**
 * What became of one resource
 */
export type Outcome = {
/**
 * Kind and name of the resource, such as service/c1:ws1/api; empty for an invalid manifest that does not name it
 */
readonly identity: string
/**
 * Kind of the resource, the first part of its identity; empty for an invalid manifest of which it is not known
 */
readonly kind: string
readonly result: OutcomeResult
/**
 * File of the manifest, relative to the working directory; null where no manifest declares the resource
 */
readonly file: (string | null)
/**
 * Line of the first error of an invalid manifest, from 1; null where its file cannot be read at all; left out for other results
 */
readonly line?: (number | null)
readonly rollout: RolloutResult
/**
 * The last status of a rollout that was superseded, such as ROLLOUT_STARTED; left out for others
 */
readonly rolloutStatus?: string
readonly run?: ShownRun
/**
 * Why it did not go well
 */
readonly error: (OutcomeError | null)
/**
 * How many times the write was sent
 */
readonly attempts: number
/**
 * What became of a write that an earlier run was interrupted in
 */
readonly interrupted?: ("made" | "not-made" | "unknown")
/**
 * What was written last of a resource whose manifest is invalid, and stays in force; null where nothing was; left out for other results
 */
readonly lastGood?: (RecordedWrite | null)
}
/**
 * A run of a job
 */
export type ShownRun = {
/**
 * Name of the run, such as nightly-3-1
 */
readonly name: string
/**
 * Version of the job that runs
 */
readonly version: string
/**
 * Where the run stands, in the control plane's words
 */
readonly status: string
/**
 * When it was made, in UTC; null where the control plane does not say
 */
readonly began: (string | null)
/**
 * When it ended, in UTC; null while it runs
 */
readonly ended: (string | null)
/**
 * Who started it; null where the control plane does not say
 */
readonly triggeredBy: (string | null)
/**
 * Exit code of its process; null while it runs
 */
readonly exitCode: (number | null)
/**
 * Why it failed; null if it did not
 */
readonly error: (string | null)
}
/**
 * The last write of a resource, or when it was last confirmed equal
 */
export type RecordedWrite = {
/**
 * When, in UTC
 */
readonly at: string
/**
 * The version that was written; null where the kind has none
 */
readonly version: (number | null)
}
/**
 * How many resources had each result
 */
export type ApplySummary = {
/**
 * Created
 */
readonly created: number
/**
 * Updated
 */
readonly updated: number
/**
 * Left as they were
 */
readonly unchanged: number
/**
 * Not reached, each with its reason
 */
readonly skipped: number
/**
 * Not possible
 */
readonly blocked: number
/**
 * Failed, with nothing changed
 */
readonly failed: number
/**
 * Sent, with an outcome that nobody knows
 */
readonly unknown: number
/**
 * Left out, since their manifests are invalid
 */
readonly invalid: number
/**
 * No longer declared, and still live; with a selection they are counted and not listed; left out where there are none
 */
readonly orphan?: number
}
/**
 * A resource that the source no longer declares
 */
export type OrphanEntry = {
/**
 * Kind and name of the resource, such as service/c1:ws1/api
 */
readonly identity: string
/**
 * Kind of the resource, the first part of its identity
 */
readonly kind: string
readonly orphan: Orphan
}
/**
 * What is known of a resource that the source no longer declares
 */
export type Orphan = {
/**
 * Whether the ledger has a record of it
 */
readonly recorded: boolean
/**
 * Whether live shows it; false where live cannot be read
 */
readonly isLive: boolean
/**
 * The token's roles may not show it; left out otherwise
 */
readonly notVisible?: true
/**
 * The commit that removed its manifest; left out where the history was not read or does not show it
 */
readonly removedBy?: {
/**
 * Null where the removal is not committed
 */
readonly commit: (string | null)
/**
 * Name and e-mail address of the author
 */
readonly author: (string | null)
/**
 * When, by the author's clock
 */
readonly at: (string | null)
}
}
/**
 * What apply -o json writes: what became of each resource
 */
export type ApplyReport = {
readonly format_version: FormatVersion
/**
 * Commit that the manifests are from; null where they are not exactly those of a commit
 */
readonly revision: (string | null)
/**
 * URL of the control plane
 */
readonly server: string
readonly summary: ApplySummary
/**
 * What became of each resource, in dependency order
 */
readonly outcomes: readonly Outcome[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
/**
 * Who has approved the plan that was applied, by their signatures; left out where none was needed
 */
readonly approvers?: readonly Approver[]
/**
 * The extensions that the control plane lacks; left out where it lacks none
 */
readonly notUsed?: readonly MissingExtension[]
/**
 * Resources that the source no longer declares and that still live; left out where there are none, and with a selection
 */
readonly orphans?: readonly OrphanEntry[]
readonly history?: HistoryReach
}
/**
 * Something wrong or doubtful in the input, with its place
 */
export type Diagnostic = {
/**
 * An error stops the command, a warning does not unless --strict is given
 */
readonly severity: ("error" | "warning")
/**
 * Stable name of the fault, such as unknown-field
 */
readonly code: string
/**
 * What is wrong, in one line
 */
readonly summary: string
/**
 * Why, and what to do now
 */
readonly detail: (string | null)
/**
 * Path relative to the working directory
 */
readonly file: (string | null)
/**
 * From 1
 */
readonly line: (number | null)
/**
 * From 1
 */
readonly column: (number | null)
/**
 * How many documents of the file it is about; left out for one
 */
readonly documents?: number
/**
 * The other places that it is about; left out where there are none
 */
readonly related?: readonly RelatedPlace[]
}
/**
 * Another place that a diagnostic is about
 */
export type RelatedPlace = {
/**
 * Path relative to the working directory
 */
readonly file: string
/**
 * From 1
 */
readonly line: number
/**
 * From 1
 */
readonly column: number
}
/**
 * Whose signature has approved a plan
 */
export type Approver = {
/**
 * The name beside the key
 */
readonly name: string
/**
 * The key, as ssh-keygen -l prints it
 */
readonly fingerprint: string
}
/**
 * An extension of the interface that the control plane does not have
 */
export type MissingExtension = {
/**
 * Number of the extension, such as E6
 */
readonly extension: string
/**
 * Method and path
 */
readonly operation: string
/**
 * What cannot be done without it
 */
readonly cost: string
}
/**
 * How far back the history of the repository was read for resources without a record
 */
export type HistoryReach = {
/**
 * Commits that were read
 */
readonly commits: number
/**
 * Why it ends there: at the first commit, at --history, at the limits of time and memory, or because a shallow clone has no more
 */
readonly ended: ("start" | "limit" | "cut" | "shallow")
}
/**
 * What approve -o json writes: who has signed a plan, and how many signatures it needs
 */
export type ApprovalReport = {
readonly format_version: FormatVersion
/**
 * The file of the plan
 */
readonly plan: string
/**
 * The digest of the plan, which is what is signed
 */
readonly digest: string
/**
 * The file with its signatures
 */
readonly file: string
readonly approver: Approver
/**
 * Whether the signature was added; false where the key had signed the plan before
 */
readonly added: boolean
/**
 * Everybody whose signature counts, in the order of the file
 */
readonly approvers: readonly Approver[]
/**
 * How many must have signed it; null where the plan itself asks for none
 */
readonly atLeast: (number | null)
/**
 * Why other signatures of the file do not count, and what is wrong or doubtful in the input
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * What is wrong with a chain, or with a row that belongs to none
 */
export type AuditFinding = {
/**
 * `unlinked`: a row without a chain after the first link. `unknown-key`: its key is not in the database. `forged-mark`: a checkpoint, or another mark, that this control plane did not sign. `changed-version`: the manifest of the version that the row is about is not there as it was written
 */
readonly kind: ("changed" | "removed" | "inserted" | "unlinked" | "unknown-key" | "forged-mark" | "changed-version")
/**
 * Id of the chain; null where the row has none
 */
readonly chain: (string | null)
/**
 * The first number; null where the row has none
 */
readonly from: (number | null)
/**
 * The last number, the same for one row
 */
readonly to: (number | null)
/**
 * Id of the row or mark; null where it is not there any more
 */
readonly id: (string | null)
}
/**
 * The rows of a chain after its newest checkpoint
 */
export type UncoveredRows = {
/**
 * Id of the chain
 */
readonly chain: string
/**
 * The first number
 */
readonly from: number
/**
 * The last number
 */
readonly to: number
/**
 * Number of rows
 */
readonly rows: number
/**
 * When the first of them was written
 */
readonly since: string
/**
 * Numbers between them without a row: requests that a crash ended, or rows that were removed
 */
readonly missing: number
}
/**
 * What audit verify -o json writes: whether the audit log is as it was written
 */
export type AuditVerificationReport = {
readonly format_version: FormatVersion
/**
 * Number of rows
 */
readonly rows: number
/**
 * Rows of earlier releases, which no chain has
 */
readonly earlier: number
/**
 * Number of chains: one for each time that a server or a command ran
 */
readonly chains: number
/**
 * Number of checkpoints, in the database and given
 */
readonly checkpoints: number
/**
 * What is wrong, at most 1,000
 */
readonly findings: readonly AuditFinding[]
/**
 * How many further findings there are
 */
readonly moreFindings: number
/**
 * The rows of each chain after its newest checkpoint
 */
readonly uncovered: readonly UncoveredRows[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * A row of the audit log: an effect, a read of a secret, or a request that was refused or failed; or a checkpoint
 */
export type AuditEntry = {
/**
 * Id of the row; ids grow in the order in which the rows of a server were written
 */
readonly id: string
/**
 * When it was
 */
readonly at: string
/**
 * Who it was; `seed`, `rotation` and similar names are the server itself
 */
readonly subject: string
/**
 * The token of the request: `user-token/…`, `jwt/…` or `personal-access-token/…`; absent where the server acted by itself
 */
readonly token?: string
/**
 * The person for whom the caller acted, as the caller says in `X-Holdfast-Actor`
 */
readonly actor?: string
/**
 * Who made the plan that the write belongs to, as the caller says in `X-Holdfast-Plan`; left out where the plan needed no approval
 */
readonly planner?: string
/**
 * Who has approved that plan, by the names beside their keys, as the caller says in `X-Holdfast-Plan`
 */
readonly approvers?: readonly string[]
/**
 * Name of the operation; `admin-token` for a change of the administrator's token, `several` for requests that are counted alone, `checkpoint`
 */
readonly operation: string
/**
 * Identity of the resource; of a refused request what it named, else its path
 */
readonly resource: string
/**
 * Fqn of the resource, where it has one
 */
readonly fqn?: string
/**
 * `done`: it had its effect, or a secret was shown. `refused`: a reply of 4xx. `failed`: a reply of 5xx
 */
readonly outcome: ("done" | "refused" | "failed")
/**
 * HTTP status of a request that was refused or failed
 */
readonly status?: number
/**
 * Code of that error
 */
readonly code?: string
/**
 * Whether the refused request was a dry run
 */
readonly dryRun?: boolean
/**
 * How many requests the row stands for: of one caller, from the eleventh in a second on
 */
readonly count?: number
/**
 * Whether the resource is new
 */
readonly created?: boolean
/**
 * The fields that an update changed, at most 50, their secrets masked and long values cut
 */
readonly changes?: readonly AuditChange[]
/**
 * How many further fields have changed
 */
readonly moreChanges?: number
/**
 * Address that the request came from: of the caller, or of a proxy
 */
readonly address?: string
/**
 * Id of the request, as in the server's log
 */
readonly requestId?: string
/**
 * SHA-256 of the request's `Idempotency-Key`
 */
readonly idempotencyKeyHash?: string
/**
 * The fencing token of the request
 */
readonly fencingToken?: number
/**
 * The commit that the write is of, as the caller says in `X-Holdfast-Revision`
 */
readonly commit?: string
/**
 * The pass that sent the write, as the caller says there
 */
readonly pass?: string
readonly chain?: AuditPlace
}
/**
 * A changed field, its secrets masked
 */
export type AuditChange = {
/**
 * The field
 */
readonly field: string
/**
 * Its value before; absent where it had none
 */
readonly before?: Json
/**
 * Its value now; absent where it has none
 */
readonly after?: Json
}
/**
 * Its place in the chain of its server; absent in rows of earlier releases. A checkpoint has the place up to which the chain is complete
 */
export type AuditPlace = {
/**
 * Id of the chain: one for each time that a server or command ran
 */
readonly id: string
/**
 * Number of the row in its chain
 */
readonly number: number
/**
 * Id of the key of the link
 */
readonly key: string
/**
 * HMAC over the row and the link before it
 */
readonly link: string
/**
 * Signature of a checkpoint
 */
readonly signature?: string
}
/**
 * What audit -o json writes: rows of the audit log, oldest first. With --follow each row is a line of its own
 */
export type AuditReport = {
readonly format_version: FormatVersion
/**
 * URL of the control plane
 */
readonly server: string
/**
 * The rows, oldest first
 */
readonly rows: readonly AuditEntry[]
/**
 * Whether there are older rows that are not here
 */
readonly isCut: boolean
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * One field that differs; values that could be secrets are masked
 */
export type Change = {
/**
 * JSON Pointer in the manifest as written, or, of what is removed, in live as answered; empty for the whole manifest
 */
readonly path: string
/**
 * The field for people: items of lists that have a key are named by it, as in ports[8080:TCP].host
 */
readonly label: string
/**
 * Value before; null where there is none
 */
readonly before: Json
/**
 * Value after; null where there is none
 */
readonly after: Json
readonly cause: Cause
/**
 * Unified diff of a text of several lines, or of a long one; null for other values, and where it would be too large
 */
readonly diff: (string | null)
/**
 * Only in a plan and in why: the file where the value stands, that of the manifest or of a patch; of what is removed, where that is said, or else the field that it would be in. Left out of a whole manifest, which stands where its step says
 */
readonly file?: string
/**
 * Line in that file
 */
readonly line?: number
readonly changedBy?: LastWrite
/**
 * Only in `why`, of the fields that differ: the value as it was written last; null where it had none. Left out where nothing is recorded
 */
readonly recorded?: Json
}
/**
 * Who wrote something, and when
 */
export type LastWrite = {
/**
 * Who it was, as type and short name, such as virtualaccount:ci-deployer; null where the control plane does not tell
 */
readonly subject: (string | null)
/**
 * Id of the subject; null where the control plane does not tell
 */
readonly subjectId: (string | null)
/**
 * When it was, as the control plane wrote it
 */
readonly at: (string | null)
}
/**
 * Whose token it is, and what it may do
 */
export type Access = {
readonly tenant: string
/**
 * Such as user:ada@example.com or virtualaccount:ci
 */
readonly subject: string
readonly roles: readonly AccessRole[]
/**
 * Roles that are not listed: always 0, since all are read or none
 */
readonly more_roles: number
}
/**
 * A role on a resource
 */
export type AccessRole = {
readonly role_id: string
readonly resource_type: string
readonly resource_fqn: string
}
/**
 * Versions of one kind that the registry of the control plane holds and no manifest declares
 */
export type RegistryOnly = {
/**
 * Kind of the versions, the first part of their identities
 */
readonly kind: string
/**
 * How many there are, as far as the token may see them; null where they could not be listed
 */
readonly count: (number | null)
/**
 * The first ten, with the number of each version
 */
readonly identities: readonly string[]
}
/**
 * An operation of the interface: it fails where one of its required checks does
 */
export type ConformOperation = {
/**
 * Its number in the interface
 */
readonly number: string
/**
 * Its method
 */
readonly method: ("GET" | "PUT" | "POST")
/**
 * Its path, with parameters in braces
 */
readonly path: string
readonly result: ConformResult
/**
 * Why it was not checked, or what is wrong; null where it holds
 */
readonly reason: (string | null)
}
/**
 * One property of a control plane
 */
export type ConformCheck = {
/**
 * Name of the check, such as list-order
 */
readonly check: string
/**
 * What asks for it: the interface, the semantics that Holdfast expects where the interface is silent, or an extension
 */
readonly part: ("interface" | "semantics" | "extension")
/**
 * Whether a control plane conforms only where this holds
 */
readonly required: boolean
readonly level: ConformLevel
/**
 * Numbers of the operations that it is about
 * 
 * Items: A number, such as 16 or E4
 */
readonly operations: readonly string[]
/**
 * What should be so
 */
readonly asserts: string
/**
 * What Holdfast does, or cannot show, where it is not so
 */
readonly without: string
readonly result: ConformResult
/**
 * What was found instead, or why it was not checked; null where it holds
 */
readonly reason: (string | null)
}
/**
 * What conform -o json writes: whether a control plane keeps the interface, and which of the semantics hold
 */
export type ConformReport = {
readonly format_version: FormatVersion
/**
 * URL of the control plane
 */
readonly server: string
/**
 * Whether every required check that was made holds, at least one operation was checked, and the checks did not end early; semantics that do not hold count with --strict alone
 */
readonly conforms: boolean
/**
 * Why the checks ended before all were made, such as a time limit; null where they did not
 */
readonly ended: (string | null)
/**
 * What was sent: reads always, the others where they were asked for and nothing kept them from being sent
 */
readonly levels: readonly ConformLevel[]
/**
 * Counts of checks by result
 */
readonly summary: {
/**
 * Checks that hold
 */
readonly holds: number
/**
 * Checks that do not hold
 */
readonly fails: number
/**
 * Checks that were not made, or could not be
 */
readonly notChecked: number
}
/**
 * The 20 operations of the interface, in its order
 */
readonly operations: readonly ConformOperation[]
/**
 * All checks, also those that were not made
 */
readonly checks: readonly ConformCheck[]
/**
 * What the checks may have made and what stays, since the interface has no delete
 * 
 * Items: A resource
 */
readonly left: readonly string[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * What became of a resource in a pass: a write, a difference that was found, or that it is as declared again
 */
export type ResourceEvent = {
/**
 * The resource, such as service/c1:ws1/api
 */
readonly identity: string
readonly state: ResourceState
readonly rollout: RolloutResult
/**
 * The last status of a rollout that was superseded, such as ROLLOUT_STARTED; left out for others
 */
readonly rolloutStatus?: string
/**
 * Whether it had drifted when the pass began
 */
readonly hasDrifted: boolean
/**
 * Why it is not as declared; null when it is
 */
readonly why: (string | null)
/**
 * When the pass ended, in UTC
 */
readonly at: string
/**
 * The commit that the pass compared with live; null when there is none
 */
readonly commit: (string | null)
readonly changedBy?: LastWrite
readonly changed?: WrittenChanges
}
/**
 * What a write changed, as its plan said it: values that could be secrets are masked
 */
export type WrittenChanges = {
/**
 * At most 50 fields, with at most 1,000 characters of each value; of a resource that was created, the fields of its manifest
 */
readonly fields: readonly Change[]
/**
 * The number of fields beyond these, of which nothing is kept
 */
readonly leftOut: number
/**
 * The number of values of which the beginning is kept, as a text that ends with …
 */
readonly cut: number
}
/**
 * A resource of a target, as the last pass that looked at it has left it
 */
export type ResourceEntry = {
/**
 * The resource, such as service/c1:ws1/api; for an invalid manifest that names none, its file and line
 */
readonly identity: string
/**
 * Its kind, the first part of its identity; empty where it is not known
 */
readonly kind: string
/**
 * Its state. recorded: no pass of this process has looked at it, it has a record, and nothing is known to be wrong with it
 */
readonly state: (ResourceState | "recorded")
readonly rollout: RolloutResult
/**
 * Whether it had drifted when the pass began
 */
readonly hasDrifted: boolean
/**
 * Why it is not as declared; null when it is
 */
readonly why: (string | null)
/**
 * Whether it is not as declared, its rollout failed, or live had drifted
 */
readonly needsAttention: boolean
/**
 * Since when it is not as declared, in UTC; null when it is, and where that is not known
 */
readonly since: (string | null)
}
/**
 * A command that somebody may run next
 */
export type NextCommand = {
/**
 * What it does
 */
readonly does: string
/**
 * The command, ready for a shell
 */
readonly command: string
}
/**
 * A version of a resource on the control plane, and who wrote it
 */
export type ResourceVersion = {
/**
 * Its number
 */
readonly version: number
/**
 * Who wrote it, as type and short name, such as virtualaccount:ci-deployer; null where the control plane does not say
 */
readonly subject: (string | null)
/**
 * Id of that subject; null where the control plane does not say
 */
readonly subjectId: (string | null)
/**
 * When it was written; null where the control plane does not say
 */
readonly at: (string | null)
}
/**
 * How often live was found to have drifted on one day
 */
export type DriftOfDay = {
/**
 * The day in UTC, such as 2026-11-22
 */
readonly day: string
/**
 * Resources found, each time
 */
readonly events: number
/**
 * Different resources
 */
readonly resources: number
}
/**
 * A pass that this process runs now
 */
export type PassProgress = {
/**
 * When it began, in UTC
 */
readonly startedAt: string
/**
 * What asked for it
 */
readonly cause: ("start" | "interval" | "change" | "webhook" | "signal" | "request" | "configuration" | "retry" | "window")
/**
 * What it looks at: everything, or what has changed
 */
readonly scope: ("all" | "changes")
/**
 * What it does
 */
readonly phase: ("reading" | "waiting" | "planned" | "writing")
/**
 * What it reads or waits for, in words
 */
readonly detail: (string | null)
/**
 * The commit that it has read; null before, and for content without one
 */
readonly commit: (string | null)
/**
 * How many writes it sends; null before they begin
 */
readonly writes: (number | null)
/**
 * How many of them have ended
 */
readonly written: number
/**
 * How many of them have failed
 */
readonly failed: number
}
/**
 * What a person holds
 */
export type HoldEntry = {
/**
 * A resource, the beginning of a commit's id, or a stage as stage/NAME
 */
readonly what: string
/**
 * Why, as the person gave it
 */
readonly reason: string
/**
 * When it ends: a time in UTC, or commit for the next commit that changes the resource
 */
readonly until: string
/**
 * The name of the person who held it on the dashboard; absent where a command did
 */
readonly by?: string
}
/**
 * A target in short: its status as holdfast status says it, with numbers in place of lists
 */
export type FleetTarget = {
/**
 * Its name
 */
readonly target: string
/**
 * The source that it follows; null for the local folder
 */
readonly source: (string | null)
readonly sync: SyncState
readonly condition: TargetCondition
/**
 * Why it is not Ready, in one word; null when it is
 */
readonly reason: (string | null)
/**
 * The same in a sentence
 */
readonly message: (string | null)
/**
 * The commit that it should have; null when there is none
 */
readonly wantedRevision: (string | null)
/**
 * The last commit that was applied whole; null before
 */
readonly appliedRevision: (string | null)
/**
 * Resources by what became of them, such as created and unchanged
 */
readonly counts: {
[k: string]: number
}
/**
 * Invalid manifests
 */
readonly invalid: number
/**
 * What people hold
 */
readonly held: number
/**
 * Writes with an unknown outcome
 */
readonly unknown: number
/**
 * Gates that have not passed
 */
readonly closedGates: number
/**
 * The freeze in which nothing is written now; null while there is none
 */
readonly frozen: (FreezeStatus | null)
/**
 * The first unapplied commit after the applied one; null when there is none
 */
readonly oldestUnapplied: (UnappliedCommit | null)
/**
 * The last pass; null before
 */
readonly lastPass: (PassRecord | null)
/**
 * When the daemon begins the next pass, in UTC; null without one
 */
readonly nextPassAt: (string | null)
/**
 * Whether this process holds the lease on the control plane
 */
readonly hasLease: boolean
/**
 * The pass that this process runs now; null while it runs none
 */
readonly pass: (PassProgress | null)
}
/**
 * A time in which nothing is written
 */
export type FreezeStatus = {
/**
 * When it ends, in UTC; null if no end is known
 */
readonly until: (string | null)
/**
 * Why, as the window gives it; null if it gives none
 */
readonly reason: (string | null)
}
/**
 * A commit, and since when it is unapplied
 */
export type UnappliedCommit = {
/**
 * The commit
 */
readonly commit: string
/**
 * Since when, in UTC
 */
readonly since: string
}
/**
 * One pass, or a commit that a later one replaced before its pass
 */
export type PassRecord = {
/**
 * When it began, in UTC
 */
readonly startedAt: string
/**
 * When it ended, in UTC
 */
readonly endedAt: string
/**
 * The commit that was applied, or would have been; null when there is none
 */
readonly commit: (string | null)
/**
 * How it ended; action: it is no pass, but what a person asked for
 */
readonly result: ("applied" | "incomplete" | "failed" | "refused" | "kept" | "reported" | "superseded" | "action")
readonly action?: PersonAction
/**
 * Why it did not succeed, in one word; null when it did
 */
readonly reason: (string | null)
/**
 * The same in a sentence
 */
readonly message: (string | null)
/**
 * Resources by what became of them, such as created and unchanged
 */
readonly counts: {
[k: string]: number
}
/**
 * The process that ran it, by its host and number; absent where one process runs all passes
 */
readonly machine?: string
/**
 * Who has approved the plan that was applied, by the names beside their keys; absent where it needed no approval
 */
readonly approvers?: readonly string[]
/**
 * Its id, by which the audit log of the control plane names it; absent where it has written nothing
 */
readonly pass?: string
}
/**
 * What a person asked for on the dashboard; absent for passes
 */
export type PersonAction = {
readonly name: ActionName
/**
 * The name that the person gave
 */
readonly by: string
/**
 * The key of the request, which is carried out once
 */
readonly key: string
}
/**
 * All targets of a daemon
 */
export type FleetReply = {
/**
 * When it was read, in UTC
 */
readonly at: string
/**
 * Why the latest configuration is refused; null if it is in force
 */
readonly configurationRefused: (string | null)
/**
 * Since when the state cannot be read, in UTC; null while it can be
 */
readonly stateUnreadableSince: (string | null)
/**
 * Targets by sync, without retired ones
 */
readonly sync: {
[k: string]: number
}
/**
 * Targets by condition
 */
readonly condition: {
[k: string]: number
}
/**
 * The commit that has waited longest of all targets; null when none waits
 */
readonly oldestUnapplied: (UnappliedTarget | null)
/**
 * The targets, in the order of the configuration
 */
readonly targets: readonly FleetTarget[]
/**
 * The stages, in the order in which commits reach them
 */
readonly stages: readonly StageStatus[]
}
/**
 * A commit that waits, and for which target
 */
export type UnappliedTarget = {
/**
 * The target
 */
readonly target: string
/**
 * The commit
 */
readonly commit: string
/**
 * Since when, in UTC
 */
readonly since: string
}
/**
 * How far a stage has come: its state is the most important one of its targets
 */
export type StageStatus = {
/**
 * Its name
 */
readonly name: string
/**
 * Patterns for the names of the targets before it
 */
readonly after: readonly string[]
readonly state: StageState
/**
 * Its targets
 */
readonly targets: readonly StageTargetStatus[]
}
/**
 * How far a target of a stage has come
 */
export type StageTargetStatus = {
/**
 * Its name
 */
readonly target: string
readonly state: StageState
/**
 * The commit that runs there; null if none is known
 */
readonly commit: (string | null)
/**
 * What it waits for, or what has failed; null when there is nothing to say
 */
readonly message: (string | null)
}
/**
 * One target
 */
export type TargetReply = {
/**
 * When it was read, in UTC
 */
readonly at: string
readonly status: TargetStatus
/**
 * What people hold now
 */
readonly holds: readonly HoldEntry[]
/**
 * Whether this process holds the lease on the control plane
 */
readonly hasLease: boolean
/**
 * The pass that this process runs now; null while it runs none
 */
readonly pass: (PassProgress | null)
/**
 * The stages that the target is in
 */
readonly stages: readonly StageStatus[]
}
/**
 * The status of one target
 */
export type TargetStatus = {
/**
 * Its name
 */
readonly target: string
/**
 * The source that it follows; null for the local folder
 */
readonly source: (string | null)
readonly sync: SyncState
readonly condition: TargetCondition
/**
 * Why it is not Ready, in one word; null when it is
 */
readonly reason: (string | null)
/**
 * The same in a sentence
 */
readonly message: (string | null)
/**
 * The invalid manifests
 */
readonly invalid: readonly InvalidStatus[]
/**
 * The commit that it should have; null when there is none
 */
readonly wantedRevision: (string | null)
/**
 * The last commit that was applied whole; null before
 */
readonly appliedRevision: (string | null)
/**
 * Resources by what became of them, such as created and unchanged
 */
readonly counts: {
[k: string]: number
}
/**
 * Resources whose last write may or may not have reached the control plane
 */
readonly unknown: readonly string[]
/**
 * What a person holds, in words
 */
readonly held: readonly string[]
readonly gates?: GateStatus
/**
 * The versions that the registry holds and no manifest declares, at the last pass over the whole source; left out before
 */
readonly registryOnly?: readonly RegistryOnly[]
/**
 * The freeze in which nothing is written now; null while there is none
 */
readonly frozen: (FreezeStatus | null)
/**
 * The freeze that begins next; null where none is known
 */
readonly nextFreeze: (NextFreeze | null)
/**
 * The first unapplied commit after the applied one; null when there is none
 */
readonly oldestUnapplied: (UnappliedCommit | null)
/**
 * The last pass; null before
 */
readonly lastPass: (PassRecord | null)
/**
 * When the daemon begins the next pass, in UTC; null without one
 */
readonly nextPassAt: (string | null)
}
/**
 * An invalid manifest, which passes leave out
 */
export type InvalidStatus = {
/**
 * The resource; empty if the manifest does not say what it declares
 */
readonly identity: string
/**
 * Its file, relative to the working directory
 */
readonly file: (string | null)
/**
 * Line of its first error, from 1; null if the file as a whole cannot be read
 */
readonly line: (number | null)
/**
 * Its first error
 */
readonly message: string
/**
 * What was written last of the resource, and stays in force; null if nothing was
 */
readonly lastGood: (RecordedWrite | null)
}
/**
 * What the gates of a target said last of each resource
 */
export type GateStatus = {
/**
 * Answers that are green
 */
readonly passed: number
/**
 * Answers that are red
 */
readonly failed: number
/**
 * Questions without an answer
 */
readonly unanswered: number
/**
 * The newest ten that are not green
 */
readonly closed: readonly ClosedGate[]
}
/**
 * An answer of a gate that is not green
 */
export type ClosedGate = {
/**
 * The resource
 */
readonly identity: string
/**
 * What the gate asks, such as metric accuracy at least 0.9
 */
readonly name: string
readonly place: GatePlace
/**
 * Its answer; unanswered: nothing was learned
 */
readonly verdict: ("fail" | "unanswered")
/**
 * The value of the metric, or the score that a service answered; null without one
 */
readonly score: (number | null)
/**
 * One line for people
 */
readonly summary: string
/**
 * When it was asked, in UTC
 */
readonly at: string
}
/**
 * The freeze that begins next
 */
export type NextFreeze = {
/**
 * When it begins, in UTC
 */
readonly from: string
/**
 * When it ends, in UTC; null if no end is known
 */
readonly until: (string | null)
/**
 * Why, as the window gives it; null if it gives none
 */
readonly reason: (string | null)
}
/**
 * A part of the resources of a target
 */
export type ResourcesReply = {
/**
 * The target
 */
readonly target: string
/**
 * How many resources it has
 */
readonly total: number
/**
 * How many of them match the filters; offset and limit choose among these
 */
readonly matching: number
/**
 * How many matching ones come before the first entry
 */
readonly offset: number
/**
 * All resources by state
 */
readonly states: {
[k: string]: number
}
/**
 * All resources by kind
 */
readonly kinds: {
[k: string]: number
}
/**
 * How many of all resources need attention
 */
readonly needsAttention: number
/**
 * The entries
 */
readonly resources: readonly ResourceEntry[]
}
/**
 * Resources of a target, and which of them refers to which
 */
export type ResourceGraphReply = {
/**
 * The target
 */
readonly target: string
readonly references: ReferencesRead
/**
 * How many resources the target has
 */
readonly total: number
/**
 * How many of them match the filters, within the distance where one is asked for
 */
readonly matching: number
/**
 * All resources by state
 */
readonly states: {
[k: string]: number
}
/**
 * All resources by kind
 */
readonly kinds: {
[k: string]: number
}
/**
 * How many of all resources need attention
 */
readonly needsAttention: number
/**
 * How many matching resources are not among the nodes, since there are too many
 */
readonly leftOut: number
/**
 * How many references between the nodes are not among the edges, since there are too many
 */
readonly referencesLeftOut: number
/**
 * Matching resources, those that need attention first, and what connects them
 */
readonly nodes: readonly ResourceGraphNode[]
/**
 * The references between the nodes
 */
readonly edges: readonly ResourceGraphEdge[]
}
/**
 * Where references are known from
 */
export type ReferencesRead = {
/**
 * Which manifests have them: those that the last pass has read, or those that were read for this reply; null where none could be read
 */
readonly manifests: ("last-pass" | "now" | null)
/**
 * The commit that has these manifests; null where none has them, and where none could be read
 */
readonly commit: (string | null)
/**
 * Why none could be read; null where they were
 */
readonly why: (string | null)
}
/**
 * A resource, as far as a graph shows it
 */
export type ResourceGraphNode = {
/**
 * The resource; the place of an invalid manifest that names none
 */
readonly identity: string
/**
 * Its kind; empty where it is not known
 */
readonly kind: string
/**
 * Its state, as in the list of resources; null where it is not in that list
 */
readonly state: (ResourceState | "recorded" | null)
readonly rollout: RolloutResult
/**
 * Whether it had drifted when the pass began
 */
readonly hasDrifted: boolean
/**
 * Whether it is not as declared, its rollout failed, or live had drifted
 */
readonly needsAttention: boolean
/**
 * Whether a manifest declares it; null where that is not known
 */
readonly isDeclared: (boolean | null)
/**
 * Whether it matches the filters, and is not only there to connect others
 */
readonly isMatch: boolean
/**
 * How many references from it and to it are not among the edges
 */
readonly hidden: number
}
/**
 * That one resource refers to another
 */
export type ResourceGraphEdge = {
/**
 * The one that refers
 */
readonly from: string
/**
 * The one that is referred to
 */
readonly to: string
}
/**
 * What the state and the last pass know of one resource
 */
export type ResourceStateReply = {
/**
 * The target
 */
readonly target: string
/**
 * The resource
 */
readonly identity: string
/**
 * Its entry in the list of resources; null where it is in none
 */
readonly resource: (ResourceEntry | null)
/**
 * Why it is held; null where it is not
 */
readonly hold: (HoldEntry | null)
/**
 * What somebody may do next, the most useful first
 */
readonly commands: readonly NextCommand[]
}
/**
 * Where the values of a resource come from
 */
export type WhyReply = {
/**
 * The target
 */
readonly target: string
/**
 * When live was read, in UTC
 */
readonly at: string
/**
 * Which manifests are explained: those that the last pass has read, or those that were read for this reply
 */
readonly manifests: ("last-pass" | "now")
readonly report: WhyReport
/**
 * The newest versions, newest first, with who wrote them; null where they cannot be read, and where one field was asked for
 */
readonly versions: (readonly ResourceVersion[] | null)
}
/**
 * What why -o json writes: who wanted a value, who wrote it, and who has changed it in live since
 */
export type WhyReport = {
readonly format_version: FormatVersion
/**
 * URL of the control plane
 */
readonly server: string
readonly identity: string
/**
 * Of a whole resource: the fields that differ, from live to the manifest; left out where one field was asked for
 */
readonly changes?: readonly Change[]
/**
 * Of a whole resource: the fields that somebody else wrote since, and that are as the manifest wants them, from what was written to live; left out where one field was asked for
 */
readonly changedSince?: readonly Change[]
/**
 * JSON Pointer into the manifest; empty for all of it
 */
readonly pointer: string
readonly wanted: WantedValue
/**
 * What was written last; null where nothing is recorded
 */
readonly written: (WrittenValue | null)
/**
 * What is live; null where that is absent or cannot be read
 */
readonly live: (LiveValue | null)
/**
 * Of a whole resource with gates: what each said last of exactly this content; left out where there are none
 */
readonly gates?: readonly WhyGate[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * The value in the manifest, and who wanted it
 */
export type WantedValue = {
/**
 * As the manifest says it, secrets masked; null where it does not
 */
readonly value: Json
readonly file: string
readonly line: number
/**
 * The commit that wrote the line last; null where the line is not committed, or git cannot tell
 */
readonly commit: (string | null)
/**
 * Who made that commit
 */
readonly author: (string | null)
/**
 * When that commit was made
 */
readonly at: (string | null)
/**
 * Whether no older commit is here, so that the line may be from an earlier one
 */
readonly isOldest: boolean
}
/**
 * The value as it was written last, and by what pass
 */
export type WrittenValue = {
/**
 * As it was sent, secrets masked; null where it was not
 */
readonly value: Json
/**
 * When it was written, or last seen equal
 */
readonly at: string
/**
 * The version that the write made; null where the kind has none
 */
readonly version: (number | null)
/**
 * The commit that the pass carried out; null where the history does not tell, or the content was uncommitted
 */
readonly commit: (string | null)
/**
 * Whether that pass carried out content that was not committed
 */
readonly isUncommitted: boolean
}
/**
 * The value in live, and who made it
 */
export type LiveValue = {
/**
 * As it is live, secrets masked; null where it is not
 */
readonly value: Json
readonly version: (number | null)
/**
 * Who wrote the newest version, as type and short name, such as virtualaccount:ci-deployer; null where the control plane does not say
 */
readonly subject: (string | null)
/**
 * Id of that subject; null where the control plane does not say
 */
readonly subjectId: (string | null)
/**
 * When it was written; null where the control plane does not say
 */
readonly at: (string | null)
/**
 * Why live differs from the manifest; null where it does not
 */
readonly cause: (Cause | null)
/**
 * Whether it was changed since we wrote
 */
readonly isSince: boolean
}
/**
 * What a gate said last of this content, by the receipts in the state folder
 */
export type WhyGate = {
/**
 * What it asks
 */
readonly name: string
readonly place: GatePlace
/**
 * Its answer; null where it was not asked about this content
 */
readonly verdict: ("pass" | "fail" | "unanswered" | null)
/**
 * The value or score that it gave; null where it gave none
 */
readonly score: (number | null)
/**
 * One line for people; null where it was not asked
 */
readonly summary: (string | null)
/**
 * When it was asked; null where it was not
 */
readonly at: (string | null)
}
/**
 * Records of passes, newest first
 */
export type PassesReply = {
/**
 * The target
 */
readonly target: string
/**
 * The entries
 */
readonly passes: readonly PassRecord[]
/**
 * The cursor for the next page, as the parameter after; null on the last page
 */
readonly next: (string | null)
}
/**
 * What became of resources, newest first
 */
export type EventsReply = {
/**
 * The target
 */
readonly target: string
/**
 * The entries
 */
readonly events: readonly ResourceEvent[]
/**
 * The cursor for the next page, as the parameter after; null on the last page
 */
readonly next: (string | null)
}
/**
 * A pass found that live had drifted
 */
export type DriftSpan = {
readonly event: ResourceEvent
/**
 * When the resource was as declared again, or something else became of it, in UTC; null while it lasts
 */
readonly endedAt: (string | null)
}
/**
 * What had drifted, newest first
 */
export type DriftsReply = {
/**
 * The target
 */
readonly target: string
/**
 * The entries
 */
readonly drifts: readonly DriftSpan[]
/**
 * The cursor for the next page, as the parameter after; null on the last page
 */
readonly next: (string | null)
}
/**
 * A commit of the source
 */
export type CommitSummary = {
/**
 * Its id
 */
readonly commit: string
/**
 * Who made it, with the address
 */
readonly author: string
/**
 * When it was made, in UTC
 */
readonly at: string
/**
 * The first line of its message
 */
readonly subject: string
}
/**
 * Commits of the source of a target, as far as its repository has them here
 */
export type CommitsReply = {
/**
 * The target
 */
readonly target: string
/**
 * Those that are known
 */
readonly commits: readonly CommitSummary[]
}
/**
 * The days on which live had drifted, newest first
 */
export type DriftDaysReply = {
/**
 * The target
 */
readonly target: string
/**
 * The entries
 */
readonly days: readonly DriftOfDay[]
/**
 * The cursor for the next page, as the parameter after; null on the last page
 */
readonly next: (string | null)
}
/**
 * What the asker may do
 */
export type SessionReply = {
/**
 * Whether the asker may act, and not only read
 */
readonly mayAct: boolean
/**
 * Why not; null when they may
 */
readonly why: (string | null)
/**
 * What every action has in the header X-Holdfast-Page; null where the asker may not act
 */
readonly pageToken: (string | null)
/**
 * The user name that came with the token, or of who is signed in; null when none did
 */
readonly name: (string | null)
/**
 * Whether the asker has signed in at an issuer: their name is then that of all that they ask for, and they can sign out
 */
readonly signedIn: boolean
}
/**
 * The body that asks for a pass
 */
export type ReconcileRequest = {
/**
 * The name of the person who asks
 */
readonly by: string
}
/**
 * The body that holds a resource or a commit
 */
export type HoldRequest = {
/**
 * The name of the person who asks
 */
readonly by: string
/**
 * A resource, or the beginning of a commit's id
 */
readonly what: string
/**
 * Why
 */
readonly reason: string
/**
 * A time, a time from now such as 4h or 2d, or commit
 */
readonly until: string
}
/**
 * The body that ends a hold, or releases a commit
 */
export type ReleaseRequest = {
/**
 * The name of the person who asks
 */
readonly by: string
/**
 * What is held, or the beginning of a commit's id
 */
readonly what: string
}
/**
 * The body that records what is live
 */
export type AdoptRequest = {
/**
 * The name of the person who asks
 */
readonly by: string
/**
 * Different resources, such as service/c1:ws1/api
 * 
 * @minItems 1
 * @maxItems 100
 * 
 * Items: A resource, such as service/c1:ws1/api
 */
readonly identities: readonly string[]
}
/**
 * The body that deploys again
 */
export type RedeployRequest = {
/**
 * The name of the person who asks
 */
readonly by: string
/**
 * Different resources, such as service/c1:ws1/api
 * 
 * @minItems 1
 * @maxItems 100
 * 
 * Items: A resource, such as service/c1:ws1/api
 */
readonly identities: readonly string[]
/**
 * Whether also what has not failed is deployed
 */
readonly force?: boolean
}
/**
 * The body that closes writes whose outcome is unknown
 */
export type ResolveRequest = {
/**
 * The name of the person who asks
 */
readonly by: string
/**
 * Different resources, such as service/c1:ws1/api
 * 
 * @minItems 1
 * @maxItems 100
 * 
 * Items: A resource, such as service/c1:ws1/api
 */
readonly identities: readonly string[]
/**
 * What became of them
 */
readonly as: ("applied" | "refused")
}
/**
 * What became of an action
 */
export type ActionReply = {
/**
 * The target
 */
readonly target: string
/**
 * What the history of the target has of it; null while it is being carried out: a request with the same key waits for its end again
 */
readonly record: (PassRecord | null)
/**
 * Whether a request with the same key was carried out before, and nothing was done again
 */
readonly isRepeated: boolean
}
/**
 * The stream begins, or goes on after the last event that the reader had
 */
export type StreamOpened = {
/**
 * What happened
 */
readonly event: "opened"
/**
 * What the page was built from: a page of another build loads itself again
 */
readonly build: string
}
/**
 * Events were dropped for this reader, or other targets are shown: it must read everything again
 */
export type StreamSnapshotNeeded = {
/**
 * What happened
 */
readonly event: "snapshot-needed"
}
/**
 * A pass has begun, goes on or has ended
 */
export type StreamPass = {
/**
 * What happened
 */
readonly event: ("pass-began" | "progress" | "pass-ended")
/**
 * The target
 */
readonly target: string
/**
 * The pass; null once it has ended
 */
readonly pass: (PassProgress | null)
}
/**
 * What became of a resource in the pass in progress, or of its rollout after it
 */
export type StreamOutcome = {
/**
 * What happened
 */
readonly event: "outcome"
/**
 * The target
 */
readonly target: string
/**
 * The resource, such as service/c1:ws1/api
 */
readonly identity: string
/**
 * Its state; null where only its rollout has ended
 */
readonly state: (ResourceState | null)
readonly rollout: RolloutResult
/**
 * Why it is not as declared; null when it is
 */
readonly why: (string | null)
}
/**
 * The status of a target has changed
 */
export type StreamStatus = {
/**
 * What happened
 */
readonly event: "status"
/**
 * The target
 */
readonly target: string
readonly status: FleetTarget
}
/**
 * A changed configuration is refused, or in force
 */
export type StreamConfiguration = {
/**
 * What happened
 */
readonly event: "configuration"
/**
 * Why it is refused; null if it is in force
 */
readonly refused: (string | null)
}
/**
 * What became of one resource in live
 */
export type DriftEntry = {
/**
 * Kind and name of the resource, such as service/c1:ws1/api
 */
readonly identity: string
/**
 * Kind of the resource, the first part of its identity
 */
readonly kind: string
/**
 * File of the manifest, relative to the working directory; null where no manifest declares the resource
 */
readonly file: (string | null)
/**
 * First line of the manifest, from 1
 */
readonly line: (number | null)
/**
 * What live shows of it
 */
readonly state: ("drifted" | "unrecorded" | "absent" | "unknown" | "orphan")
/**
 * The fields that moved: before is what was recorded or stands in for it, after is live
 */
readonly changes: readonly Change[]
readonly changedBy?: LastWrite
readonly orphan?: Orphan
}
/**
 * How the manifests have to change to say what was changed in live, and what became of the pull request
 */
export type DriftProposalReport = {
/**
 * The commit that the changes are based on; null where the source is no commit
 */
readonly revision: (string | null)
/**
 * The resources whose manifests change
 */
readonly proposed: readonly ProposedDrift[]
/**
 * What is not proposed, and why
 */
readonly refused: readonly NotProposed[]
/**
 * The files that change
 */
readonly files: readonly {
/**
 * Path of the file in the repository
 */
readonly path: string
/**
 * Unified diff of the file; null where the file contains secrets in plain text
 */
readonly diff: (string | null)
}[]
/**
 * What became of the pull request; null after --dry-run, and when nothing is proposed and none is closed
 */
readonly pullRequest: (ProposedChange | null)
}
/**
 * A resource whose manifest is to say what is live
 */
export type ProposedDrift = {
readonly identity: string
readonly kind: string
/**
 * The file that changes, relative to the working directory
 */
readonly file: string
/**
 * The fields that change: before is what git says, after is live
 */
readonly changes: readonly Change[]
readonly changedBy?: LastWrite
}
/**
 * A resource, or some of its fields, that is not proposed, and why
 */
export type NotProposed = {
readonly identity: string
readonly kind: string
readonly why: ("absent" | "unreadable" | "not-recorded" | "not-applied" | "shared" | "literal-secret" | "not-declarable" | "not-editable")
/**
 * The reason in words; never a value
 */
readonly detail: string
}
/**
 * What became of a pull request
 */
export type ProposedChange = {
/**
 * closed: one with this content was closed, and is not opened again; withdrawn: the open one was closed, because nothing is left
 */
readonly result: ("created" | "updated" | "unchanged" | "closed" | "withdrawn")
readonly number: number
readonly url: (string | null)
readonly branch: string
}
/**
 * How many resources of each state
 */
export type DriftSummary = {
/**
 * Changed in live
 */
readonly drifted: number
/**
 * Different from what is declared, and nobody knows who moved
 */
readonly unrecorded: number
/**
 * Gone from live
 */
readonly absent: number
/**
 * As recorded
 */
readonly unchanged: number
/**
 * Not readable
 */
readonly unknown: number
/**
 * No longer declared, and still live; with a selection they are counted and not listed
 */
readonly orphan: number
/**
 * Manifests that are left out, since they are invalid
 */
readonly invalid: number
/**
 * Resources that the token may not see, so that the report is not complete; left out where there are none
 */
readonly notVisible?: number
}
/**
 * What drift -o json writes: what moved in live behind git's back
 */
export type DriftReport = {
readonly format_version: FormatVersion
/**
 * Name of the target; only where the document is one of several
 */
readonly target?: string
/**
 * URL of the control plane
 */
readonly server: string
/**
 * False when something readable could not be read, or is not visible to the token
 */
readonly complete: boolean
readonly summary: DriftSummary
/**
 * Every resource that moved or is not known
 */
readonly drift: readonly DriftEntry[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
readonly access?: Access
/**
 * The extensions that the control plane lacks; left out where it lacks none
 */
readonly notUsed?: readonly MissingExtension[]
readonly proposal?: DriftProposalReport
readonly history?: HistoryReach
/**
 * What the registry holds and no manifest declares, by kind; left out where there is none, and with a selection
 */
readonly registryOnly?: readonly RegistryOnly[]
}
/**
 * A field with the fields below it
 */
export type ExplainedPart = {
readonly field: FieldFacts
/**
 * The fields of an object, or of the items of a list
 */
readonly fields: readonly FieldFacts[]
/**
 * The forms that the value may have, by its type
 */
readonly forms: readonly FieldForm[]
}
/**
 * What the schema says of one field
 */
export type FieldFacts = {
/**
 * Path of the field, below the field that is explained for its parts
 */
readonly path: string
/**
 * Type of the value, in words
 */
readonly type: string
/**
 * Whether it must be there
 */
readonly required: boolean
/**
 * What it is for
 */
readonly description: string
/**
 * Unit of a number
 */
readonly unit: (string | null)
/**
 * What stands for it where it is absent; null where nothing does
 */
readonly default: Json
/**
 * Limits of its value, in words
 */
readonly limits: (string | null)
/**
 * Form of its text, in words
 */
readonly form: (string | null)
/**
 * All values that it may have; null where it is no enumeration
 */
readonly values: (readonly string[] | null)
/**
 * Values that are known, besides which others are allowed
 */
readonly knownValues: (readonly string[] | null)
/**
 * Whether no output shows its value
 */
readonly sensitive: boolean
/**
 * Values that it may have
 * 
 * Items: A value
 */
readonly examples: readonly Json[]
}
/**
 * One form of a value
 */
export type FieldForm = {
/**
 * Value of the field type
 */
readonly type: string
/**
 * What the form is
 */
readonly description: string
/**
 * Its own fields
 */
readonly fields: readonly FieldFacts[]
}
/**
 * What explain -o json writes: a kind, or a field of it
 */
export type ExplainReport = {
readonly format_version: FormatVersion
/**
 * Kind of manifest, or config for holdfast.yaml
 */
readonly kind: string
/**
 * Path of the field as it was given; empty for the kind itself
 */
readonly path: string
/**
 * The field, once for each meaning that its path has in the forms of the fields above it
 */
readonly fields: readonly ExplainedPart[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * What a command writes with -o json when it ends without its result
 */
export type Failure = {
readonly format_version: FormatVersion
/**
 * Name of the target; only where the document is one of several
 */
readonly target?: string
readonly error: FailureError
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * Why the command ended
 */
export type FailureError = {
readonly code: FailureCode
/**
 * What happened
 */
readonly message: string
/**
 * What to do now
 */
readonly hint: (string | null)
}
/**
 * What fmt -o json writes: the files whose fields were not in canonical order
 */
export type FormatReport = {
readonly format_version: FormatVersion
/**
 * Counts of what was read
 */
readonly summary: {
/**
 * Manifests that were read without an error
 */
readonly manifests: number
/**
 * Files that were looked at
 */
readonly files: number
/**
 * Files that were changed, or with --check would be
 */
readonly changed: number
}
/**
 * The files that were changed, or with --check would be, relative to the working directory
 */
readonly changed: readonly string[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * What graph -o json writes: the manifests of a source and their references
 */
export type GraphReport = {
readonly format_version: FormatVersion
/**
 * The resources, each after everything that it refers to; at the end those that are not declared here
 */
readonly nodes: readonly {
/**
 * Identity of the resource
 */
readonly identity: string
/**
 * Its kind
 */
readonly kind: string
/**
 * Whether the source declares it
 */
readonly declared: boolean
/**
 * File that declares it, relative to the working directory
 */
readonly file: (string | null)
/**
 * Line of its manifest
 */
readonly line: (number | null)
/**
 * Depth in the graph, from 0; null if it is not declared here
 */
readonly wave: (number | null)
}[]
/**
 * The references between them
 */
readonly edges: readonly {
/**
 * Identity of the resource that refers
 */
readonly from: string
/**
 * Identity of the resource that it refers to
 */
readonly to: string
}[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * A resource, and what became of its manifest
 */
export type ImportedResource = {
readonly identity: string
readonly kind: string
/**
 * The file of its manifest, relative to the working directory; null where it has none
 */
readonly file: (string | null)
/**
 * written: a new file; updated: the file was changed; unchanged: the file says what is live; differs: it is declared otherwise and was left as it is; skipped: no manifest was made of it
 */
readonly result: ("written" | "updated" | "unchanged" | "differs" | "skipped")
/**
 * Why it was skipped
 */
readonly why?: ("literal-secret" | "disabled" | "not-declarable" | "invalid" | "absent" | "unreadable" | "not-editable")
/**
 * The reason in words; never a value
 */
readonly detail?: string
/**
 * What was changed in the file; only after --update
 */
readonly changes?: readonly Change[]
}
/**
 * A kind of which there may be more than was read, and why
 */
export type UnreadKind = {
readonly kind: string
readonly why: string
/**
 * Whether a read failed that might succeed when it is repeated
 */
readonly isFailure: boolean
}
/**
 * What import -o json writes: the manifests that were made of what is live, or changed to it; nothing is written to the control plane
 */
export type ImportReport = {
readonly format_version: FormatVersion
/**
 * URL of the control plane
 */
readonly server: string
/**
 * The number of resources by result
 */
readonly summary: {
readonly written: number
readonly updated: number
readonly unchanged: number
readonly differs: number
readonly skipped: number
}
/**
 * The resources that were looked at
 */
readonly resources: readonly ImportedResource[]
/**
 * The kinds of which there may be more than was read
 */
readonly unread: readonly UnreadKind[]
/**
 * What may exist and is not visible to the token; null where it sees everything
 */
readonly unseen: (string | null)
/**
 * What manifests refer to and nothing declares, though others of the kind are declared: list these under `external`
 */
readonly undeclared: readonly string[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * What orphans -o json writes: what the source no longer declares
 */
export type OrphansReport = {
readonly format_version: FormatVersion
/**
 * URL of the control plane
 */
readonly server: string
/**
 * Name of the target; null without one
 */
readonly target: (string | null)
/**
 * Whether everything could be read
 */
readonly complete: boolean
/**
 * The orphans, in the order in which they can be removed
 */
readonly orphans: readonly {
/**
 * Identity of the resource
 */
readonly identity: string
/**
 * Its kind
 */
readonly kind: string
readonly orphan: Orphan
}[]
/**
 * The command that drops the records of those that are recorded; null if none is
 */
readonly forget: (string | null)
readonly history?: HistoryReach
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * The signatures without which apply refuses the plan, as the configuration demanded when it was made; left out where it demanded none
 */
export type PlanApprovals = {
/**
 * How many keys must have signed
 */
readonly atLeast: number
/**
 * The public keys that may sign, each with its name
 */
readonly keys: readonly string[]
/**
 * Who has made the plan, as the control plane named the subject; left out where it did not
 */
readonly plannedBy?: string
}
/**
 * How many steps of each action; drift counts on its own, since a drifted step has an action too
 */
export type PlanSummary = {
/**
 * Steps that create
 */
readonly create: number
/**
 * Steps that update
 */
readonly update: number
/**
 * Resources that stay as they are
 */
readonly keep: number
/**
 * Steps that write what cannot be read, so that it is there
 */
readonly ensure: number
/**
 * Steps that cannot be done, each with its reason
 */
readonly block: number
/**
 * Resources that the source no longer declares and that still live; with a selection they are counted and have no steps
 */
readonly orphan: number
/**
 * Steps with any drift
 */
readonly drift: number
/**
 * Steps with any difference of which nobody knows the cause
 */
readonly unrecorded: number
/**
 * Manifests that are left out, since they are invalid
 */
readonly invalid: number
/**
 * Steps, and resources missing from the source, for which guards refuse an apply without a person
 */
readonly refused: number
/**
 * Steps that no dry run has checked; left out where there are none
 */
readonly notChecked?: number
/**
 * Resources that the token may not see, so that the plan is not complete; left out where there are none
 */
readonly notVisible?: number
}
/**
 * Why guards refuse the step to an apply without a person, and what allows it
 */
export type StepGuard = {
/**
 * The flags that allow it; empty where only a person at a terminal or the configuration does, and where a policy denies it
 */
readonly flags: readonly string[]
/**
 * What the step would do; empty for a resource that is missing from the source
 */
readonly dangers: readonly Danger[]
/**
 * The names of the policies that refuse it; left out where none does
 */
readonly policies?: readonly string[]
/**
 * Set where a policy denies it, so that neither a flag nor a person allows it
 */
readonly isDenied?: true
}
/**
 * One thing that a guard refuses
 */
export type Danger = {
readonly risk: Risk
/**
 * JSON Pointer of the field in the manifest that asks for it; null for the whole manifest
 */
readonly path: (string | null)
/**
 * What it is in words: who would get which role, which fields would be lost
 */
readonly text: string
}
/**
 * What a policy finds
 */
export type PolicyFinding = {
/**
 * Name of the policy
 */
readonly name: string
/**
 * deny refuses it, confirm refuses it until a person allows it, warn only says so
 */
readonly severity: ("deny" | "confirm" | "warn")
/**
 * The message of the policy, or why its expression has no answer: then the severity is deny
 */
readonly message: string
/**
 * File of the policy
 */
readonly file: string
/**
 * Line of its expression, or of the error in it
 */
readonly line: number
/**
 * Column of the same
 */
readonly column: number
}
/**
 * Steps that a token may not write
 */
export type NotWritable = {
/**
 * The least role that may write them, and where, such as `workspace-editor on workspace dev:web`
 */
readonly role: string
/**
 * The resources of these steps
 */
readonly identities: readonly string[]
}
/**
 * How a plan changes what containers reserve: requests of processor time, memory and disk space at the largest number of replicas, accelerators, home directories and volumes. Runs of jobs are not counted, nor is an update of what live is not known of
 */
export type HardwareChange = {
readonly total: HardwareDifference
/**
 * In each workspace in which it changes
 */
readonly workspaces: readonly WorkspaceHardware[]
}
/**
 * How much more is reserved afterwards; negative where it is less
 */
export type HardwareDifference = {
/**
 * Containers
 */
readonly replicas: number
/**
 * Cores
 */
readonly cpu: number
/**
 * MB of memory
 */
readonly memory: number
/**
 * MB of disk space
 */
readonly storage: number
/**
 * Accelerators by their names, in the order of the names
 */
readonly devices: readonly DeviceCount[]
}
/**
 * How many accelerators of a name
 */
export type DeviceCount = {
/**
 * As the manifest names it, such as `A100_80GB`
 */
readonly name: string
/**
 * How many more
 */
readonly count: number
}
export type WorkspaceHardware = {
/**
 * Its fqn
 */
readonly workspace: string
readonly difference: HardwareDifference
}
/**
 * Stands for the value of a secret within one run: equal values have the same one, and each run has others
 */
export type SecretFingerprint = {
/**
 * The group, such as secret-group/search
 */
readonly identity: string
/**
 * The secret in its group
 */
readonly key: string
/**
 * Eight characters
 */
readonly fingerprint: string
}
/**
 * The active deployments that use a secret whose value a step changes; they have the new value once they are deployed again
 */
export type SecretUse = {
/**
 * The group, such as secret-group/search
 */
readonly identity: string
/**
 * The secret in its group
 */
readonly key: string
/**
 * How many deployments use it
 */
readonly total: number
/**
 * At most 100 of them
 */
readonly deployments: readonly {
/**
 * The deployment, such as c1:ws1:api:3
 */
readonly fqn: string
/**
 * Whether it was made before the newest version of the secret, and so runs with an older one already
 */
readonly older: boolean
}[]
}
/**
 * A write that an earlier run left open in the journal
 */
export type InterruptedWrite = {
/**
 * Kind and name of the resource, such as service/c1:ws1/api
 */
readonly identity: string
/**
 * What live shows now: the write was made, was not made, or that cannot be told
 */
readonly found: ("made" | "not-made" | "unknown")
/**
 * record: apply records it; send: the step of the resource sends it again under its key, or replaces it; close: it is not sent again, since its manifest has left the source or its step writes nothing; keep: it stays open, since it is not selected; report: apply reports its outcome as unknown, and does not exit 0
 */
readonly next: ("record" | "send" | "close" | "keep" | "report")
/**
 * What becomes of its one-time token: delivered, or lost, with which apply fails; null where there is none
 */
readonly token: ("delivered" | "lost" | null)
/**
 * Until when it may still arrive, for which apply waits; null where it was found, or cannot arrive any more
 */
readonly arrivesUntil: (string | null)
}
/**
 * Why no dry run has checked a step
 */
export type NotChecked = {
/**
 * depends-on: what it refers to is only planned; unproven: the server has not proven yet that a dry run changes nothing; needs-write: the token may not write it; unsupported: the kind has no dry run; unanswered: the dry run was not answered; skipped: --no-dry-run
 */
readonly reason: ("depends-on" | "unproven" | "needs-write" | "unsupported" | "unanswered" | "skipped")
/**
 * What is only planned, by identity; with depends-on
 */
readonly on?: readonly string[]
}
/**
 * What a gate says of exactly the content that a step would write
 */
export type GateStepAnswer = {
/**
 * What the gate asks, such as metric accuracy at least 0.9
 */
readonly name: string
/**
 * Digest of the definition of the gate
 */
readonly gate: string
readonly place: GatePlace
/**
 * Only pass lets the step through; unanswered: nothing was learned
 */
readonly verdict: ("pass" | "fail" | "unanswered")
/**
 * The value of the metric, or the score that a service answered; null without one
 */
readonly score: (number | null)
/**
 * One line for people
 */
readonly summary: string
}
/**
 * What the plan rests on, by which apply --plan tells what has moved since
 */
export type PlanSignature = {
/**
 * Names the key of the digests of secrets
 */
readonly key: string
/**
 * Keyed digest of the whole plan: it shows with the same key whether the file was edited
 */
readonly signature: string
/**
 * Digest of the configuration and of what was selected
 */
readonly configuration: string
/**
 * Digest of each manifest with its secret values masked
 */
readonly source: {
[k: string]: string
}
/**
 * Keyed digest of each manifest that has secret values
 */
readonly secrets: {
[k: string]: string
}
/**
 * What changes whenever the resource does; null where live does not tell
 */
readonly live: {
[k: string]: string | null
}
/**
 * Keyed digests of the documents that have no step, by shares of them
 */
readonly kept?: readonly string[]
/**
 * Digest of everything that the plan promises and shows
 */
readonly content: string
}
/**
 * What would be done to one resource, and why
 */
export type Step = {
readonly action: Action
/**
 * Kind of the resource, the first part of its identity
 */
readonly kind: string
/**
 * Kind and name of the resource, such as service/c1:ws1/api
 */
readonly identity: string
/**
 * File of the manifest, relative to the working directory; null where no manifest declares the resource
 */
readonly file: (string | null)
/**
 * First line of the manifest, from 1
 */
readonly line: (number | null)
/**
 * Depth in the graph of references, from 0
 */
readonly wave: number
/**
 * The fields that differ; of a create one change with the whole manifest, whose path is empty
 */
readonly changes: readonly Change[]
/**
 * RFC 6902, from live as the control plane answered it to what the write makes of it, masked like changes
 */
readonly patch: readonly Json[]
/**
 * What blocks the step, or how it came to be kept or ensured
 */
readonly reason: (Reason | null)
/**
 * What makes it dangerous
 */
readonly risks: readonly Risk[]
/**
 * Who caused it; null where nothing is done, or nobody moved
 */
readonly causedBy: (CausedBy | null)
readonly guard?: StepGuard
readonly notChecked?: NotChecked
/**
 * What the gates of the target say of the content of the step; left out where it has none, and for what is not written
 */
readonly gates?: readonly GateStepAnswer[]
/**
 * What policies find in the step; left out where that is nothing, and for what is not written
 */
readonly policies?: readonly PolicyFinding[]
readonly changedBy?: LastWrite
readonly orphan?: Orphan
}
/**
 * What plan -o json and plan --out write: what apply would do, and why
 */
export type Plan = {
readonly format_version: FormatVersion
/**
 * Name of the target; only where the document is one of several
 */
readonly target?: string
/**
 * Commit that the manifests are from; null where they are not exactly those of a commit
 */
readonly revision: (string | null)
/**
 * URL of the control plane
 */
readonly server: string
/**
 * False when something readable could not be read, or is not visible to the token; such a plan cannot be applied
 */
readonly complete: boolean
readonly summary: PlanSummary
/**
 * What is done, in dependency order; what is kept is counted, and listed with --show unchanged
 */
readonly steps: readonly Step[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
/**
 * What the operator allows by flag: risks, shrink for a source or a control plane that lost much, and policies as `policy:NAME@DIGEST`; left out where that is none
 */
readonly allows?: readonly (Risk | "shrink" | string)[]
readonly approvals?: PlanApprovals
/**
 * What policies over the whole plan find; left out where that is nothing
 */
readonly policies?: readonly PolicyFinding[]
/**
 * Digest of what would be done, by which apply --plan knows the plan again
 */
readonly checksum: string
readonly seal?: PlanSignature
/**
 * Fields that differ and are left alone, since a rule says so; left out where there are none
 */
readonly ignored?: number
/**
 * What is live, but neither declared nor recorded; with --show unmanaged
 */
readonly unmanaged?: readonly UnmanagedResource[]
readonly unmanagedDocuments?: UnmanagedDocuments
readonly access?: Access
/**
 * Steps that this token may not write, by the role that it would need; left out where there are none, or its roles are not known
 */
readonly notWritable?: readonly NotWritable[]
readonly hardware?: HardwareChange
/**
 * Active deployments that use a secret whose value a step changes, of at most 20 secrets; left out where there are none
 */
readonly secretUses?: readonly SecretUse[]
/**
 * With --show fingerprints: which of the values that the plan writes are equal
 */
readonly fingerprints?: readonly SecretFingerprint[]
/**
 * Open writes of an earlier run, and what apply does about each before it writes; left out where there are none
 */
readonly interrupted?: readonly InterruptedWrite[]
/**
 * The extensions that the control plane lacks; left out where it lacks none
 */
readonly notUsed?: readonly MissingExtension[]
readonly history?: HistoryReach
/**
 * With --show unmanaged: kinds that this control plane cannot list
 */
readonly unmanagedNotListed?: readonly string[]
/**
 * What the registry holds and no manifest declares, by kind; left out where there is none, and with a selection
 */
readonly registryOnly?: readonly RegistryOnly[]
}
/**
 * A resource that is live, but neither declared nor recorded
 */
export type UnmanagedResource = {
/**
 * Kind and name of the resource, such as service/c1:ws1/api
 */
readonly identity: string
/**
 * Kind of the resource, the first part of its identity
 */
readonly kind: string
}
/**
 * Documents of the source that are no manifests of ours; left out where there are none
 */
export type UnmanagedDocuments = {
/**
 * How many there are
 */
readonly documents: number
/**
 * How many of them name a type that is not managed, by type
 */
readonly types: {
[k: string]: number
}
}
/**
 * What policy test -o json writes: what the tests beside policies expect, and what they got
 */
export type PolicyTestReport = {
readonly format_version: FormatVersion
readonly summary: PolicyTestSummary
/**
 * Each test, in the order of the files
 */
readonly tests: readonly PolicyTestResult[]
/**
 * What is wrong with the policies; then no test is run
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * Counts
 */
export type PolicyTestSummary = {
/**
 * Policies that were read
 */
readonly policies: number
/**
 * Policies without a test
 */
readonly untested: number
/**
 * Tests that got the expected verdict
 */
readonly passed: number
/**
 * Tests that did not
 */
readonly failed: number
}
/**
 * What a test expects of its policy, and what it got
 */
export type PolicyTestResult = {
/**
 * Name of the policy
 */
readonly policy: string
/**
 * What is tested, in words
 */
readonly name: (string | null)
/**
 * File of the policy
 */
readonly file: string
/**
 * Line of the test
 */
readonly line: number
/**
 * Expected verdict
 */
readonly expected: ("pass" | "deny" | "confirm" | "warn")
/**
 * The verdict; null where the test itself is wrong
 */
readonly actual: ("pass" | "deny" | "confirm" | "warn" | null)
/**
 * Why the test is wrong, or what the policy says that was not expected; null otherwise
 */
readonly message: (string | null)
}
/**
 * A resource whose manifest changes
 */
export type PromotedResource = {
/**
 * Its identity in the target that is promoted to
 */
readonly identity: string
/**
 * Its identity in the target that is promoted from
 */
readonly from: string
readonly kind: string
/**
 * The file that changes, relative to the working directory
 */
readonly file: string
readonly changes: readonly Change[]
/**
 * Since when it has been healthy in the target that is promoted from; null where the control plane does not say so
 */
readonly since: (string | null)
/**
 * Who wrote the lines that are promoted
 */
readonly authors: readonly PromotionAuthor[]
}
/**
 * Who wrote a line, and with which commit
 */
export type PromotionAuthor = {
readonly commit: string
readonly author: string
readonly at: string
}
/**
 * A resource that is not promoted, and why
 */
export type NotPromoted = {
/**
 * Its identity in the target that is promoted from
 */
readonly identity: string
readonly kind: string
readonly why: ("invalid" | "not-recorded" | "absent" | "unreadable" | "rolling-out" | "unhealthy" | "drifted" | "not-declared" | "shared" | "literal-secret" | "not-editable" | "gate")
/**
 * The reason in words; never a value
 */
readonly detail: string
/**
 * What the gates of the target that is promoted to say of the content that it would have; left out unless they are the reason
 */
readonly gates?: readonly GateStepAnswer[]
}
/**
 * The steps of a plan, as in plan -o json
 */
export type PromotionPlan = {
readonly complete: boolean
readonly steps: readonly Step[]
}
/**
 * What promote -o json writes: what is copied from one target to another, and what became of the pull request; nothing is written to a control plane
 */
export type PromotionReport = {
readonly format_version: FormatVersion
/**
 * Name of the target that is promoted from
 */
readonly from: string
/**
 * Name of the target that is promoted to
 */
readonly to: string
/**
 * The commit that the changes are based on; null where the source is no commit
 */
readonly revision: (string | null)
/**
 * The number of resources that change, that are already as promoted, and that are not promoted
 */
readonly summary: {
readonly promoted: number
readonly unchanged: number
readonly refused: number
}
/**
 * The resources whose manifests change
 */
readonly promoted: readonly PromotedResource[]
/**
 * The resources that are not promoted
 */
readonly refused: readonly NotPromoted[]
/**
 * The files that change
 */
readonly files: readonly {
/**
 * Path of the file in the repository
 */
readonly path: string
/**
 * Unified diff of the file; null where the file contains secrets in plain text
 */
readonly diff: (string | null)
}[]
/**
 * What an apply of the promotion would do; null when nothing is promoted
 */
readonly plan: (PromotionPlan | null)
/**
 * What an apply would do when the promotion is reverted after it was applied; null when nothing is promoted
 */
readonly revert: (PromotionPlan | null)
/**
 * What became of the pull request; null after --dry-run, and when nothing is promoted and none is closed
 */
readonly pullRequest: (ProposedChange | null)
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * A resource whose record was made or dropped
 */
export type ChangedRecord = {
readonly identity: string
readonly kind: string
}
/**
 * A resource that was left as it is
 */
export type LeftRecord = {
readonly identity: string
readonly kind: string
/**
 * It is recorded already, it is not live, or it cannot be read here
 */
readonly why: ("recorded" | "absent" | "unreadable")
}
/**
 * What adopt -o json and forget -o json write: whose record was made or dropped; nothing is written to the control plane
 */
export type RecordsReport = {
readonly format_version: FormatVersion
/**
 * URL of the control plane
 */
readonly server: string
/**
 * adopt has made records of what is live, forget has dropped those of orphans
 */
readonly action: ("adopt" | "forget")
/**
 * Resources whose record was made or dropped
 */
readonly changed: readonly ChangedRecord[]
/**
 * Resources that were asked for and left as they are
 */
readonly left: readonly LeftRecord[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * What render -o json writes: manifests after rename and patches, and where each value stands
 */
export type RenderReport = {
readonly format_version: FormatVersion
/**
 * The manifests, each after everything that it refers to
 */
readonly manifests: {
/**
 * Identity of the resource
 */
readonly identity: string
/**
 * Its kind
 */
readonly kind: string
/**
 * File that declares it, relative to the working directory
 */
readonly file: string
/**
 * Line of its manifest
 */
readonly line: number
/**
 * The manifest as it is applied; possible secrets are masked
 */
readonly manifest: {

}
/**
 * Where each value stands that is no object or list with content
 */
readonly places: readonly {
/**
 * JSON Pointer into the manifest
 */
readonly path: string
/**
 * File of the manifest or of a patch
 */
readonly file: string
/**
 * Line of the value, from 1
 */
readonly line: number
/**
 * Column of the value, from 1
 */
readonly column: number
}[]
}[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * A write whose outcome is not known
 */
export type OpenWrite = {
readonly identity: string
readonly kind: string
/**
 * Method and path
 */
readonly operation: string
/**
 * When the request was first about to be sent; null where an earlier release has not noted it
 */
readonly sentAt: (string | null)
/**
 * After this time a request that has not arrived will not arrive any more
 */
readonly arrivesUntil: string
/**
 * Whether the resource was known to be absent before
 */
readonly creates: boolean
/**
 * Newest version before the write; null where there was none, and for kinds without versions
 */
readonly versionBefore: (number | null)
/**
 * Whether a reply has arrived and waits, sealed
 */
readonly hasReply: boolean
readonly live: LiveEvidence
/**
 * What follows from live: the write took effect, it did not, or that cannot be told
 */
readonly evidence: ("applied" | "refused" | "unclear")
/**
 * Where the one-time token of the write was put when it was closed; null where there is none
 */
readonly token: (string | null)
/**
 * What cannot be had any more although the write took effect, such as a one-time token
 */
readonly lost: (string | null)
}
/**
 * What is live now
 */
export type LiveEvidence = {
/**
 * Unknown where it cannot be read
 */
readonly state: ("present" | "absent" | "unknown")
readonly version: (number | null)
readonly changedBy: (LastWrite | null)
/**
 * Whether it has all that was sent; null where it is not present
 */
readonly hasContent: (boolean | null)
}
/**
 * What resolve -o json writes: the open writes of the journal, what live says of each, and how they were closed
 */
export type ResolveReport = {
readonly format_version: FormatVersion
/**
 * URL of the control plane
 */
readonly server: string
/**
 * How the writes were closed; null where they were only shown
 */
readonly resolvedAs: ("applied" | "refused" | null)
/**
 * The open writes that were asked for, oldest first
 */
readonly writes: readonly OpenWrite[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * Steps of a plan that its pull request causes, by action
 */
export type PlanCounts = {
/**
 * Resources to create
 */
readonly create: number
/**
 * Resources to update
 */
readonly update: number
/**
 * Writes that make sure of what cannot be read
 */
readonly ensure: number
/**
 * Blocked steps
 */
readonly block: number
/**
 * Resources that are no longer declared
 */
readonly orphan: number
}
/**
 * A plan of a pull request that was sent to this daemon, in short
 */
export type ReviewedPlan = {
/**
 * Its id: the same for the same pull request, commit and name
 */
readonly id: string
/**
 * When it was sent, in UTC
 */
readonly at: string
/**
 * The forge of the repository
 */
readonly forge: ("github" | "gitlab")
/**
 * The path of the repository, such as ml/platform
 */
readonly repository: string
/**
 * The number of the pull request
 */
readonly pullRequest: number
/**
 * The address of the pull request; null if none was sent
 */
readonly url: (string | null)
/**
 * The head of the pull request that was planned
 */
readonly commit: string
/**
 * The name of the comment: that of the target, or of --name
 */
readonly name: string
/**
 * Whether each part is a plan that was signed with a key of this daemon's state
 */
readonly verified: boolean
/**
 * Whether every plan is complete and no step of the pull request is blocked
 */
readonly isGood: boolean
/**
 * The number of targets
 */
readonly targets: number
readonly counts: PlanCounts
/**
 * Steps that the pull request does not cause
 */
readonly others: number
}
/**
 * Plans of pull requests, the latest first
 */
export type PlansReply = {
/**
 * The entries
 */
readonly plans: readonly ReviewedPlan[]
/**
 * The cursor for the next page, as the parameter after; null on the last page
 */
readonly next: (string | null)
}
/**
 * A step of a plan as a reviewer sees it
 */
export type PlanStepView = {
/**
 * The resource
 */
readonly identity: string
/**
 * What is done: create, update, keep, ensure, block or orphan
 */
readonly action: string
/**
 * The file of the manifest; null where there is none
 */
readonly file: (string | null)
/**
 * Its line
 */
readonly line: (number | null)
/**
 * What is dangerous about it
 * 
 * Items: A risk
 */
readonly risks: readonly string[]
/**
 * Whether it reverts what is not part of this change too
 */
readonly alsoReverts: boolean
/**
 * Why it is blocked, what gates say, and who wrote the resource last
 * 
 * Items: A sentence
 */
readonly notes: readonly string[]
/**
 * The lines of its differences: a line that begins with @@ names the field
 * 
 * Items: A line
 */
readonly diff: readonly string[]
}
/**
 * The steps of a workspace or a repo
 */
export type PlanGroup = {
/**
 * Its name; null for the whole tenant
 */
readonly group: (string | null)
/**
 * The number of its steps
 */
readonly resources: number
/**
 * Its steps, dangerous ones first, as far as they fit
 */
readonly steps: readonly PlanStepView[]
}
/**
 * The steps of one cause
 */
export type PlanBlock = {
/**
 * The cause
 */
readonly name: ("change" | "pending" | "drift" | "unrecorded" | "orphans" | "other")
/**
 * Its title
 */
readonly title: string
/**
 * What the steps have in common; null where the title says it
 */
readonly explanation: (string | null)
/**
 * The number of its steps
 */
readonly resources: number
/**
 * Its steps by workspace or repo
 */
readonly groups: readonly PlanGroup[]
}
/**
 * The plan of one target
 */
export type PlanPart = {
/**
 * The target; null where there is only one
 */
readonly target: (string | null)
/**
 * What it is: a plan, a simulation without a control plane, or why there is no plan
 */
readonly is: ("plan" | "simulation" | "failure")
/**
 * The control plane; null for a simulation and a failure
 */
readonly server: (string | null)
/**
 * The commit that was planned; null where it is not known
 */
readonly revision: (string | null)
/**
 * Whether everything readable was read
 */
readonly complete: boolean
/**
 * Its signature: valid, made with a key that this daemon does not have, not that of the content, or none
 */
readonly seal: ("valid" | "other-key" | "broken" | "none")
/**
 * What it does, in a line
 */
readonly verdict: string
/**
 * Whether it is complete and no step of the pull request is blocked
 */
readonly isGood: boolean
/**
 * What it says of itself beside its steps: diagnostics, or the lists of a simulation
 * 
 * Items: A sentence
 */
readonly notes: readonly string[]
/**
 * Its steps by cause
 */
readonly blocks: readonly PlanBlock[]
}
/**
 * A plan of a pull request that was sent to this daemon
 */
export type PlanReply = {
readonly plan: ReviewedPlan
/**
 * The plan of each target that changes
 */
readonly parts: readonly PlanPart[]
/**
 * The targets that nothing changes on
 * 
 * Items: A target
 */
readonly quiet: readonly string[]
/**
 * Steps and targets that did not fit
 */
readonly leftOut: number
}
/**
 * Where a plan that was sent is found
 */
export type PlanSent = {
/**
 * Its id
 */
readonly id: string
/**
 * The path of its page
 */
readonly path: string
/**
 * Whether it took the place of an earlier one
 */
readonly replaced: boolean
/**
 * Whether each part was signed with a key of this daemon's state
 */
readonly verified: boolean
}
/**
 * A plan of a pull request for POST /api/v1/plans
 */
export type PlanToSend = {
/**
 * The forge of the repository
 */
readonly forge: ("github" | "gitlab")
/**
 * The path of the repository, such as ml/platform
 */
readonly repository: string
/**
 * The number of the pull request
 */
readonly pullRequest: number
/**
 * The address of the pull request; null if none was sent
 */
readonly url?: (string | null)
/**
 * The head of the pull request that was planned
 */
readonly commit: string
/**
 * The name of the comment: that of the target, or of --name
 */
readonly name: string
/**
 * Whether a job without secrets made it
 */
readonly unverified: boolean
/**
 * The document that plan -o json or simulate -o json wrote
 */
readonly plan: Json
}
/**
 * What runs -o json writes: the newest runs of a job
 */
export type RunsReport = {
readonly format_version: FormatVersion
/**
 * URL of the control plane
 */
readonly server: string
/**
 * Identity of the job, such as job/c1:ws1/nightly
 */
readonly job: string
/**
 * The newest runs, newest first; with a name, or with --follow, that run alone
 */
readonly runs: readonly ShownRun[]
/**
 * Whether there may be more runs than these
 */
readonly isCut: boolean
/**
 * How a run that was followed has ended; left out without --follow
 */
readonly followed?: ("succeeded" | "failed" | "timeout")
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * What one apply did on the copy
 */
export type SimulatedPhase = {
/**
 * Resources that were created
 */
readonly created: readonly string[]
/**
 * Resources that were updated
 */
readonly updated: readonly string[]
/**
 * Resources that rolled out
 */
readonly rollouts: readonly string[]
/**
 * Resources that could not be written
 */
readonly refused: readonly SimulatedRefusal[]
}
/**
 * A resource that could not be written, and why
 */
export type SimulatedRefusal = {
/**
 * Kind and name of the resource
 */
readonly identity: string
/**
 * Why it was refused
 */
readonly why: string
}
/**
 * Something that stays when the change is taken back
 */
export type Leftover = {
/**
 * Kind and name of the resource
 */
readonly identity: string
/**
 * resource: it was created, and nothing deletes it; update: it was updated, and the revert does not write it back; versions: the change and its revert each made one; token: one was issued
 */
readonly what: ("resource" | "update" | "versions" | "token")
}
/**
 * What simulate -o json writes: what became of a change on a copy of a control plane, and of taking it back
 */
export type Simulation = {
readonly format_version: FormatVersion
/**
 * No control plane was asked
 */
readonly simulation: true
readonly base: SimulatedPhase
readonly change: SimulatedPhase
readonly revert: SimulatedPhase
/**
 * What taking the change back leaves behind
 */
readonly stays: readonly Leftover[]
/**
 * Resources whose change touches what the snapshot holds no values of
 */
readonly notComparable: readonly string[]
/**
 * What a simulation cannot know
 */
readonly unknown: readonly string[]
/**
 * What the snapshot lacks, and what of it could not be copied
 */
readonly unseen: readonly string[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * What status and reconcile write with -o json
 */
export type StatusDocument = {
readonly format_version: FormatVersion
/**
 * The daemon that was asked; null when none runs, and this is what the last run has left
 */
readonly daemon: (RunningDaemon | null)
/**
 * The targets of the configuration
 */
readonly targets: readonly TargetStatus[]
/**
 * The stages, in the order in which commits reach them
 */
readonly stages: readonly StageStatus[]
/**
 * Warnings about the run
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * The daemon that runs
 */
export type RunningDaemon = {
/**
 * Its process id
 */
readonly pid: number
}
/**
 * What validate, plan and drift -o json write of several targets: the document of each
 */
export type TargetsReport = {
readonly format_version: FormatVersion
/**
 * The documents, in the order of the configuration
 */
readonly targets: ((ValidationReport | Plan | DriftReport | Failure) & {
readonly target: string
})[]
}
/**
 * What validate -o json writes: what is wrong with the manifests
 */
export type ValidationReport = {
readonly format_version: FormatVersion
/**
 * Name of the target; only where the document is one of several
 */
readonly target?: string
readonly summary: ValidationSummary
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
/**
 * Those documents, with --show unmanaged
 */
readonly unmanaged?: readonly Diagnostic[]
}
/**
 * How much was read, and how much is wrong
 */
export type ValidationSummary = {
/**
 * Files that were read
 */
readonly files: number
/**
 * Manifests that are valid
 */
readonly manifests: number
/**
 * Manifests that are not valid
 */
readonly faulty: number
/**
 * Errors
 */
readonly errors: number
/**
 * Warnings
 */
readonly warnings: number
/**
 * Documents that are no manifests of ours
 */
readonly unmanaged?: number
/**
 * How many of them name a type that is not managed, by type
 */
readonly unmanagedTypes?: {
[k: string]: number
}
/**
 * How many files an ignore file leaves out, by ignore file, of large folders only the first 5,000 entries; left out when there are none
 */
readonly ignored?: {
[k: string]: number
}
}
/**
 * A personal access token, or one of a virtual account, without the token itself
 */
export type ListedToken = {
/**
 * Id of the token, which token revoke takes; null where the control plane does not tell
 */
readonly id: (string | null)
/**
 * Name of the token, unique among its owner's; for one of a virtual account, the account's
 */
readonly name: string
/**
 * Whose it is, such as user:ada@example.com; null where the control plane does not tell
 */
readonly subject: (string | null)
/**
 * When it was created; null where the control plane does not tell
 */
readonly createdAt: (string | null)
/**
 * The credential that created it, and with which it ends; null where that is not known
 */
readonly createdWith: (string | null)
/**
 * When it was last used, to within ten minutes; null if it never was
 */
readonly lastUsedAt: (string | null)
/**
 * When it becomes invalid; null where no end is known
 */
readonly expiresAt: (string | null)
/**
 * Where create has put the token itself; null for others
 */
readonly storedAt: (string | null)
}
/**
 * What token -o json writes: the tokens that were created, listed, revoked or reissued; never a token itself
 */
export type TokensReport = {
readonly format_version: FormatVersion
/**
 * URL of the control plane
 */
readonly server: string
/**
 * create has created one, list has only read, revoke has made these void, reissue has given a virtual account a new one
 */
readonly action: ("create" | "list" | "revoke" | "reissue")
/**
 * The tokens, newest first
 */
readonly tokens: readonly ListedToken[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * A lease that was broken
 */
export type BrokenLease = {
readonly scope: string
/**
 * Who had it: machine, state folder and the name of that folder
 */
readonly holder: string
/**
 * Until when it would have lasted
 */
readonly until: string
}
/**
 * What unlock -o json writes: who had the state folder and the leases, and what was broken
 */
export type UnlockReport = {
readonly format_version: FormatVersion
/**
 * URL of the control plane
 */
readonly server: string
/**
 * The process that ended while it had the state folder, whose lock the kernel has freed; null where there was none
 */
readonly leftBy: (string | null)
/**
 * The scope whose lease is free now; null where the control plane has no leases
 */
readonly scope: (string | null)
/**
 * The leases of dead holders that stood in the way
 */
readonly broken: readonly BrokenLease[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * A user of the control plane
 */
export type ListedUser = {
/**
 * Id of the user
 */
readonly id: string
/**
 * Such as user:ada@example.com
 */
readonly subject: string
/**
 * Name of the user
 */
readonly displayName: string
/**
 * How the user signs in: by a token of the control plane, or through its issuer of OpenID Connect
 */
readonly signIn: ("token" | "issuer")
/**
 * Whether the user may call
 */
readonly state: ("active" | "removed" | "disabled")
/**
 * When the user was added, or signed in first; null where that is not known
 */
readonly createdAt: (string | null)
/**
 * The issuer that knows the user; null before the first sign-in through one
 */
readonly issuer: (string | null)
/**
 * Id of the user at that issuer; null without one
 */
readonly issuerSubject: (string | null)
/**
 * When the newest token was issued with which the user has called through the issuer; null where there is none
 */
readonly signedInAt: (string | null)
/**
 * When the user was removed; null unless it was
 */
readonly removedAt: (string | null)
/**
 * Where the token of an added user is; null where this command got none
 */
readonly storedAt: (string | null)
}
/**
 * What user -o json writes: the users that were added, listed or removed
 */
export type UsersReport = {
readonly format_version: FormatVersion
/**
 * URL of the control plane
 */
readonly server: string
/**
 * What was done
 */
readonly action: ("add" | "list" | "remove")
/**
 * The users, in a list the newest first
 */
readonly users: readonly ListedUser[]
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
/**
 * A line that watch writes with -o json
 */
export type WatchEvent = {
readonly format_version: FormatVersion
/**
 * When it happened, in UTC
 */
readonly time: string
/**
 * Whether somebody should look
 */
readonly level: ("info" | "warn" | "error")
/**
 * What happened
 */
readonly event: ("started" | "read" | "kept" | "planned" | "outcome" | "applied" | "incomplete" | "orphans" | "rollout" | "waiting" | "lease" | "warning" | "failed" | "idle" | "stopped")
/**
 * Which target, where the configuration names several
 */
readonly target?: string
/**
 * The commit that it is about; null where there is none
 */
readonly revision: (string | null)
/**
 * The resource that it is about; null where it is about all
 */
readonly identity: (string | null)
/**
 * The same for people, on one line
 */
readonly message: string
/**
 * What to do now
 */
readonly hint?: (string | null)
readonly result?: OutcomeResult
readonly rollout?: RolloutResult
/**
 * Code of what went wrong
 */
readonly error?: (string | null)
/**
 * How many resources had each result
 */
readonly summary?: {
[k: string]: number
}
/**
 * Resources that the source no longer declares and that still live, in the event `orphans`
 */
readonly orphans?: readonly OrphanEntry[]
/**
 * When the next pass is due, in UTC
 */
readonly until?: string
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics?: readonly Diagnostic[]
}
/**
 * Where the token that is used comes from
 */
export type TokenOrigin = {
/**
 * A token file, the environment, a login, or the admin token of the embedded control plane
 */
readonly from: ("token-file" | "environment" | "login" | "embedded")
/**
 * The file, the variable, or the issuer of the login
 */
readonly place: string
}
/**
 * A role that the token has
 */
export type CallerRole = {
/**
 * Id of the role
 */
readonly role: string
/**
 * Type of the resource that the role is on
 */
readonly resourceType: string
/**
 * Fqn of that resource
 */
readonly resourceFqn: string
/**
 * The team that has the role; null where the subject itself has it
 */
readonly through: (string | null)
/**
 * The group of the issuer by which the subject is in that team; null where the team names the subject
 */
readonly group: (string | null)
}
/**
 * What whoami -o json writes: whose token it is, and all its roles
 */
export type WhoamiReport = {
readonly format_version: FormatVersion
/**
 * URL of the control plane
 */
readonly server: string
/**
 * Such as user:ada@example.com or virtualaccount:ci
 */
readonly subject: string
/**
 * Id of the subject; null where the control plane does not tell
 */
readonly subjectId: (string | null)
/**
 * Name of the tenant
 */
readonly tenantName: string
/**
 * All its roles, those of its teams included
 */
readonly roles: readonly CallerRole[]
/**
 * When the token becomes invalid; null where no end is known
 */
readonly tokenExpiresAt: (string | null)
readonly credential: TokenOrigin
/**
 * What is wrong or doubtful in the input, by file and line
 */
readonly diagnostics: readonly Diagnostic[]
}
