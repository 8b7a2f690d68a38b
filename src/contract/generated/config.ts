import type { Json, JsonObject } from "../json.ts";

type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Immutable<T[Name]> }
    : T;

/**
 * Configuration of Holdfast: `holdfast.yaml` at the top of a source, and the file that `--config` names, whose keys replace those of the source
 */
interface MutableHoldfastConfig {
/**
 * Folders and files, relative to the source, that manifests are read from; the whole source without this key
 */
paths?: (string[] | null)
/**
 * Branch that a checkout must be at, with nothing uncommitted or unfinished, to be applied; any state of it without this key
 */
ref?: (string | null)
/**
 * Fields that somebody else keeps: differences there are counted, never acted on
 */
ignore?: ({
/**
 * JSON Pointer of the field, in which `*` stands for one step; everything below it is ignored too
 */
path: string
/**
 * Glob over identities that the rule holds for
 */
match: string
/**
 * Why the field is left alone
 */
reason: string
/**
 * Who answers for the rule
 */
owner?: (string | null)
/**
 * Last day on which the rule holds
 */
expires?: (string | null)
}[] | null)
/**
 * Globs over identities that live elsewhere, so that a reference to them needs no declaration
 */
external?: (string[] | null)
/**
 * What is done with a field that the schema does not know: refuse the manifest, or carry it with a warning
 */
unknownFields?: (("refuse" | "warn") | null)
/**
 * What manifests get where they say nothing
 */
defaults?: ({
/**
 * Workspace of applications that name none; `--workspace` goes before it
 */
workspace_fqn?: (string | null)
} | null)
/**
 * What is not done without a person's word: acting on a source or a control plane that has shrunk more than a person would do on purpose, and dangerous writes; in the source they may only be stricter than the default ones
 */
guards?: ({
/**
 * From how many recorded resources on the guard holds
 */
shrinkFrom?: (number | null)
/**
 * Share of the recorded resources that the source must still declare, and live must still show
 */
shrinkShare?: (number | null)
/**
 * Largest share of the resources that `watch` updates in one pass, from ten on; above it none is updated
 */
updateShare?: (number | null)
/**
 * What a write does that changes a resource which is not recorded and which somebody else wrote: refuse it (the default) or only mark it
 */
adopts?: (("refuse" | "mark") | null)
/**
 * What a write does that gives somebody more rights: refuse it (the default) or only mark it
 */
"privilege-growth"?: (("refuse" | "mark") | null)
/**
 * What a write does that may leave no replica running: refuse it, or only mark it (the default)
 */
"scale-to-zero"?: (("refuse" | "mark") | null)
/**
 * What a write does that exposes a port, or changes host or access control of an exposed one: refuse it, or only mark it (the default)
 */
exposure?: (("refuse" | "mark") | null)
/**
 * What a write does that takes a secret away: refuse it, or only mark it (the default)
 */
"secret-removed"?: (("refuse" | "mark") | null)
/**
 * What a write does that undoes a change made in live: refuse it, or only mark it (the default)
 */
reverts?: (("refuse" | "mark") | null)
} | null)
/**
 * Folder of policies, which judge what would be written: in the source a path below its root, and those of the base count too; in the operator's configuration a path relative to the working directory. Neither replaces the other
 */
policies?: (string | null)
/**
 * Globs over paths whose files may hold values in a known credential format
 */
allowLiteralSecrets?: (string[] | null)
/**
 * How many resources are written at the same time
 */
concurrency?: (number | null)
/**
 * Time for the whole command
 */
timeout?: (number | null)
/**
 * Time for one request
 */
requestTimeout?: (number | null)
/**
 * Address of the control plane
 */
server?: (string | null)
/**
 * File that holds the bearer token
 */
tokenFile?: (string | null)
/**
 * What `holdfast login` uses where its flags say nothing, and which login commands use where there are several
 */
login?: ({
/**
 * Address of the company's OpenID Connect issuer
 */
issuer?: (string | null)
/**
 * Id of Holdfast at the issuer: a public client that may use the device flow
 */
clientId?: (string | null)
/**
 * Audience that the control plane expects; without this key the client id
 */
audience?: (string | null)
/**
 * Scopes to ask for, with spaces between; without this key those of openid, email, profile, groups and offline_access that the issuer has
 */
scope?: (string | null)
} | null)
/**
 * Folder of the ledger, the journal and the tokens, or the address of a PostgreSQL database that has the ledger and the journal
 */
state?: (string | null)
/**
 * Where one-time tokens go, the first one unless `--sink` names another: the name of a sink, or an object with its settings
 */
sinks?: ((string | {
/**
 * The name of the sink, as `--sink` has it
 */
type: string
/**
 * Address of Vault, or of the API of Kubernetes; in a pod, Kubernetes is found without it
 */
url?: (string | null)
/**
 * File with the token for Vault or Kubernetes, read again for each request; that of the pod's service account without this key. `VAULT_TOKEN` is used for Vault where there are neither this key nor `role`
 */
tokenFile?: (string | null)
/**
 * Certificates to trust besides the system's, PEM, read again for each request; for Kubernetes those of the pod without this key
 */
caFile?: (string | null)
/**
 * Namespace of the Secrets, that of the pod without this key; for Vault the namespace that Vault Enterprise has
 */
namespace?: (string | null)
/**
 * Where Vault's KV secrets engine, version 2, is mounted; `secret` without this key
 */
mount?: (string | null)
/**
 * Path in the mount below which the tokens are; `holdfast` without this key
 */
path?: (string | null)
/**
 * Role of Vault's Kubernetes auth method: the service account's token is then exchanged for a token of Vault
 */
role?: (string | null)
/**
 * Where Vault's Kubernetes auth method is mounted; `kubernetes` without this key
 */
authMount?: (string | null)
/**
 * The program of `exec` and its first arguments; no shell reads them
 */
command?: (string[] | null)
})[] | null)
/**
 * What decrypts the SOPS files of the source that manifests name
 */
sops?: ({
/**
 * File of `age-keygen` with the identities; HOLDFAST_AGE_KEY and HOLDFAST_AGE_KEY_FILE go before it
 */
ageKeyFile?: (string | null)
/**
 * Program `sops` and its first arguments, for files that no age identity decrypts; no shell reads them
 */
program?: (string[] | null)
} | null)
/**
 * Where values of secrets are that manifests may name, each by one of `env`, `file` and `command`; a manifest can name nothing else
 */
secretSources?: ({
/**
 * What manifests write for it: `{ from: NAME }`
 */
name: string
/**
 * Variable of Holdfast's environment that holds the value
 */
env?: (string | null)
/**
 * File that holds the value; one line end at its end is not part of it
 */
file?: (string | null)
/**
 * Program that prints the value, and its arguments; no shell reads them. One line end at the end of its output is not part of it
 */
command?: (string[] | null)
}[] | null)
/**
 * Who is told about the passes of `watch`, over HTTP
 */
notifications?: ({
/**
 * What logs call the receiver
 */
name: string
/**
 * What is sent: `slack` a text as Slack's incoming webhooks take it (and Mattermost, Rocket.Chat and Discord's /slack), `webhook` a CloudEvent 1.0 in JSON
 */
type: ("slack" | "webhook")
/**
 * Where it is sent; an address that is a secret belongs into `urlFile`
 */
url?: (string | null)
/**
 * File with the address, read anew for each notification
 */
urlFile?: (string | null)
/**
 * File with a bearer token for the receiver, read anew for each notification; needs https, or this machine
 */
tokenFile?: (string | null)
/**
 * Names of the targets that it is told about; all of them without this key
 */
targets?: (string[] | null)
/**
 * What it is told about; everything without this key
 */
events?: (("failure" | "stalled" | "recovery" | "drift" | "adopt-needed" | "held" | "configuration-refused" | "configuration-reloaded")[] | null)
/**
 * The least severity that it is told about: recovery, held and configuration-reloaded are `info`, drift and adopt-needed are `warning`, failure, stalled and configuration-refused are `error`
 */
severity?: (("info" | "warning" | "error") | null)
}[] | null)
/**
 * Git repositories that targets follow
 */
sources?: ({
/**
 * What targets, webhooks and reports call it
 */
name: string
/**
 * Where the repository is: https, ssh, an absolute local path, or http on this machine; without credentials
 */
url: string
/**
 * Branch, tag or commit; the remote's default branch without this key
 */
ref?: (string | null)
/**
 * Folders and files of the repository that manifests are read from; they replace `paths` of its own holdfast.yaml
 */
paths?: (string[] | null)
/**
 * What fetches prove themselves with; the environment variable HOLDFAST_SOURCE_TOKEN_<NAME> may hold the token instead of a file
 */
credentials?: ({
/**
 * User name that goes with the token; `git` without this key
 */
username?: (string | null)
/**
 * File with an access token or a password, read anew for each fetch
 */
tokenFile?: (string | null)
/**
 * File with the private key for ssh, readable for its owner alone
 */
sshKeyFile?: (string | null)
} | null)
/**
 * Certificates to trust for this repository in place of the system's, PEM
 */
caFile?: (string | null)
/**
 * File with the host keys that ssh accepts; needed for ssh
 */
knownHosts?: (string | null)
/**
 * File with the secret that webhooks to /hooks/<name> are signed with (GitHub), or carry as their token (GitLab)
 */
webhookSecretFile?: (string | null)
/**
 * Tells the git host what became of each applied commit; off without this key
 */
commitStatus?: ({
/**
 * Whose API it is
 */
provider: ("github" | "gitlab")
/**
 * File with a token that may write commit statuses, read anew for each
 */
tokenFile: string
/**
 * Address of the API; without this key api.github.com, or the repository's host with /api/v3 (GitHub) or /api/v4 (GitLab)
 */
apiUrl?: (string | null)
} | null)
}[] | null)
/**
 * What `holdfast watch` proposes by itself, as `holdfast promote` does: at most one open pull request for each entry
 */
promotions?: ({
/**
 * Name of the target that is promoted from
 */
from: string
/**
 * Name of the target that is promoted to
 */
to: string
/**
 * Globs over identities of the target that is promoted from; everything without this key
 */
ids?: (string[] | null)
/**
 * The least time between two looks, each after a pass of one of both targets; 5m without this key
 */
every?: (string | null)
}[] | null)
/**
 * Control planes that targets name, with their credentials and limits
 */
servers?: ({
/**
 * What `server` of a target calls it
 */
name: string
/**
 * Address of the control plane
 */
url: string
/**
 * File that holds the bearer token for this control plane; the token of the whole configuration without this key
 */
tokenFile?: (string | null)
/**
 * Certificates to trust besides the system's, PEM
 */
caFile?: (string | null)
/**
 * Most requests in flight, of all its targets in one process, or in all processes of a fleet; renewals of leases are sent at once
 */
concurrency?: (number | null)
/**
 * Most requests that are begun in a second, of all its targets in one process, or in all processes of a fleet; renewals of leases are sent at once
 */
requestsPerSecond?: (number | null)
}[] | null)
/**
 * Control planes, each with the source that it follows
 */
targets?: ({
/**
 * What `--target`, reports and the state folder call it
 */
name: string
/**
 * Stands for one target for each folder of the source that a glob finds, or for each item of a YAML list in the source. `name`, `paths` and `server` then have placeholders: {dir} for the last segment of the folder, {item} for a text of the list, {KEY} for a key of an object of the list
 */
each?: (string | {
/**
 * YAML list of texts or of objects of texts, relative to the root of the source
 */
file: string
} | null)
/**
 * Name of the source that it follows; the only one without this key, and the local folder where there are no sources
 */
source?: (string | null)
/**
 * Address of the control plane, or the name of an entry of `servers`, with placeholders where there is `each`; that of the whole configuration without this key
 */
server?: (string | null)
/**
 * File that holds the bearer token for this control plane
 */
tokenFile?: (string | null)
/**
 * Certificates to trust besides the system's, PEM
 */
caFile?: (string | null)
/**
 * Folders and files that this target reads, with placeholders where there is `each`; they lie within those of its source
 */
paths?: (string[] | null)
/**
 * What a daemon may do: `report` never writes, `heal` writes, `off` makes no pass. Where `heal` is written out, what somebody else manages is overwritten too, unless `guards.adopts` is `refuse`
 */
sync?: (("report" | "heal" | "off") | null)
/**
 * Time between passes of a daemon, each of which asks the source for its newest commit
 */
interval?: (number | null)
/**
 * Time between passes that look at everything in live; those between them look at what a commit has changed. Without it every pass of `interval` looks at everything
 */
driftInterval?: (number | null)
/**
 * Signatures that plans for this target need, in place of those of the whole configuration
 */
approvals?: ({
/**
 * Public keys of SSH whose signatures count, each as a line of a public key file or of a file of allowed signers; a text may hold several lines
 * 
 * Items: Type, key and name
 */
keys: string[]
/**
 * How many of them must have signed; one without this key
 */
atLeast?: (number | null)
} | null)
/**
 * What a daemon does with what was changed in live and not in git: `heal` writes what git says, `propose` opens a pull request that writes it into the manifests, and leaves it as long as that is open
 */
drift?: (("heal" | "propose") | null)
/**
 * For how long at most an open pull request keeps what it proposes from being written; 7 days without this key, which are the most
 */
driftHold?: (string | null)
/**
 * Whether `apply` wants the target's name typed, or `--confirm NAME`
 */
confirm?: (boolean | null)
/**
 * What this target calls clusters and workspaces: their names in identities and references are mapped before patches are applied. An entry of a workspace goes before that of its cluster
 */
rename?: ({
/**
 * Names of clusters in the source, and what they are here; workspaces in them are renamed with them
 */
clusters?: ({
[k: string]: string
} | null)
/**
 * Workspaces of the source as cluster:name, and what they are here
 */
workspaces?: ({
[k: string]: string
} | null)
} | null)
/**
 * Folder of patch files, relative to the root of the source; no target reads its files as manifests
 */
patches?: (string | null)
/**
 * When nothing is written: while a `deny` window is open, and where there are `allow` windows, while none of them is. Drift is still reported, and `apply --allow-window` writes all the same
 */
windows?: ({
/**
 * The cron, five fields or `@daily` and the like, of a window in which nothing is written
 */
deny?: (string | null)
/**
 * The cron of a window outside which nothing is written
 */
allow?: (string | null)
/**
 * How long the window stays open, as elapsed time: a day on which the clocks change makes it end an hour earlier or later by the clock
 */
duration: string
/**
 * The time zone of the cron, by its name in the IANA database
 */
timeZone: string
/**
 * Why, for whoever is refused
 */
reason?: (string | null)
}[] | null)
/**
 * What must be shown of a version of a prompt or a model before it is written: one gate, or a list of which each must pass. A gate has one of `metric`, `url` and `job`
 */
gate?: ({
/**
 * Glob over the identities that the gate is for; without this key all prompts and models, or with `metric` all models
 */
match?: (string | null)
/**
 * A metric of the registered version with the same content, at its last step; with `atLeast`, `atMost` or both
 */
metric?: (string | null)
/**
 * The smallest value of the metric that passes
 */
atLeast?: (number | null)
/**
 * The largest value of the metric that passes
 */
atMost?: (number | null)
/**
 * A service that judges: it is sent a signed request, and answers `{pass, summary, score?}`. Over https, or on this machine; with `secretFile`
 */
url?: (string | null)
/**
 * File with the key that signs the requests to `url`
 */
secretFile?: (string | null)
/**
 * Identity of a job whose newest finished run, of those that began after the version was registered, must have succeeded. Holdfast starts none
 */
job?: (string | null)
/**
 * The target in whose control plane the version, its metrics and the job are read; this target without this key
 */
from?: (string | null)
} | {
/**
 * Glob over the identities that the gate is for; without this key all prompts and models, or with `metric` all models
 */
match?: (string | null)
/**
 * A metric of the registered version with the same content, at its last step; with `atLeast`, `atMost` or both
 */
metric?: (string | null)
/**
 * The smallest value of the metric that passes
 */
atLeast?: (number | null)
/**
 * The largest value of the metric that passes
 */
atMost?: (number | null)
/**
 * A service that judges: it is sent a signed request, and answers `{pass, summary, score?}`. Over https, or on this machine; with `secretFile`
 */
url?: (string | null)
/**
 * File with the key that signs the requests to `url`
 */
secretFile?: (string | null)
/**
 * Identity of a job whose newest finished run, of those that began after the version was registered, must have succeeded. Holdfast starts none
 */
job?: (string | null)
/**
 * The target in whose control plane the version, its metrics and the job are read; this target without this key
 */
from?: (string | null)
}[] | null)
/**
 * Patterns for the names of the targets that a commit must have passed before this one applies it, with `*` for any characters; the targets with one `after` are a stage
 */
after?: (string[] | null)
/**
 * When a commit has passed a target of `after`, or a place of `maxUpdate` is free again: once it is applied (`synced`), or once its rollouts have succeeded too (`healthy`, without this key)
 */
when?: (("synced" | "healthy") | null)
/**
 * For how long a commit must have been seen to be healthy on the targets of `after`, without interruption
 */
soak?: (string | null)
/**
 * How many targets of its stage may apply a new commit at once; one that fails takes its place until it heals. All without this key
 */
maxUpdate?: (number | null)
/**
 * Name of its stage; without this key `first`, or `after-` and the patterns of `after`, joined with `-`
 */
stage?: (string | null)
/**
 * The fields that `holdfast promote` copies to this target; without this key those that say which version of something is used: images, charts, commits, revisions, and the content of model versions and prompts
 */
promote?: ((string | {
/**
 * JSON Pointer of the field, in which `*` stands for one step; everything below it is copied too
 */
path: string
/**
 * Glob over identities of this target
 */
match: string
})[] | null)
/**
 * Whether refs/holdfast/NAME of the repository follows the commit that was applied last, so that a CI job without a state folder can tell what was; off without this key
 */
publishRef?: (boolean | null)
/**
 * The repository that the ref is pushed to, where the target follows the local folder; that of its source otherwise
 */
publishUrl?: (string | null)
/**
 * What the push proves itself with, never the credentials that the source is fetched with; the environment variable HOLDFAST_PUBLISH_TOKEN_<NAME> may hold the token instead of a file
 */
publishCredentials?: ({
/**
 * User name that goes with the token; `git` without this key
 */
username?: (string | null)
/**
 * File with an access token or a password, read anew for each push
 */
tokenFile?: (string | null)
/**
 * File with the private key for ssh, readable for its owner alone
 */
sshKeyFile?: (string | null)
} | null)
}[] | null)
/**
 * How model versions are written where the control plane has no PUT for them; `post` says that POST registers them there
 */
modelVersionWrite?: (("put" | "post") | null)
/**
 * Folder on the machine that writes, below which the paths of model versions with the source `local` are; without it they are relative to their manifests, and in the source. A relative one is relative to the working directory
 */
modelRoot?: (string | null)
/**
 * The page of `watch --listen`
 */
dashboard?: ({
/**
 * Who may act on the page, and not only read: with `token`, who has the token of HOLDFAST_UI_TOKEN_FILE or HOLDFAST_UI_TOKEN, under the name that they give; with `oidc`, who signs in at the issuer of `oidc` and is named there, under the name that the issuer tells; with `loopback` nobody
 */
access?: (("loopback" | "token" | "oidc") | null)
/**
 * With `access: oidc`: where people sign in to the dashboard, and who of them may do what
 */
oidc?: ({
/**
 * Address of the OpenID Connect issuer
 */
issuer: string
/**
 * Id of the dashboard at the issuer
 */
clientId: string
/**
 * File with the secret of that client, which also seals sessions; another secret ends them all
 */
clientSecretFile: string
/**
 * Address of the dashboard as browsers use it; the issuer must allow /auth/callback below it
 */
url: string
/**
 * Certificates to trust for the issuer besides the system's, PEM
 */
caFile?: (string | null)
/**
 * Claim of the ID token that lists the groups of a person
 */
groupsClaim?: (string | null)
/**
 * Who may read: e-mail addresses (globs) that the issuer has verified, and groups as `group:NAME`; who may act may read too
 */
readers?: (string[] | null)
/**
 * Who may act, in the same form; without this key nobody
 */
actors?: (string[] | null)
} | null)
/**
 * Names and addresses of this host beside those of loopback, as browsers address it; under others neither the dashboard answers nor the tools of `holdfast mcp --listen`
 */
hosts?: (string[] | null)
/**
 * File with the token that lets `comment --publish` send plans of pull requests, and nothing else; without it none are taken
 */
plansTokenFile?: (string | null)
} | null)
/**
 * Signatures that every plan needs before it is applied: `apply` then takes plans that `holdfast approve` has signed, and nothing else
 */
approvals?: ({
/**
 * Public keys of SSH whose signatures count, each as a line of a public key file or of a file of allowed signers; a text may hold several lines
 * 
 * Items: Type, key and name
 */
keys: string[]
/**
 * How many of them must have signed; one without this key
 */
atLeast?: (number | null)
} | null)
/**
 * Subjects whose writes count as this repository's own where the ledger has no record: what one of them wrote last is no adoption, and a later change by hand is drift
 */
writers?: (string[] | null)
}

