import { errorMessage } from "../contract/error-message.ts";
import type { InvocationOf } from "./command.ts";
import { type Login, loginServer, loginsOf, openIssuer, removeLogin } from "./connection/login.ts";
import type { logout } from "./declarations/logout.ts";
import { serverOf } from "./login.ts";
import { say, sentence, writeResult } from "./terminal.ts";

/** Ends the logins of a control plane. */
export async function run(given: InvocationOf<typeof logout>): Promise<number> {
  const { server, invocation } = await serverOf(given);
  const { terminal } = invocation;
  const logins = loginsOf(server, terminal);
  const lines = [`there is no login of ${loginServer(server)}`];
  if (logins.length > 0) lines.pop();
  for (const login of logins) {
    let revoked = false;
    await removeLogin(login, terminal, async (stored) => {
      revoked = await isRevoked(stored, invocation);
    });
    lines.push(`the login of ${login.server} at ${login.issuer} is removed; ${remainsText(login, revoked)}`);
  }
  await writeResult(terminal, lines.map((line) => sentence(line, terminal.stdout)).join(""));
  return 0;
}

// A control plane checks a signed token by itself, whatever the issuer says of it.
function remainsText({ expiresAt, refreshToken }: Login, revoked: boolean): string {
  const end = expiresAt === null ? "" : ` until ${new Date(expiresAt).toISOString()}`;
  const token = `the token, of which this was the copy, stays valid${end}`;
  if (refreshToken === null) return token;
  return revoked ? `the issuer renews it no more, and ${token}` : `the issuer did not revoke it, and ${token}`;
}

/** Has the issuer renew the login no more; false where that is not possible. */
async function isRevoked({ issuer: address, ...login }: Login, invocation: IssuerUse): Promise<boolean> {
  const { terminal } = invocation;
  if (login.refreshToken === null) return false;
  const refreshToken = login.refreshToken.open();
  try {
    const { asIssuerError, tokenRevocation } = await import("../http/oidc-issuer.ts");
    const issuer = await openIssuer({ issuer: address, ...login }, invocation);
    if (issuer.serverMetadata().revocation_endpoint === undefined) return false;
    await asIssuerError(() => tokenRevocation(issuer, refreshToken));
    return true;
  } catch (error) {
    terminal.stopping.throwIfAborted();
    say(terminal, `the issuer ${address} has not revoked the login: ${errorMessage(error)}`);
    return false;
  }
}

type IssuerUse = Parameters<typeof openIssuer>[1];
