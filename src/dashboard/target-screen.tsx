import { useSignal, useSignalEffect } from "@preact/signals";
import type {
  HoldEntry,
  InvalidStatus,
  PassesReply,
  PassRecord,
  StageStatus,
  TargetReply,
  TargetStatus,
} from "../contract/generated/output.ts";
import { Actions } from "./actions.tsx";
import { pathOf, pathOfHistory } from "./address.ts";
import { passes, readListOf, refusal, resourcesVersion, shownTarget } from "./daemon.ts";
import { Age, Badge, Callout, ColumnNames, Commit, countsText, Lines, Time, type Tone, visible } from "./parts.tsx";
import { PassBar } from "./pass-bar.tsx";
import { ResourceList } from "./resource-list.tsx";

/** One target: why it is as it is, and its resources. */
export function TargetScreen({ name }: { readonly name: string }) {
  const reply = shownTarget.value;
  const pass = passes.value.get(name) ?? null;
  if (reply === null || reply.status.target !== name) {
    return (
      <>
        <h1 key="name" tabIndex={-1}>
          {visible(name)}
        </h1>
        <p class="soft">{visible(refusal.value ?? "Reading…")}</p>
      </>
    );
  }
  const { status } = reply;
  return (
    <>
      <p class="path">
        <a href="/">Targets</a>
      </p>
      <h1 key="name" tabIndex={-1}>
        {visible(name)} <Badge word={status.sync} /> <Badge word={status.condition} />
      </h1>
      {pass !== null && <PassBar pass={pass} isWhole={true} />}
      <Actions of={{ target: name, identity: "", holds: reply.holds, unknown: status.unknown }} />
      <Troubles reply={reply} />
      <Facts status={status} hasLease={reply.hasLease} />
      <StagePlace stages={reply.stages} name={name} />
      <ResourceList target={name} />
      <Passes key={name} target={name} />
      <p>
        <a href={pathOfHistory(name)}>All passes, and when live had drifted</a>
      </p>
    </>
  );
}

const reasonTones: { readonly [condition: string]: Tone } = { Stalled: "bad", Retired: "quiet" };

function Troubles({ reply: { status, holds } }: { readonly reply: TargetReply }) {
  const { condition, reason, message, invalid, unknown, gates, frozen, registryOnly = [] } = status;
  return (
    <>
      {reason !== null && (
        <Callout tone={reasonTones[condition] ?? "warn"} title={visible(reason)}>
          {message !== null && <p>{visible(message)}</p>}
        </Callout>
      )}
      {invalid.length > 0 && (
        <Callout tone="bad" title={`Invalid manifests (${invalid.length})`}>
          <Lines of={invalid} line={invalidLine} />
        </Callout>
      )}
      {unknown.length > 0 && (
        <Callout tone="bad" title="The outcome of these writes is unknown">
          <Lines of={unknown} line={(identity) => <code>{visible(identity)}</code>} />
        </Callout>
      )}
      {holds.length > 0 && (
        <Callout tone="warn" title="Held by a person">
          <Lines of={holds} line={holdLine} />
        </Callout>
      )}
      {frozen !== null && (
        <Callout tone="warn" title="Frozen: nothing is written">
          <p>
            {frozen.until === null ? "No end is known" : ["Until ", <Time at={frozen.until} />]}
            {frozen.reason !== null && `: ${visible(frozen.reason)}`}
          </p>
        </Callout>
      )}
      {gates !== undefined && gates.closed.length > 0 && (
        <Callout tone="warn" title="Gates that have not passed">
          <Lines of={gates.closed} line={gateLine} />
        </Callout>
      )}
      {registryOnly.length > 0 && (
        <Callout tone="quiet" title="Held by the registry alone">
          <Lines
            of={registryOnly}
            line={({ kind, count, identities }) => (
              <>
                {count ?? "an unknown number of"} {visible(kind)}
                {identities.length > 0 &&
                  `: ${visible(identities.join(", "))}${(count ?? 0) > identities.length ? ", …" : ""}`}
              </>
            )}
          />
        </Callout>
      )}
    </>
  );
}

function invalidLine({ identity, file, line, message, lastGood }: InvalidStatus) {
  return (
    <>
      <code>
        {visible(file ?? "")}
        {line !== null && `:${line}`}
      </code>{" "}
      {identity !== "" && <b>{visible(identity)}</b>} {visible(message)}
      <span class="soft">
        {" "}
        {lastGood === null ? (
          "Nothing was applied of it."
        ) : (
          <>
            What was applied <Age at={lastGood.at} />
            {lastGood.version !== null && ` (version ${lastGood.version})`} stays in force.
          </>
        )}
      </span>
    </>
  );
}

