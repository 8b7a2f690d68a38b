import { createHash, createHmac } from "node:crypto";
import { compareText } from "../../contract/json.ts";
import type { Secret } from "../../contract/secret.ts";

/** Credentials of a store that speaks the interface of S3. */
export type S3Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  /** The token of temporary credentials; null for lasting ones. */
  readonly sessionToken: Secret | null;
};

/** A request that is signed. */
export type SignedRequest = {
  readonly method: string;
  /** The host of its address, with the port if that is not the default one. */
  readonly host: string;
  /** The path as it is sent, encoded once. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body in hexadecimal. */
  readonly bodyDigest: string;
};

/**
 * The headers that sign a request to S3 by Signature Version 4, at a time in epoch milliseconds. All given headers are signed, and
 * the digest of the body, so that nothing on the way can change them.
 */
export function signS3(
  { method, host, path, query, headers, bodyDigest }: SignedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: S3Credentials,
  { region, at }: { readonly region: string; readonly at: number },
): Readonly<Record<string, string>> {
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const own = {
    "x-amz-content-sha256": bodyDigest,
    "x-amz-date": time,
    ...(sessionToken === null ? {} : { "x-amz-security-token": sessionToken.open() }),
  };
  const signed = Object.entries({ ...headers, ...own, host }).toSorted(([a], [b]) => compareText(a, b));
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    method,
    path,
    canonicalQuery(query),
    ...signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, " ")}`),
    "",
    names,
    bodyDigest,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce(
    (last: Buffer, part) => hmac(last, part),
    Buffer.from(`AWS4${secretAccessKey.open()}`),
  );
  const signature = hmac(key, toSign).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...headers, ...own, authorization };
}

/** The query of a signed request, as it is sent. */
export function canonicalQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => [encodeS3(name), encodeS3(value)] as const)
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** A part of a path or query, encoded as signatures take it. */
export function encodeS3(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
