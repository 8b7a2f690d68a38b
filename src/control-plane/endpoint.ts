import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Says in the data folder where the control plane listens; disposing of it takes that back. */
export async function announceEndpoint(folder: string, url: string): Promise<AsyncDisposable> {
  const path = join(folder, "endpoint");
  // Renamed into place, so that a reader never sees half of it.
  await writeFile(`${path}.new`, `${url}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}
