import { useSignal } from "@preact/signals";
import type { FleetReply, FleetTarget, StageStatus } from "../contract/generated/output.ts";
import { address, go, pathOf, withFilters } from "./address.ts";
import { fleet, passes } from "./daemon.ts";
import { Age, Badge, Callout, Commit, countsText, Lasting, visible } from "./parts.tsx";
import { PassBar } from "./pass-bar.tsx";

/** All targets, those that need somebody first. */
export function FleetScreen() {
  const reply = fleet.value;
  if (reply === null) return <p class="soft">Reading…</p>;
  return (
    <>
      <h1 tabIndex={-1}>Targets</h1>
      {reply.configurationRefused !== null && (
        <Callout tone="bad" title="The changed configuration is refused; the last valid one is in force">
          <p>{visible(reply.configurationRefused)}</p>
        </Callout>
      )}
      {reply.stateUnreadableSince !== null && (
        <Callout tone="bad" title="The state cannot be read">
          <p>
            Its database has not answered since <Age at={reply.stateUnreadableSince} />. What is shown is older.
          </p>
        </Callout>
      )}
      <Summary reply={reply} />
      {reply.stages.length > 1 && <Stages stages={reply.stages} />}
      <TargetList targets={reply.targets} />
    </>
  );
}

function Summary({ reply: { sync, condition, oldestUnapplied } }: { readonly reply: FleetReply }) {
  return (
    <div class="summary">
      <Tiles filter="sync" counts={sync} label="By sync" />
      <Tiles filter="condition" counts={condition} label="By condition" />
      <div class="oldest">
        <span class="soft">Oldest unapplied commit</span>
        {oldestUnapplied === null ? (
          <span>none waits</span>
        ) : (
          <span>
            <Commit id={oldestUnapplied.commit} /> on{" "}
            <a href={pathOf(oldestUnapplied.target)}>{visible(oldestUnapplied.target)}</a>,{" "}
            <Age at={oldestUnapplied.since} />
          </span>
        )}
      </div>
    </div>
  );
}

/** Counts that filter the list when they are chosen. */
function Tiles(props: {
  readonly filter: string;
  readonly counts: { readonly [name: string]: number };
  readonly label: string;
}) {
  const { filter, counts, label } = props;
  const chosen = address.value.filters.get(filter);
  const named = Object.entries(counts).filter(([name, count]) => count > 0 || name === chosen || filter === "sync");
  return (
    <nav class="tiles" aria-label={label}>
      {named.map(([name, count]) => (
        <a
          key={name}
          class={chosen === name ? "tile chosen" : "tile"}
          aria-current={chosen === name}
          href={withFilters({ [filter]: chosen === name ? "" : name })}
        >
          <b>{count.toLocaleString("en")}</b>
          <Badge word={name} />
        </a>
      ))}
    </nav>
  );
}

