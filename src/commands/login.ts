import { ClientError } from "../client/client-error.ts";
import { connect } from "../client/connect.ts";
import { Secret } from "../contract/secret.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Issuer } from "../http/oidc-issuer.ts";
import { printable } from "../render/escape.ts";
import type { OperatorConfig } from "../source/read-config.ts";
import { type InvocationOf, missingFlags } from "./command.ts";
import {
  audienceParameters,
  issuerFailure,
  type Login,
  loginServer,
  openIssuer,
  storeLogin,
} from "./connection/login.ts";
import { connectOptions } from "./connection/open-connection.ts";
import { namedServer } from "./connection/server-choice.ts";
import type { login } from "./declarations/login.ts";
import type { logout } from "./declarations/logout.ts";
import { findTargets, onlyTarget, usableTarget } from "./targets/find-targets.ts";
import { invocationFor, operatorKeysOf } from "./targets/server-of-target.ts";
import { say, sentence, writeResult } from "./terminal.ts";

type LoginInvocation = InvocationOf<typeof login>;
type Chosen = Pick<Login, "server" | "issuer" | "clientId" | "audience"> & { readonly scope: string | null };

/** Signs in by the device flow of an issuer, and keeps the tokens for one control plane. */
export async function run(given: LoginInvocation): Promise<number> {
  const { server, operator, invocation } = await serverOf(given);
  const chosen = choose(server, operator.login ?? {}, invocation);
  const { terminal } = invocation;
  // Says so where its token would travel in clear.
  namedServer(server, { server, embedded: false, tokenFile: null }, terminal);
  const issuer = await openIssuer(chosen, invocation);
  const signedIn = await signIn(issuer, chosen, invocation);
  const subject = await subjectOf(signedIn, invocation);
  await storeLogin(signedIn, terminal);
  const { HOLDFAST_TOKEN: token, HOLDFAST_TOKEN_FILE: file } = terminal.env;
  if (token || file || operator.tokenFile) {
    const other = operator.tokenFile
      ? "tokenFile of the configuration"
      : file
        ? "HOLDFAST_TOKEN_FILE"
        : "HOLDFAST_TOKEN";
    say(terminal, `${other} gives another token, which commands use before the login`);
  }
  const end = signedIn.expiresAt === null ? "" : `; valid until ${new Date(signedIn.expiresAt).toISOString()}`;
  const renewal = signedIn.refreshToken === null ? "; sign in again then" : ", and renewed when it ends";
  const who = subject === null ? "" : ` as ${subject}`;
  await writeResult(terminal, sentence(`signed in to ${signedIn.server}${who}${end}${renewal}`, terminal.stdout));
  return 0;
}

/** The address of the one control plane that a command is for, and the operator keys that count for it. */
export async function serverOf<Given extends LoginInvocation | InvocationOf<typeof logout>>(
  given: Given,
): Promise<{
  readonly server: string;
  readonly operator: OperatorConfig;
  readonly invocation: Given & LoginInvocation;
}> {
  await using opened = await findTargets(given, { reading: true, isCommitOptional: true });
  const { choice } = usableTarget(onlyTarget(opened, given.flags), { reading: true });
  const invocation = { ...given, ...(choice === null ? given : invocationFor(choice, given)) };
  const operator = { ...opened.operator, ...operatorKeysOf(choice) };
  const server = choice?.server ?? given.flags.server ?? operator.server;
  if (typeof server === "string") return { server, operator, invocation };
  throw new HoldfastError("invalid", "no control plane is named", {
    hint: "name one with --server URL (or HOLDFAST_SERVER); the embedded one needs no login",
  });
}

function choose(server: string, byDefault: NonNullable<OperatorConfig["login"]>, { flags }: LoginInvocation): Chosen {
  const issuer = flags.issuer ?? byDefault.issuer ?? undefined;
  const clientId = flags.clientId ?? byDefault.clientId ?? undefined;
  if (issuer === undefined || clientId === undefined) {
    throw missingFlags(
      { "--issuer": issuer, "--client-id": clientId },
      "whoever runs the control plane knows them; `login` of the configuration can have them too",
    );
  }
  const audience = flags.audience ?? byDefault.audience ?? null;
  return { server: loginServer(server), issuer, clientId, audience, scope: flags.scope ?? byDefault.scope ?? null };
}

async function signIn(issuer: Issuer, chosen: Chosen, { terminal }: LoginInvocation): Promise<Login> {
  const { asIssuerError, bearerTokenFor, initiateDeviceAuthorization, pollDeviceAuthorizationGrant, usualScopes } =
    await import("../http/oidc-issuer.ts");
  const { scope, ...kept } = chosen;
  if (issuer.serverMetadata().device_authorization_endpoint === undefined) {
    throw new HoldfastError("error", `the issuer ${printable(chosen.issuer)} has no device flow`, {
      hint: "ask whoever runs it to allow it, or use a personal access token of the control plane",
    });
  }
  const asked = { scope: scope ?? usualScopes(issuer, USUAL), ...audienceParameters(chosen.audience) };
  const { stopping: signal } = terminal;
  const tokens = await asIssuerError(async () => {
    const device = await initiateDeviceAuthorization(issuer, asked);
    const where = device.verification_uri_complete ?? device.verification_uri;
    say(terminal, `open ${where} in a browser, and confirm the code ${device.user_code}`);
    return pollDeviceAuthorizationGrant(issuer, device, audienceParameters(chosen.audience), { signal });
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw issuerFailure(chosen.issuer, cause, "nothing was stored");
  });
  const bearer = bearerTokenFor(chosen.audience ?? chosen.clientId, tokens);
  if (bearer === null) {
    const audience = printable(chosen.audience ?? chosen.clientId);
    throw new HoldfastError("error", `the issuer returned no signed token for the audience ${audience}`, {
      hint: "nothing was stored: name the audience that the control plane expects with --audience, and allow it at the issuer",
    });
  }
  const refreshToken = tokens.refresh_token === undefined ? null : new Secret(tokens.refresh_token);
  return { ...kept, token: new Secret(bearer.token), refreshToken, expiresAt: bearer.expiresAt };
}

const USUAL = ["openid", "email", "profile", "groups", "offline_access"];

/** The person as the control plane names it; null where it cannot tell. A login that it refuses is not stored. */
async function subjectOf({ server, token, issuer }: Login, invocation: LoginInvocation): Promise<string | null> {
  const { stopping: signal } = invocation.terminal;
  const rules = { concurrency: 1, requestTimeoutMs: (invocation.flags.requestTimeout ?? 30) * 1000 };
  const options = connectOptions(invocation, { reading: true, limit: null }, rules);
  await using connection = connect({ ...options, server, token: () => token });
  try {
    return (await connection.reader.get("getCaller", {}, { signal })).subject;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.reason === "route-missing") return null;
    const hint =
      error.reason === "unauthorized"
        ? `nothing was stored: it must accept ${printable(issuer)} and the audience of the token`
        : "nothing was stored; sign in again when it answers";
    throw new HoldfastError(error.code, `the control plane does not take the login: ${error.message}`, {
      hint,
      cause: error,
    });
  }
}
