import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen } from "./listen.ts";

/** A store that speaks the interface of S3, as far as uploads use it; it is a double, written after Amazon's API Reference. */
export type S3Double = {
  readonly url: string;
  /** The environment that gives its credentials and address to a client. */
  readonly env: Readonly<Record<string, string>>;
  /** The content of its objects, by `bucket/key`. */
  readonly objects: Map<string, StoredObject>;
  /** The multipart uploads that are open, by their id. */
  readonly uploads: Map<string, OpenUpload>;
  /** The requests so far, as `METHOD path?query`. */
  readonly asked: string[];
  /** Answers a request in its place; null to let it pass. */
  refuse: (asked: string) => { readonly status: number; readonly code: string; readonly message?: string } | null;
  /** Called before a request is looked at, with how many there were; true breaks its connection. */
  breaks: (asked: string, nth: number) => boolean;
};

type StoredObject = { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> };
type OpenUpload = {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly parts: Map<number, Buffer>;
};

const SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const env = { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: SECRET, AWS_REGION: "eu-west-1" };
// The last part of an upload may be smaller.
const LEAST_PART_BYTES = 5 * 1024 * 1024;

/** Starts it with one bucket; it refuses requests that are not signed for it, or whose body is not what was signed. */
export async function startS3Double(bucket = "models"): Promise<S3Double> {
  const server = createServer((request, response) => void answer(request, response));
  const url = await listen(server);
  const double: S3Double = {
    url,
    env: { ...env, AWS_ENDPOINT_URL: url },
    objects: new Map(),
    uploads: new Map(),
    asked: [],
    refuse: () => null,
    breaks: () => false,
  };
  return double;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: target = "" } = request;
    const asked = `${method} ${target}`;
    double.asked.push(asked);
    if (double.breaks(asked, double.asked.length)) return void response.destroy();
    const refused = double.refuse(asked);
    const fail = (status: number, code: string, message = "refused") =>
      response
        .writeHead(status, { "content-type": "application/xml" })
        .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`);
    if (refused !== null) {
      request.resume();
      return void fail(refused.status, refused.code, refused.message);
    }
    // Whoever sends it may have been killed.
    const body = await buffer(request).catch(() => null);
    if (body === null) return void response.destroy();
    const fault = signatureFault(request, body);
    if (fault !== null) return void fail(403, fault);
    const { pathname, searchParams: query } = new URL(target, url);
    const [, name = "", ...rest] = pathname.split("/");
    if (name !== bucket) return void fail(404, "NoSuchBucket");
    const key = decodeURIComponent(rest.join("/"));
    const xml = (text: string) => response.writeHead(200, { "content-type": "application/xml" }).end(text);
    const upload = double.uploads.get(query.get("uploadId") ?? "");
    if (query.has("uploadId") && upload?.key !== key) return void fail(404, "NoSuchUpload");
    const kept = Object.fromEntries(
      Object.entries(request.headers).filter(([header]) => header.startsWith("x-amz-meta-")),
    ) as Record<string, string>;
    if (upload !== undefined) return void inUpload(upload, { method, query, key, body }, { response, xml, fail });
    if (method === "POST" && query.has("uploads")) {
      const id = `upload-${double.asked.length}`;
      double.uploads.set(id, { key, headers: kept, parts: new Map() });
      return void xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
    }
    if (method === "GET" && query.has("uploads")) {
      const open = [...double.uploads].filter(([, one]) => one.key.startsWith(query.get("prefix") ?? ""));
      const rows = open.map(([id, one]) => `<Upload><Key>${escaped(one.key)}</Key><UploadId>${id}</UploadId></Upload>`);
      return void xml(`<ListMultipartUploadsResult>${rows.join("")}</ListMultipartUploadsResult>`);
    }
    if (method === "GET" && query.get("list-type") === "2") {
      const found = [...double.objects.keys()].filter((one) => one.startsWith(query.get("prefix") ?? "")).toSorted();
      // Pages of two, so that there are several.
      const from = Number(query.get("continuation-token") ?? 0);
      const rows = found.slice(from, from + 2).map((one) => `<Contents><Key>${escaped(one)}</Key></Contents>`);
      const isLast = from + 2 >= found.length;
      const next = isLast ? "" : `<NextContinuationToken>${from + 2}</NextContinuationToken>`;
      return void xml(
        `<ListBucketResult><IsTruncated>${!isLast}</IsTruncated>${next}${rows.join("")}</ListBucketResult>`,
      );
    }
    if (method === "PUT") {
      double.objects.set(key, { body, headers: kept });
      return void response.writeHead(200, { etag: md5(body) }).end();
    }
    const object = double.objects.get(key);
    if (method !== "HEAD" || object === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { "content-length": object.body.length, ...object.headers }).end();
  }

  function inUpload(
    upload: OpenUpload,
    { method, query, key, body }: { method: string; query: URLSearchParams; key: string; body: Buffer },
    to: { response: ServerResponse; xml: (text: string) => unknown; fail: (status: number, code: string) => unknown },
  ): void {
    const id = query.get("uploadId") ?? "";
    const number = Number(query.get("partNumber"));
    if (method === "PUT") {
      upload.parts.set(number, body);
      return void to.response.writeHead(200, { etag: md5(body) }).end();
    }
    if (method === "DELETE") {
      double.uploads.delete(id);
      return void to.response.writeHead(204).end();
    }
    const parts = [...upload.parts].toSorted(([a], [b]) => a - b);
    if (method === "GET") {
      const after = Number(query.get("part-number-marker") ?? 0);
      const rest = parts.filter(([nth]) => nth > after);
      const rows = rest
        .slice(0, 2)
        .map(
          ([nth, part]) =>
            `<Part><PartNumber>${nth}</PartNumber><Size>${part.length}</Size><ETag>${escaped(md5(part))}</ETag></Part>`,
        );
      const more =
        rest.length > 2
          ? `<IsTruncated>true</IsTruncated><NextPartNumberMarker>${rest[1]?.[0]}</NextPartNumberMarker>`
          : "";
      return void to.xml(`<ListPartsResult>${more}${rows.join("")}</ListPartsResult>`);
    }
    const wanted = parts.map(([nth, part]) => `<Part><PartNumber>${nth}</PartNumber><ETag>${md5(part)}</ETag></Part>`);
    if (!body.toString().includes(`>${wanted.join("")}<`)) return void to.fail(400, "InvalidPart");
    if (parts.slice(0, -1).some(([, part]) => part.length < LEAST_PART_BYTES))
      return void to.fail(400, "EntityTooSmall");
    double.objects.set(key, { body: Buffer.concat(parts.map(([, part]) => part)), headers: upload.headers });
    double.uploads.delete(id);
    to.xml("<CompleteMultipartUploadResult/>");
  }
}

function md5(body: Buffer): string {
  return `"${createHash("md5").update(body).digest("hex")}"`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** What is wrong with the signature of a request, as Amazon's error code; null if nothing is. */
function signatureFault({ method, url = "", headers }: IncomingMessage, body: Buffer): string | null {
  const [, id, day = "", region, names = "", signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([\da-f]{64})$/.exec(
      headers.authorization ?? "",
    ) ?? [];
  if (id !== env.AWS_ACCESS_KEY_ID) return "InvalidAccessKeyId";
  if (region !== env.AWS_REGION) return "AuthorizationHeaderMalformed";
  const digest = createHash("sha256").update(body).digest("hex");
  if (headers["x-amz-content-sha256"] !== digest) return "XAmzContentSHA256Mismatch";
  const time = String(headers["x-amz-date"]);
  const at = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(at - Date.now()) < 15 * 60_000)) return "RequestTimeTooSkewed";
  const signed = names.split(";");
  const amazon = Object.keys(headers).filter((name) => name.startsWith("x-amz-") || name === "host");
  if (amazon.some((name) => !signed.includes(name))) return "AccessDenied";
  const [path = "", query = ""] = url.split("?");
  const sorted = query.split("&").toSorted().join("&");
  const lines = signed.map((name) => `${name}:${headers[name]}\n`).join("");
  const canonical = `${method}\n${path}\n${sorted}\n${lines}\n${names}\n${digest}`;
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${createHash("sha256").update(canonical).digest("hex")}`;
  let key: Buffer | string = `AWS4${SECRET}`;
  for (const part of [day, region, "s3", "aws4_request"]) key = createHmac("sha256", key).update(part).digest();
  return createHmac("sha256", key).update(text).digest("hex") === signature ? null : "SignatureDoesNotMatch";
}
