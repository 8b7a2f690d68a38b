import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type {
  PlanBlock,
  PlanGroup,
  PlanPart,
  PlanReply,
  PlanStepView,
  PlansReply,
  ReviewedPlan,
} from "../contract/generated/output.ts";
import { pathOf } from "./address.ts";
import { fleet, readReply, resourcesVersion } from "./daemon.ts";
import { Age, Callout, Commit, countsText, Lines, visible } from "./parts.tsx";

const PAGE = 50;

/** The plans of pull requests that were sent, the latest first. */
export function ReviewList() {
  const plans = useSignal<readonly ReviewedPlan[] | null>(null);
  const next = useSignal<string | null>(null);
  const refused = useSignal<string | null>(null);
  const readFirst = async (signal: AbortSignal): Promise<void> => {
    const reply = await readReply<PlansReply>(`/plans?limit=${PAGE}`, signal);
    const first = new Set(reply.plans.map(({ id }) => id));
    const others = (plans.peek() ?? []).filter(({ id }) => !first.has(id));
    // What was asked for beyond the first page stays.
    if (others.length === 0) next.value = reply.next;
    plans.value = [...reply.plans, ...others];
    refused.value = null;
  };
  const readMore = async (after: string): Promise<void> => {
    const reply = await readReply<PlansReply>(`/plans?limit=${PAGE}&after=${encodeURIComponent(after)}`);
    const known = new Set(plans.peek()?.map(({ id }) => id));
    plans.value = [...(plans.peek() ?? []), ...reply.plans.filter(({ id }) => !known.has(id))];
    next.value = reply.next;
  };
  useSignalEffect(() => {
    // Read again with everything else.
    resourcesVersion.value;
    const ended = new AbortController();
    readFirst(ended.signal).catch((error: unknown) => {
      if (!ended.signal.aborted) refused.value = messageOf(error);
    });
    return () => ended.abort();
  });
  const shown = plans.value;
  return (
    <>
      <h1 tabIndex={-1}>Reviews</h1>
      {refused.value !== null && <p role="status">{visible(refused.value)}</p>}
      {shown === null && refused.value === null && <p class="soft">Reading…</p>}
      {shown !== null && shown.length === 0 && (
        <p class="soft">
          No plan was sent. A pipeline sends one with <code>holdfast comment PLAN --publish</code>.
        </p>
      )}
      {shown !== null && shown.length > 0 && (
        <ul class="targets" aria-label="Plans of pull requests">
          {shown.map((plan) => (
            <ReviewRow key={plan.id} plan={plan} />
          ))}
        </ul>
      )}
      {next.value !== null && (
        <button
          type="button"
          onClick={() => {
            readMore(next.value ?? "").catch((error: unknown) => {
              refused.value = messageOf(error);
            });
          }}
        >
          Show more
        </button>
      )}
    </>
  );
}

function ReviewRow({ plan }: { readonly plan: ReviewedPlan }) {
  const { id, repository, name, commit, at } = plan;
  return (
    <li class="target">
      <div class="who">
        <h2 class="review-name">
          <a href={`/reviews/${id}`}>{titleOf(plan)}</a>
        </h2>
        <span class="soft">{visible(repository)}</span>
      </div>
      <div class="state">
        <Marks plan={plan} />
        <p>{effectOf(plan)}</p>
      </div>
      <div class="commits">
        <span class="soft">Commit</span> <Commit id={commit} /> <span class="soft">{visible(name)}</span>
      </div>
      <div class="when">
        <Age at={at} />
      </div>
    </li>
  );
}

function titleOf({ forge, pullRequest }: ReviewedPlan): string {
  return forge === "gitlab" ? `Merge request ${pullRequest}` : `Pull request ${pullRequest}`;
}

function Marks({ plan: { verified, isGood } }: { readonly plan: ReviewedPlan }) {
  return (
    <span class="badges">
      {verified ? <Mark tone="good" text="verified" /> : <Mark tone="warn" text="unverified" />}{" "}
      {!isGood && <Mark tone="bad" text="blocked or incomplete" />}
    </span>
  );
}

