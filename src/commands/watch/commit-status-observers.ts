import { resolve } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { createStatusWriter } from "../../daemon/commit-status/status-writer.ts";
import type { Meter } from "../../daemon/meter.ts";
import type { PassObserver } from "../../daemon/pass-observer.ts";
import { statusPlace } from "../../forge/status-request.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";
import { deliveryTo } from "./notifier.ts";

/** The observers that write the commit status of each applied commit; none if the source has no `commitStatus`. */
export function commitStatusObservers(
  { choice }: CommandTarget,
  { sources }: OperatorConfig,
  terminal: Terminal & { readonly meter: Meter | undefined },
): readonly PassObserver[] {
  const source = sources?.find(({ name }) => name === choice?.source?.name);
  if (choice === null || !source?.commitStatus) return [];
  const { provider, tokenFile, apiUrl } = source.commitStatus;
  const place = statusPlace(provider, source.url, apiUrl ?? null);
  if (place === null) {
    throw new HoldfastError(
      "invalid",
      `the configuration is refused: source ${source.name} has no host for commitStatus`,
      {
        hint: "leave commitStatus out, or give the address of the repository on its host",
      },
    );
  }
  const options = { ...place, target: choice.name, tokenFile: resolve(terminal.cwd, tokenFile) };
  return [createStatusWriter(options, deliveryTo(terminal, "commitStatuses"), terminal.stopping)];
}
