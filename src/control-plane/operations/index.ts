import type { Authenticator } from "../auth.ts";
import { userToken } from "../auth.ts";
import type { Served } from "../serve.ts";
import { applications } from "./applications.ts";
import { clusters } from "./clusters.ts";
import { workspaces } from "./workspaces.ts";

/** Every operation that is served, by family. */
export const served: readonly Served[] = [...workspaces, ...applications, ...clusters];

/** Every way to know a caller. */
export const authenticators: readonly Authenticator[] = [userToken];
