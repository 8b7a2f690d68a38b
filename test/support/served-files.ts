import { inject } from "vitest";
import type { ControlPlaneOptions } from "../../src/server/control-plane.ts";
import { temporaryFolder } from "../control-plane.ts";

/** The address at which clients are told to reach the server of a test; the test replaces it by where the server listens. */
export const TOLD_ADDRESS = "https://control.example.com/platform";

/** The options of a server through which the files of staged versions go, on either database. */
export async function servedFiles(): Promise<Pick<ControlPlaneOptions, "artifactRoot" | "artifactFolder">> {
  const isShared = inject("postgres") !== undefined;
  return { artifactRoot: TOLD_ADDRESS, ...(isShared && { artifactFolder: await temporaryFolder() }) };
}
