import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import S3rver from "@20minutes/s3rver";
import { temporaryFolder } from "./folder.ts";
import { listen } from "./listen.ts";

/** A server of the interface of S3 that others have written; it verifies signatures and keeps objects in files. */
export type S3Server = {
  /** The environment that gives its credentials and address to a client. */
  readonly env: Readonly<Record<string, string>>;
  /** The content of an object. */
  readonly content: (key: string) => Promise<Buffer>;
};

// The only credentials that it knows.
const KEY = "S3RVER";

/** Starts it with one bucket. */
export async function startS3Server(bucket = "models"): Promise<S3Server> {
  const directory = await temporaryFolder();
  const s3 = new S3rver({ silent: true, directory, configureBuckets: [{ name: bucket }] });
  await s3.configureBuckets();
  const url = await listen(createServer(s3.callback()));
  return {
    env: { AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: KEY, AWS_REGION: "us-east-1", AWS_ENDPOINT_URL: url },
    content: (key) => readFile(join(directory, bucket, `${key}._S3rver_object`)),
  };
}