function Stages({ stages }: { readonly stages: readonly StageStatus[] }) {
  return (
    <section aria-labelledby="stages">
      <h2 id="stages">Stages</h2>
      <ol class="stages">
        {stages.map(({ name, after, state, targets }) => (
          <li key={name}>
            <h3>
              {visible(name)} <Badge word={state} />
            </h3>
            {after.length > 0 && <p class="soft">after {visible(after.join(", "))}</p>}
            <ul>
              {targets.map((one) => (
                <li key={one.target}>
                  <a href={pathOf(one.target)}>{visible(one.target)}</a> <Badge word={one.state} />{" "}
                  <Commit id={one.commit} />
                  {one.message !== null && <span class="soft"> {visible(one.message)}</span>}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  );
}

const FIRST = 200;

function countText(targets: number): string {
  return targets === 1 ? "1 target" : `${targets} targets`;
}

function TargetList({ targets }: { readonly targets: readonly FleetTarget[] }) {
  const most = useSignal(FIRST);
  const { filters } = address.value;
  const text = filters.get("q") ?? "";
  const found = targets
    .filter((one) => isMatching(one, filters))
    .toSorted((a, b) => rankOf(a) - rankOf(b) || (a.target < b.target ? -1 : 1));
  return (
    <section aria-labelledby="targets">
      <h2 id="targets" class="unseen">
        List of targets
      </h2>
      <div class="tools">
        <label>
          <span class="unseen">Search in names, sources and messages</span>
          <input
            type="search"
            placeholder="Search"
            value={text}
            onInput={(event) => go(withFilters({ q: event.currentTarget.value }), { isSame: true })}
          />
        </label>
        <span class="soft" role="status">
          {found.length === targets.length
            ? countText(targets.length)
            : `${found.length} of ${countText(targets.length)}`}
        </span>
        {filters.size > 0 && <a href="/">Show all</a>}
      </div>
      <ul class="targets">
        {found.slice(0, most.value).map((one) => (
          <TargetRow key={one.target} one={one} />
        ))}
      </ul>
      {found.length > most.value && (
        <button type="button" onClick={() => (most.value += FIRST)}>
          Show {Math.min(FIRST, found.length - most.value)} more
        </button>
      )}
      {found.length === 0 && <p class="soft">No target matches.</p>}
    </section>
  );
}

function isMatching(
  { target, source, sync, condition, reason, message }: FleetTarget,
  filters: URLSearchParams,
): boolean {
  const text = (filters.get("q") ?? "").toLowerCase();
  const isOf = (name: string, value: string): boolean => !filters.has(name) || filters.get(name) === value;
  const texts = [target, source, reason, message];
  return (
    isOf("sync", sync) &&
    isOf("condition", condition) &&
    (text === "" || texts.some((one) => one?.toLowerCase().includes(text)))
  );
}

/** What is wrong comes first. */
function rankOf({ condition, sync, invalid, unknown }: FleetTarget): number {
  if (condition === "Retired") return 9;
  if (condition === "Stalled") return 0;
  if (unknown > 0 || invalid > 0) return 1;
  if (sync === "OutOfSync") return condition === "Held" ? 3 : 2;
  if (sync === "Unknown") return 4;
  return condition === "Ready" ? 8 : 5;
}

function TargetRow({ one }: { readonly one: FleetTarget }) {
  const { target, source, sync, condition, reason, message, wantedRevision, appliedRevision, oldestUnapplied } = one;
  const pass = passes.value.get(target) ?? null;
  const marks = [
    ["bad", one.invalid > 0 && `${one.invalid} invalid`],
    ["bad", one.unknown > 0 && `${one.unknown} unknown`],
    ["warn", one.closedGates > 0 && `${one.closedGates} not passed`],
    ["warn", one.held > 0 && `${one.held} held`],
    ["warn", one.frozen !== null && "frozen"],
  ].flatMap(([tone, mark]) => (mark === false ? [] : [{ tone, mark }]));
  return (
    <li class="target">
      <div class="who">
        <h3>
          <a href={pathOf(target)}>{visible(target)}</a>
        </h3>
        <span class="soft">{visible(source ?? "the local folder")}</span>
      </div>
      <div class="state">
        <div class="badges">
          <Badge word={sync} />
          <Badge word={condition} />
          {marks.map(({ tone, mark }) => (
            <span key={mark} class={`badge ${tone}`}>
              {mark}
            </span>
          ))}
        </div>
        {pass !== null && <PassBar pass={pass} />}
        {reason !== null && (
          <p>
            <b>{visible(reason)}</b>
            {message !== null && `: ${visible(message)}`}
          </p>
        )}
      </div>
      <div class="commits">
        <Commit id={appliedRevision} none="nothing applied" />
        {wantedRevision !== appliedRevision && wantedRevision !== null && (
          <>
            {" → "}
            <Commit id={wantedRevision} />
          </>
        )}
        {oldestUnapplied !== null && (
          <p class="late">
            waits for <Lasting since={oldestUnapplied.since} />
          </p>
        )}
        <p class="soft">{countsText(one.counts)}</p>
      </div>
      <div class="when soft">{one.lastPass === null ? "no pass yet" : <Age at={one.lastPass.endedAt} />}</div>
    </li>
  );
}
