import { rm } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../files/write.ts";

/** Says in the data folder where the control plane listens; disposing of it takes that back. */
export async function announceEndpoint(folder: string, url: string): Promise<AsyncDisposable> {
  const path = join(folder, "endpoint");
  replaceFile(path, `${url}\n`);
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}
