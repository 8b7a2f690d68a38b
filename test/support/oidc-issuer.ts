import { generateKeyPairSync } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import { Provider } from "oidc-provider";
import { onTestFinished, vi } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { listen } from "./listen.ts";
import { audience } from "./own-issuer.ts";

/** What an issuer tells of a person beside the name that it signs in with. */
export type PersonClaims = { readonly [claim: string]: unknown };

/** A running OpenID Connect issuer. */
export type OidcIssuer = {
  readonly url: string;
  /** The audience that it signs access tokens for. */
  readonly audience: string;
  /** What it tells of a person from now on; by default an address at example.com, verified. */
  readonly persons: Map<string, PersonClaims>;
  /** How often it was asked for tokens. */
  readonly tokenRequests: () => number;
  /** From now on it answers nothing but errors. */
  readonly fail: () => void;
};

/** The client of commands. */
export const cliClient = "holdfast-cli";

/** The client of the dashboard, and its secret. */
export const dashboardClient: { readonly id: string; readonly secret: string } = {
  id: "holdfast-dashboard",
  secret: "CANARY-client-secret-of-the-dashboard",
};

/** Starts an issuer, which ends with the test; anybody may sign in there under any name. */
export async function startOidcIssuer({
  tokenSeconds = 3600,
  redirectUris = ["http://127.0.0.1/unused"],
}: {
  readonly tokenSeconds?: number;
  readonly redirectUris?: readonly string[];
} = {}): Promise<OidcIssuer> {
  let listener: RequestListener = (_, reply) => reply.end();
  const server = createServer((request, reply) => listener(request, reply));
  const url = await listen(server);
  const persons = new Map<string, PersonClaims>();
  // It advises on every default that it uses.
  for (const method of ["info", "warn"] as const) {
    const said = vi.spyOn(console, method).mockImplementation(() => undefined);
    onTestFinished(() => said.mockRestore());
  }
  const provider = new Provider(url, configurationOf({ persons, tokenSeconds, redirectUris }));
  const answer = provider.callback();
  let tokenRequests = 0;
  listener = (request, reply) => {
    if (request.method === "POST" && request.url === "/token") tokenRequests += 1;
    void answer(request, reply);
  };
  return {
    url,
    audience,
    persons,
    tokenRequests: () => tokenRequests,
    fail: () => {
      listener = (_, reply) => reply.writeHead(503).end("away");
    },
  };
}

function configurationOf({
  persons,
  tokenSeconds,
  redirectUris,
}: {
  readonly persons: ReadonlyMap<string, PersonClaims>;
  readonly tokenSeconds: number;
  readonly redirectUris: readonly string[];
}): unknown {
  const claimsOf = (name: string) => ({
    email: `${name}@example.com`,
    email_verified: true,
    ...persons.get(name),
  });
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    clients: [
      {
        client_id: cliClient,
        application_type: "native",
        token_endpoint_auth_method: "none",
        grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
        redirect_uris: [],
        response_types: [],
      },
      {
        client_id: dashboardClient.id,
        client_secret: dashboardClient.secret,
        token_endpoint_auth_method: "client_secret_post",
        redirect_uris: redirectUris,
        application_type: "native",
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"], profile: ["name"] },
    // As Dex, Okta and Entra do: the ID token has the claims.
    conformIdTokenClaims: false,
    cookies: { keys: ["keys-of-a-test"] },
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: "test", use: "sig", alg: "RS256" }] },
    ttl: { AccessToken: tokenSeconds, IdToken: tokenSeconds },
    rotateRefreshToken: true,
    findAccount: (_: unknown, name: string) => ({
      accountId: name,
      claims: () => ({ sub: name, ...claimsOf(name) }),
    }),
    extraTokenClaims: (_: unknown, { accountId }: { readonly accountId: string }) => claimsOf(accountId),
    features: {
      deviceFlow: { enabled: true },
      revocation: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: "", audience, accessTokenFormat: "jwt", accessTokenTTL: tokenSeconds }),
      },
    },
  };
}

/** Goes through the pages of an issuer as a person with a browser: signs in under a name, and agrees to everything. */
export async function goThrough(page: string, name: string): Promise<string> {
  const jar = new Map<string, string>();
  let request: { url: string; form: URLSearchParams | null } = { url: page, form: null };
  for (let step = 0; step < 20; step += 1) {
    const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
    const reply = await fetch(request.url, {
      redirect: "manual",
      headers: { cookie },
      ...(request.form === null ? {} : { method: "POST", body: request.form }),
    });
    for (const line of reply.headers.getSetCookie()) {
      const [, key = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") jar.delete(key);
      else jar.set(key, value);
    }
    const location = reply.headers.get("location");
    if (location !== null) {
      request = { url: new URL(location, request.url).href, form: null };
      continue;
    }
    const html = await reply.text();
    const action = /<form[^>]*action="([^"]+)"/.exec(html)?.[1];
    if (action === undefined) return html;
    const inputs = html.matchAll(/<input[^>]*name="([^"]+)"(?:[^>]*value="([^"]*)")?/g);
    const fields = Array.from(inputs, ([, field = "", value = ""]): [string, string] => [field, value]);
    const form = new URLSearchParams(fields);
    for (const field of ["login", "password"]) if (form.has(field)) form.set(field, name);
    request = { url: new URL(action, request.url).href, form };
  }
  throw new Error(`the pages of ${page} do not end`);
}

/** Signs in by the device flow, and answers the access token. */
export async function signInAs({ url, audience: resource }: OidcIssuer, name: string): Promise<Secret> {
  const post = async (path: string, fields: Record<string, string>) => {
    const body = new URLSearchParams({ client_id: cliClient, ...fields });
    const reply = await fetch(`${url}${path}`, { method: "POST", body });
    return (await reply.json()) as Record<string, string>;
  };
  const scope = "openid email profile groups";
  const begun = await post("/device/auth", { scope, resource });
  await goThrough(begun.verification_uri_complete ?? "", name);
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const { access_token } = await post("/token", { grant_type, device_code: begun.device_code ?? "", resource });
  return new Secret(access_token ?? "");
}
