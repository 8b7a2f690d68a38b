// src/commands/apply: what apply asks, prints and records beside its pass. See docs/plan.md#what-is-dangerous.

import { errorMessage } from "../../contract/error-message.ts";
import { hasErrors } from "../../core/diagnostic.ts";
import type { ApplyEvent } from "../../core/report/events.ts";
import { applyConclusion } from "../../core/report/pass-result.ts";
import { runWarning } from "../../core/run-warning.ts";
import { isEverything } from "../../core/selection/select.ts";
import type { PassObserver } from "../../daemon/pass-observer.ts";
import { findRepository } from "../../source/git/find-repository.ts";
import { temporaryRepository } from "../../source/git/temporary-repository.ts";
import { createPublishedRef } from "../../source/remote/published-ref.ts";
import { makeFolder } from "../../store/make-folder.ts";
import type { Invocation } from "../command.ts";
import { tell } from "../output/log-stream.ts";
import type { CommandTarget, TargetUse } from "../targets/create-target.ts";

/** Publishes the last applied commit as a ref of the repository. */
export type Publisher = AsyncDisposable & {
  /** Reads the ref unless its commit is known: the ref is moved only from a known commit. */
  readonly begin: () => void;
  /** Moves the ref to the commit of a complete apply; a failure is only a warning. */
  readonly publish: (applied: ApplyEvent) => Promise<void>;
};

type Known =
  | { readonly is: "read"; readonly commit: string | null }
  | { readonly is: "failed"; readonly error: unknown };

const NO_PUBLISHER: Publisher = {
  begin: () => undefined,
  publish: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
};

/** Creates the publisher of a target; it does nothing if the target has no `publishRef`. */
export function appliedRefPublisher(
  target: CommandTarget,
  { flags, terminal }: Invocation,
  meter?: TargetUse["meter"],
): Publisher {
  const { choice, source } = target;
  if (!choice?.publish) return NO_PUBLISHER;
  const { stderr, stopping } = terminal;
  const ended = new AbortController();
  const signal = AbortSignal.any([stopping, ended.signal]);
  const published = createPublishedRef({ ...choice.publish, clock: terminal.clock });
  let known: Promise<Known> | null = null;
  const read = (): Promise<Known> =>
    inRepository((folder) => published.read(folder, { signal })).then(
      (commit) => ({ is: "read", commit }) as const,
      (error: unknown) => ({ is: "failed", error }) as const,
    );
  const isDebug = flags.logLevel === "debug" || flags.logLevel === "trace";
  const say = (message: string): void => {
    if (isDebug) tell(stderr, { event: "published", message }, () => `${message}\n`);
  };
  const warn = (why: string): void => {
    known = null;
    meter?.count("refPushes", choice.name, "failed");
    terminal.warnings.add(runWarning("not-published", `${published.ref} was not published: ${why}`));
  };
  const publish = async (commit: string): Promise<void> => {
    known ??= read();
    const before = await known;
    if (before.is === "failed") throw before.error;
    if (before.commit === commit) return;
    const expected = before.commit;
    const moved = await inRepository((folder) => published.move(commit, { folder, expected }, { signal }));
    if (moved === "lost") {
      const now = await read();
      // Another writer that applied the same commit has published it.
      if (now.is !== "read" || now.commit !== commit) return warn("another writer moved the ref; it was not changed");
    }
    known = Promise.resolve({ is: "read", commit });
    meter?.count("refPushes", choice.name, "published");
    say(`${published.ref} is at ${commit.slice(0, 12)}`);
  };
  return {
    begin: () => {
      known ??= read();
    },
    publish: async (applied) => {
      const left = leftOf(applied) ?? (isEverything(target.rules({}).selection) ? null : "only a part was selected");
      const commit = applied.report.revision;
      if (left !== null || commit === null) {
        say(`${published.ref} is not published: ${left ?? "the source is no commit"}`);
        return;
      }
      try {
        await publish(commit);
      } catch (error) {
        if (!signal.aborted) warn(errorMessage(error));
      }
    },
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      await known;
    },
  };

  // A temporary repository, so that git uses neither the configuration nor the hooks of a checkout.
  async function inRepository<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
    if (target.remote !== null) {
      const { gitFolder } = target.remote.repository;
      await makeFolder(gitFolder);
      return work(gitFolder);
    }
    const found = await findRepository(source.root, { signal }, { cwd: source.cwd });
    if (found === null) throw new TypeError(`${source.root} is in no git repository`);
    using repository = temporaryRepository(found);
    return await work(repository.gitFolder);
  }
}

/** Publishes the commits that a daemon applies; its passes do not wait for it. */
export function publishObserver(publisher: Publisher): PassObserver {
  let publishing = Promise.resolve();
  return {
    begin: publisher.begin,
    emit: (event) => {
      if (event.what === "applied") publishing = publishing.then(() => publisher.publish(event));
    },
    failure: () => undefined,
  };
}

// A partial pass skips only what an earlier pass has applied, so it can be complete.
function leftOf(event: ApplyEvent): string | null {
  const { complete, diagnostics } = event.plan;
  if (!complete || hasErrors(diagnostics)) return "not everything could be read";
  return applyConclusion(event).result === "applied" ? null : "the apply is not complete";
}
