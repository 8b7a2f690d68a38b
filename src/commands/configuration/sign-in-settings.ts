import { resolve } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import type { SignInSettings } from "../../daemon/api/dashboard-source.ts";
import { readGivenText, whyUnreadable } from "../../files/read-given-file.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import type { Terminal } from "../terminal.ts";
import { secretFileReader } from "./secret-file.ts";

/** Refuses a configuration by which people sign in to the dashboard, and that does not say where. */
export function requireSignIn({ dashboard }: OperatorConfig): void {
  if (dashboard?.access !== "oidc" || dashboard.oidc) return;
  throw new HoldfastError("invalid", "dashboard.access is oidc, and dashboard.oidc is missing", {
    hint: "dashboard.oidc names the issuer, the client, the file of its secret, and the address of the dashboard",
  });
}

/** Where people sign in to the dashboard; null where they do not. */
export function signInSettings({ dashboard }: OperatorConfig, { cwd, env }: Terminal): SignInSettings | null {
  if (dashboard?.access !== "oidc" || !dashboard.oidc) return null;
  const { issuer, clientId, url, groupsClaim, caFile, clientSecretFile, readers, actors } = dashboard.oidc;
  return {
    ...{ issuer, clientId, url, env, groupsClaim: groupsClaim ?? "groups" },
    clientSecret: secretFileReader(resolve(cwd, clientSecretFile)),
    ca: caFile ? readAuthority(resolve(cwd, caFile)) : null,
    readers: readers ?? [],
    actors: actors ?? [],
  };
}

function readAuthority(path: string): string {
  try {
    return readGivenText(path);
  } catch (cause) {
    throw new HoldfastError("invalid", `dashboard.oidc.caFile ${whyUnreadable(cause)}`, { cause });
  }
}
