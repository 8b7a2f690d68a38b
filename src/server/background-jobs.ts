import type { Context } from "./context.ts";
import { forgetReplies } from "./http/kept-replies.ts";
import { Wheel } from "./recurring-task.ts";
import { advanceRuns } from "./resources/job-run/advance.ts";
import { forgetLeases } from "./resources/lease/rows.ts";
import { forgetEndedTokens } from "./resources/personal-access-token/rows.ts";
import { rotateTokens } from "./resources/virtual-account/rotate.ts";
import { advanceRollouts } from "./rollouts/advance.ts";
import type { ServerKeys } from "./secrets/server-keys.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** What goes on by itself while the control plane is up. */
export type Wheels = AsyncDisposable & { readonly lookAt: (moment: number) => void };

/** Sets everything going that needs no request; `keyCheckSeconds` is null where keys cannot change. */
export function turnWheels(
  context: Context,
  { serverKeys, keyCheckSeconds }: { readonly serverKeys: ServerKeys; readonly keyCheckSeconds: number | null },
): Wheels {
  const { now } = context;
  const wheel = (what: string, work: () => Promise<number | null>) => wheelOf(what, work, context);
  const progress = wheel("rollouts and runs", () => advance(context));
  const rotation = wheel("rotation", () => rotateTokens(context));
  const upkeep = wheel("upkeep", () => keepUp(context));
  const keys = wheel("reading the keys again", async () => {
    await serverKeys.refresh();
    return keyCheckSeconds === null ? null : now() + keyCheckSeconds * 1000;
  });
  const uses = wheel("keeping when tokens were used", async () => {
    await context.tokenUses.keep();
    return now() + MINUTE;
  });
  for (const one of [rotation, upkeep, keys, uses]) one.at(now());
  const all = [progress, rotation, upkeep, keys, uses];
  return {
    lookAt: (moment) => progress.at(moment),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(all.map((one) => one.close()));
      await context.tokenUses
        .keep()
        .catch((error: unknown) => context.log.error({ err: error }, "when tokens were last used was not kept"));
    },
  };
}

/** A wheel that says when its work begins to fail, and when that is over, and not each time that it fails. */
function wheelOf(what: string, work: () => Promise<number | null>, { now, log }: Context): Wheel {
  let isFailing = false;
  const turn = async () => {
    const next = await work();
    if (isFailing) log.info(`${what}: goes on`);
    isFailing = false;
    return next;
  };
  return new Wheel(turn, now, (error) => {
    log[isFailing ? "debug" : "error"]({ err: error }, `${what} failed`);
    isFailing = true;
  });
}

async function advance(context: Context): Promise<number | null> {
  const moments = [await advanceRollouts(context), await advanceRuns(context)].filter((moment) => moment !== null);
  return moments.length === 0 ? null : Math.min(...moments);
}

async function keepUp(context: Context): Promise<number> {
  await context.store.write(async (transaction) => {
    await forgetReplies(transaction, context.now());
    await forgetEndedTokens(transaction, context.now());
    await forgetLeases(transaction, await context.store.time(transaction));
  });
  await context.signingKeys.renew("old");
  return context.now() + HOUR;
}
