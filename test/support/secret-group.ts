import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Server } from "./server.ts";
import { examples } from "./source.ts";

/** Makes the secret group that the examples refer to, as `npm start` does. */
export async function makeSecretGroup({ call }: Server): Promise<void> {
  const { type: _, ...group } = JSON.parse(await readFile(join(examples, "secret-group.json"), "utf8"));
  await call("POST", "/api/svc/v1/secret-groups", group);
}