function holdLine({ what, reason, until, by }: HoldEntry) {
  return (
    <>
      <code>{visible(what)}</code> {visible(reason)} {by !== undefined && `(${visible(by)}) `}
      <span class="soft">until {until === "commit" ? "the next commit that changes it" : <Time at={until} />}</span>
    </>
  );
}

type ClosedGateOf = NonNullable<TargetStatus["gates"]>["closed"][number];

function gateLine({ identity, name, verdict, score, summary, place, at }: ClosedGateOf) {
  return (
    <>
      <code>{visible(identity)}</code> <b>{verdict === "fail" ? "failed" : "no answer"}</b> {visible(name)}
      {score !== null && ` (${score})`}: {visible(summary)}{" "}
      <span class="soft">
        {place !== null && `${visible(place.file)}:${place.line}, `}
        <Age at={at} />
      </span>
    </>
  );
}

function Facts({ status, hasLease }: { readonly status: TargetStatus; readonly hasLease: boolean }) {
  const { source, wantedRevision, appliedRevision, oldestUnapplied, lastPass, nextPassAt, nextFreeze, gates } = status;
  return (
    <dl class="facts">
      <Fact name="Source">{visible(source ?? "the local folder")}</Fact>
      <Fact name="Wanted">
        <Commit id={wantedRevision} none={lastPass === null ? "no commit" : "uncommitted"} />
      </Fact>
      <Fact name="Applied">
        <Commit id={appliedRevision} />
      </Fact>
      <Fact name="Oldest unapplied">
        {oldestUnapplied === null ? (
          "none"
        ) : (
          <>
            <Commit id={oldestUnapplied.commit} />, <Age at={oldestUnapplied.since} />
          </>
        )}
      </Fact>
      <Fact name="Last pass">
        {lastPass === null ? (
          "none yet"
        ) : (
          <>
            <Age at={lastPass.endedAt} />{" "}
            {lastPass.machine !== undefined && <span class="soft">on {visible(lastPass.machine)}</span>}
          </>
        )}
      </Fact>
      <Fact name="Next pass">{nextPassAt === null ? "–" : <Time at={nextPassAt} />}</Fact>
      {nextFreeze !== null && (
        <Fact name="Next freeze">
          <Time at={nextFreeze.from} />
        </Fact>
      )}
      {gates !== undefined && (
        <Fact name="Gates">
          {countsText({ passed: gates.passed, failed: gates.failed, "without an answer": gates.unanswered }) || "–"}
        </Fact>
      )}
      <Fact name="Resources in the last pass">{countsText(status.counts) || "–"}</Fact>
      <Fact name="Lease">{hasLease ? "held by this process" : "not held by this process"}</Fact>
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function StagePlace({ stages, name }: { readonly stages: readonly StageStatus[]; readonly name: string }) {
  const own = stages.flatMap((stage) =>
    stage.targets.filter(({ target }) => target === name).map((target) => ({ ...target, stage })),
  );
  return (
    <>
      {own.map(({ stage, state, message }) => (
        <p key={stage.name} class="stage-place">
          Stage <b>{visible(stage.name)}</b> <Badge word={state} />
          {message !== null && ` ${visible(message)}`}
          {stage.targets.length > 1 && (
            <span class="soft">
              {" "}
              with{" "}
              {stage.targets
                .filter(({ target }) => target !== name)
                .map(({ target }, at) => [at > 0 && ", ", <a href={pathOf(target)}>{visible(target)}</a>])}
            </span>
          )}
        </p>
      ))}
    </>
  );
}

const LATEST = 10;

function Passes({ target }: { readonly target: string }) {
  const latest = useSignal<readonly PassRecord[]>([]);
  useSignalEffect(() => {
    // Read again with the resources.
    resourcesVersion.value;
    const ended = new AbortController();
    readListOf<PassesReply>(target, `passes?limit=${LATEST}`, ended.signal).then(
      (reply) => {
        latest.value = reply.passes;
      },
      () => undefined,
    );
    return () => ended.abort();
  });
  if (latest.value.length === 0) return null;
  return (
    <section aria-labelledby="passes">
      <h2 id="passes">Last passes that changed something</h2>
      <table class="passes">
        <ColumnNames of={["Ended", "Commit", "Result", "What"]} />
        <tbody>
          {latest.value.map(({ endedAt, commit, result, reason, message, counts }) => (
            <tr key={`${endedAt} ${commit}`}>
              <td>
                <Age at={endedAt} />
              </td>
              <td>
                <Commit id={commit} none="uncommitted" />
              </td>
              <td>
                <Badge word={result} />
              </td>
              <td>{visible([reason, message].filter((text) => text !== null).join(": ") || countsText(counts))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
