import type { Recorded } from "../../src/core/recorded.ts";
import type { Intent } from "../../src/state/ledger.ts";

/** A secret that no output and no file may show. */
export const CANARY = "CANARY-3f9c1d";

/** A receipt of a service, with a secret in it. */
export const receipt = (name = "api"): Recorded => ({
  identity: `service/c1:ws1/${name}`,
  kind: "service",
  id: "id-1",
  written: { type: "service", name, env: { DB_PASSWORD: CANARY } },
  returned: { type: "service", name, env: { DB_PASSWORD: CANARY }, replicas: 1 },
  version: 3,
  at: 1_700_000_000_000,
});

/** An intent to write an account, with a secret in it. */
export const intent = (id = "intent-1"): Intent => ({
  id,
  identity: "virtual-account/ci",
  kind: "virtual-account",
  operation: "putVirtualAccount",
  manifest: { type: "virtual-account", name: "ci", secret: CANARY },
  ignored: [],
  versionBefore: null,
  creates: true,
  at: 1_699_999_970_000,
  deadline: 1_700_000_000_000,
  key: `key-${CANARY}`,
});