function Mark({ tone, text }: { readonly tone: "good" | "warn" | "bad"; readonly text: string }) {
  return <span class={`badge ${tone}`}>{text}</span>;
}

function effectOf({ counts, others, targets }: ReviewedPlan): string {
  const { create, update, ensure, block, orphan } = counts;
  const own = countsText({
    "to create": create,
    "to update": update,
    "to ensure": ensure,
    blocked: block,
    [orphan === 1 ? "orphan" : "orphans"]: orphan,
  });
  const on = targets === 1 ? "" : ` on ${targets} targets`;
  const apart = others === 0 ? "" : `; not from it: ${others.toLocaleString("en")}`;
  return `${own === "" ? "no changes" : own}${on}${apart}`;
}

/** One plan of a pull request: what it does, by cause. */
export function ReviewScreen({ id }: { readonly id: string }) {
  const reply = useSignal<PlanReply | null>(null);
  const refused = useSignal<string | null>(null);
  useSignalEffect(() => {
    resourcesVersion.value;
    const ended = new AbortController();
    readReply<PlanReply>(`/plans/${encodeURIComponent(id)}`, ended.signal).then(
      (found) => {
        // What is open stays open while nothing else was sent.
        if (reply.peek()?.plan.at !== found.plan.at) reply.value = found;
        refused.value = null;
      },
      (error: unknown) => {
        if (!ended.signal.aborted) refused.value = messageOf(error);
      },
    );
    return () => ended.abort();
  });
  const shown = reply.value;
  if (shown === null) {
    return (
      <>
        <Path />
        <h1 key="name" tabIndex={-1}>
          Review
        </h1>
        <p class="soft" role="status">
          {refused.value === null ? "Reading…" : visible(refused.value)}
        </p>
      </>
    );
  }
  const { plan, parts, quiet, leftOut } = shown;
  return (
    <>
      <Path />
      <h1 key="name" tabIndex={-1}>
        {titleOf(plan)} <Marks plan={plan} />
      </h1>
      <Facts plan={plan} />
      {!plan.verified && (
        <Callout tone="warn" title="This plan is not verified">
          <p>{whyUnverified(parts)} Who may send plans could have written anything.</p>
        </Callout>
      )}
      {parts.map((part, at) => (
        <Part key={`${plan.at} ${at}`} part={part} id={`part-${at}`} />
      ))}
      {quiet.length > 0 && <p>No changes on {visible(quiet.join(", "))}.</p>}
      {parts.length === 0 && quiet.length === 0 && <p>No changes.</p>}
      {leftOut > 0 && (
        <p>
          <b>{leftOut.toLocaleString("en")} more are not shown here.</b> The job that made the plan has all of them.
        </p>
      )}
    </>
  );
}

function Path() {
  return (
    <p class="path">
      <a href="/reviews">Reviews</a>
    </p>
  );
}

