import type { Webhook } from "../daemon/http/webhooks.ts";
import { lastGoodSecret } from "./last-good-secret.ts";
import type { WatchedTarget } from "./watched-target.ts";

/** The webhooks of the sources that have a secret: a push concerns each target that follows the source. */
export function webhooksOf(watching: readonly WatchedTarget[]): ReadonlyMap<string, Webhook> {
  const groups = Map.groupBy(watching, ({ target }) => target.choice?.source ?? null);
  return new Map(
    [...groups].flatMap(([source, members]) => {
      const file = source?.webhookSecretFile ?? null;
      if (source === null || file === null) return [];
      const ring = (): void => {
        for (const { trigger } of members) trigger.ringForChanges("webhook");
      };
      return [[source.name, { secret: lastGoodSecret(file), ring }] as const];
    }),
  );
}