/** Configuration of Holdfast: `holdfast.yaml` at the top of a source, and the file that `--config` names, whose keys replace those of the source. */
export type HoldfastConfig = Immutable<MutableHoldfastConfig>;

/**
 * A policy of Holdfast: a file in the folder that `policies` of a configuration names
 */
interface MutableHoldfastPolicy {
/**
 * Name of the policy, which `--allow-policy` takes
 */
name: string
/**
 * What is done where the policy finds something: refuse it (`deny`), refuse it until a person allows it (`confirm`), or only say so (`warn`)
 */
severity: ("deny" | "confirm" | "warn")
/**
 * What is wrong and what to do, in a sentence
 */
message: string
/**
 * What is judged: each step that writes (without this key), or the plan as a whole
 */
over?: (("step" | "plan") | null)
/**
 * Glob over the identities that are judged; every identity without this key
 */
match?: (string | null)
/**
 * Expression in the Common Expression Language (CEL), which is true for what the policy is against
 */
when: string
/**
 * What `holdfast policy test` checks of the policy
 */
tests?: ({
/**
 * What is tested, in words
 */
name?: (string | null)
/**
 * The manifest as it is live; without this key the resource is created
 */
before?: (JsonObject | null)
/**
 * The manifest as it is declared
 */
after?: (JsonObject | null)
/**
 * For a policy over the plan: the pairs of manifests of its steps
 */
steps?: ({
/**
 * The manifest as it is live; without this key the resource is created
 */
before?: (JsonObject | null)
/**
 * The manifest as it is declared
 */
after: JsonObject
}[] | null)
/**
 * Why live differs: the manifest has changed (without this key), live has changed since the last write (`drift`), or nothing was written before (`unrecorded`)
 */
cause?: (("manifest" | "drift" | "unrecorded") | null)
/**
 * Name of the target
 */
target?: (string | null)
/**
 * Who wrote what is live
 */
author?: (string | null)
/**
 * The verdict: the severity of the policy where it finds something, else `pass`
 */
expect: ("pass" | "deny" | "confirm" | "warn")
}[] | null)
}

/** A policy of Holdfast: a file in the folder that `policies` of a configuration names. */
export type HoldfastPolicy = Immutable<MutableHoldfastPolicy>;