function Facts({ plan }: { readonly plan: ReviewedPlan }) {
  const { repository, pullRequest, url, commit, name, at } = plan;
  const address = url === null ? null : URL.parse(url);
  const isWeb = address !== null && (address.protocol === "https:" || address.protocol === "http:");
  return (
    <dl class="facts">
      <Fact name="Pull request">
        {isWeb ? (
          <a href={address.href} rel="noreferrer">
            {visible(repository)} #{pullRequest}
          </a>
        ) : (
          <>
            {visible(repository)} #{pullRequest}
          </>
        )}
      </Fact>
      <Fact name="Commit">
        <Commit id={commit} />
      </Fact>
      <Fact name="Name">{visible(name)}</Fact>
      <Fact name="Sent">
        <Age at={at} />
      </Fact>
      <Fact name="Effect">{effectOf(plan)}</Fact>
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const sealTexts: { readonly [seal in PlanPart["seal"]]: string } = {
  valid: "A job without secrets made it, or it has no plan of some target.",
  "other-key": "It is signed with a key that this daemon does not have.",
  broken: "Its signature is not that of its content.",
  none: "It is not signed.",
};

function whyUnverified(parts: readonly PlanPart[]): string {
  const order = ["broken", "other-key", "none", "valid"] as const;
  const worst = order.find((seal) => parts.some((part) => part.seal === seal)) ?? "none";
  return sealTexts[worst];
}

function Part({ part, id }: { readonly part: PlanPart; readonly id: string }) {
  const { target, server, revision, verdict, isGood, notes, blocks } = part;
  const isKnown = target !== null && fleet.value?.targets.some((one) => one.target === target) === true;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {target === null ? "" : isKnown ? <a href={pathOf(target)}>{visible(target)}</a> : visible(target)}
        {target !== null && ": "}
        {visible(verdict)} {!isGood && <Mark tone="bad" text="blocked or incomplete" />}
      </h2>
      {server !== null && (
        <p class="soft">
          Control plane <code>{visible(server)}</code>, planned at <Commit id={revision} none="no commit" />
        </p>
      )}
      {notes.length > 0 && <Lines of={notes} line={(note) => visible(note)} />}
      {blocks.map((block) => (
        <Block key={block.name} block={block} />
      ))}
    </section>
  );
}

/** So many resources of a block are shown without being asked for. */
const OPEN = 50;

function Block({ block: { name, title, explanation, resources, groups } }: { readonly block: PlanBlock }) {
  return (
    <div class="plan-block">
      <h3>
        {title}: {resources === 1 ? "1 resource" : `${resources.toLocaleString("en")} resources`}
      </h3>
      {explanation !== null && <p class="soft">{visible(explanation)}</p>}
      {groups.map((group) => (
        <Group key={group.group ?? ""} group={group} isOpen={name === "change" && resources <= OPEN} />
      ))}
    </div>
  );
}

function Group({
  group: { group, resources, steps },
  isOpen,
}: {
  readonly group: PlanGroup;
  readonly isOpen: boolean;
}) {
  const title = `${group === null ? "tenant" : visible(group)}: ${resources.toLocaleString("en")}`;
  return (
    <Fold title={title} isOpen={isOpen}>
      <ul class="lines steps">
        {steps.map((step, at) => (
          <li key={at}>
            <Step step={step} />
          </li>
        ))}
      </ul>
    </Fold>
  );
}

const glyphs: { readonly [action: string]: string } = {
  create: "+",
  update: "~",
  keep: "=",
  block: "!",
  ensure: "?",
  orphan: "○",
};

function Step({ step }: { readonly step: PlanStepView }) {
  const { action, identity, file, line, risks, alsoReverts, notes, diff } = step;
  const title = (
    <>
      <span aria-hidden="true">{glyphs[action] ?? ""} </span>
      <span class="unseen">{visible(action)} </span>
      <code>{visible(identity)}</code> {risks.length > 0 && <Mark tone="bad" text="dangerous" />}{" "}
      {file !== null && (
        <span class="soft">
          {visible(file)}:{line ?? 1}
        </span>
      )}
    </>
  );
  const says = [...risks, ...(alsoReverts ? ["also reverts what is not part of this change"] : []), ...notes];
  if (says.length === 0 && diff.length === 0) return title;
  return (
    <Fold title={title} isOpen={false}>
      {says.map((text, at) => (
        <p key={at}>{visible(text)}</p>
      ))}
      {diff.length > 0 && <Diff lines={diff} />}
    </Fold>
  );
}

const kinds: { readonly [sign: string]: string } = { "+": "added", "-": "removed", "@": "field" };

function Diff({ lines }: { readonly lines: readonly string[] }) {
  return (
    <pre class="diff">
      {lines.map((line, at) => (
        <span key={at} class={kinds[line.slice(0, 1)] ?? ""}>
          {`${visible(line)}\n`}
        </span>
      ))}
    </pre>
  );
}

/** What is behind a title, which is made when it is opened: a plan may have ten thousand resources. */
function Fold({
  title,
  isOpen,
  children,
}: {
  readonly title: ComponentChildren;
  readonly isOpen: boolean;
  readonly children: ComponentChildren;
}) {
  const isShown = useSignal(isOpen);
  return (
    <details
      open={isOpen}
      onToggle={(event) => {
        if (event.currentTarget.open) isShown.value = true;
      }}
    >
      <summary>{title}</summary>
      {isShown.value && children}
    </details>
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "the daemon does not answer";
}
