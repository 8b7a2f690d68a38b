import type { JsonObject } from "../../contract/json.ts";
import { drift } from "../declarations/drift.ts";
import { explain } from "../declarations/explain.ts";
import { graph } from "../declarations/graph.ts";
import { history } from "../declarations/history.ts";
import { plan } from "../declarations/plan.ts";
import { status } from "../declarations/status.ts";
import { validate } from "../declarations/validate.ts";
import { why } from "../declarations/why.ts";
import { foundIn } from "./found-in.ts";
import { base, behind, flagged, paths, type Tool, withoutSeal } from "./tool.ts";

const identity: JsonObject = { type: "string", minLength: 3, maxLength: 500 };
const FEWER_FILES = "name fewer files with `paths`";

/** The tools that are always offered: they read, and write nothing anywhere. */
export const readingTools: readonly Tool[] = [
  {
    name: "validate",
    title: "Check the manifests",
    description: "Checks the manifests offline: schema, identities, references, cycles. Asks no control plane.",
    properties: { paths },
    command: () => validate,
    words: (given) => behind(given.paths),
    narrow: FEWER_FILES,
  },
  {
    name: "plan",
    title: "Show what an apply would change",
    description:
      "Shows what an apply would create and update, field by field, and the cause of each difference. Changes nothing.",
    properties: { paths, base },
    command: () => plan,
    words: (given) => [...flagged("--base", given.base), ...behind(given.paths)],
    pick: withoutSeal,
    narrow: FEWER_FILES,
  },
  {
    name: "drift",
    title: "Show what was changed outside git",
    description: "Shows which fields of live resources were changed outside git, by whom and when. Changes nothing.",
    properties: { paths, base },
    command: () => drift,
    words: (given) => ["--no-detailed-exitcode", ...flagged("--base", given.base), ...behind(given.paths)],
    narrow: FEWER_FILES,
  },
  {
    name: "explain",
    title: "Explain a field of manifests",
    description:
      "Explains a kind of manifest, or a field of one: type, unit, default, limits, known values. Asks no control plane.",
    properties: {
      field: {
        type: "string",
        minLength: 1,
        maxLength: 300,
        description: "a kind with the path of a field, such as service.resources.memory_request, or a kind alone",
      },
    },
    required: ["field"],
    command: () => explain,
    words: (given) => behind(given.field),
    narrow: "name a field below it with `field`",
  },
  {
    name: "why",
    title: "Show where a value comes from",
    description: "Shows who declared a value (file, line, commit), who wrote it, and who changed it in live.",
    properties: {
      field: {
        ...identity,
        description: "identity of a resource with the JSON Pointer of a field, such as service/c1:ws1/api/replicas",
      },
    },
    required: ["field"],
    command: () => why,
    words: (given) => behind(given.field),
    narrow: "name one field behind the identity, such as service/c1:ws1/api/replicas",
  },
  {
    name: "status",
    title: "Show the status of the daemon",
    description: "Shows what the daemon has done and what it waits for, of each target.",
    properties: {},
    command: () => status,
    words: () => [],
    narrow: "name one target with `target`",
  },
  {
    name: "history",
    title: "Show what became of commits and resources",
    description: "Shows what became of each commit, or of resources.",
    properties: {
      identities: {
        type: "array",
        items: identity,
        maxItems: 20,
        description: "identities of resources, such as service/c1:ws1/api; default: what became of each commit",
      },
      drifted: { type: "boolean", description: "show when live had drifted" },
      changes: { type: "boolean", description: "show what each write changed, field by field" },
    },
    command: () => history,
    words: ({ drifted, changes, identities }) => [
      ...(drifted === true ? ["--drifted"] : []),
      ...(changes === true ? ["--changes"] : []),
      ...behind(identities),
    ],
    narrow: "name fewer resources with `identities`",
  },
  {
    name: "search",
    title: "Find resources",
    description: "Finds declared and live resources by a text in their identity, with its name, or in their kind.",
    properties: {
      text: { type: "string", minLength: 1, maxLength: 200, description: "the text, in upper or lower case" },
      among: {
        type: "string",
        enum: ["declared", "all"],
        description: "declared: the manifests alone, offline; all (default): what is live and not declared too",
      },
    },
    required: ["text"],
    command: ({ among }) => (among === "declared" ? graph : plan),
    words: ({ among }) => (among === "declared" ? [] : ["--no-dry-run", "--show=unchanged", "--show=unmanaged"]),
    pick: (result, { text }) => foundIn(result, String(text)),
    narrow: "look for a longer text",
  },
];
