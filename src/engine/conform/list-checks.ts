import { isDeepStrictEqual } from "node:util";
import type { ClientError } from "../../client/client-error.ts";
import { isObject, type JsonObject, text } from "../../contract/json.ts";
import type { ListOperation } from "../../contract/operations.ts";
import { type Check, refusalOf } from "./check.ts";
import { type ConformContext, failureOf, type ListPlace, type ReceivedPage } from "./context.ts";
import { NotCheckableError } from "./not-checkable-error.ts";
import { callOf } from "./read-checks.ts";

const LISTS = [
  "listWorkspaces",
  "listPromptVersions",
  "listModelVersions",
  "listMlRepos",
] as const satisfies readonly ListOperation[];

const shared = { level: "read", operations: [...LISTS, "listDeployments"] } as const;

/** The checks of what all lists have in common. */
export const listChecks: readonly Check[] = [
  {
    ...{ ...shared, check: "list-limit", part: "interface" },
    asserts: "a page has at most `limit` rows, and pagination repeats `limit` and `offset`",
    without: "it reads more than it asks for, and large tenants slowly",
    find: overLists(2, async ({ name, where, context }) => {
      const { rows, pagination } = await context.page(name, { ...where, limit: 1 });
      if (rows.length > 1) return `with limit=1 it answers ${rows.length} rows`;
      return pagination.limit === 1 && pagination.offset === 0 ? null : "with limit=1, pagination says otherwise";
    }),
  },
  {
    ...{ ...shared, check: "list-offset", part: "interface" },
    asserts: "`offset` skips as many rows",
    without: "it reads only the first page, and takes what is behind it for absent",
    find: overLists(2, async ({ name, where, first, context }) => {
      const [one, other] = first.rows.map(idOf);
      if (one === undefined || other === undefined || one === other) return INCOMPARABLE;
      const { rows } = await context.page(name, { ...where, limit: 1, offset: 1 });
      return idOf(rows[0]) === other ? null : "with offset=1 it does not answer the second row";
    }),
  },
  {
    ...{ ...shared, check: "list-past-end", part: "semantics" },
    asserts: "past the end, data is empty and pagination has the true total",
    without: "it reads lists again that change while they are read",
    find: overLists(0, async ({ name, where, first, context }) => {
      const { rows, total } = await context.page(name, { ...where, offset: first.total + 1000, limit: 1 });
      if (rows.length > 0) return "past the end it answers rows";
      return total === first.total ? null : `past the end, total is ${total} instead of ${first.total}`;
    }),
  },
  {
    ...{ ...shared, check: "list-range", part: "semantics" },
    asserts: "a `limit` of 0 or 1001 and an `offset` of -1 are answered 400",
    without: "nothing: it never asks for these",
    find: overLists(0, async ({ name, where, context }) => {
      for (const range of [{ limit: 0 }, { limit: 1001 }, { offset: -1 }]) {
        const refusal = await refusalOf(context.page(name, { ...where, ...range }));
        if (refusal?.status !== 400) return `${JSON.stringify(range)} is answered ${refusal?.status ?? "with success"}`;
      }
      return null;
    }),
  },
  {
    ...{ ...shared, check: "list-order", part: "semantics" },
    asserts: "lists are newest first",
    without: "it may take an older version for the newest one",
    find: overLists(2, async ({ first }) => {
      const times = first.rows.flatMap(({ createdAt, created_at }) => text(createdAt) ?? text(created_at) ?? []);
      if (times.length < 2) return INCOMPARABLE;
      const isOrdered = times.every((time, at) => at === 0 || time <= (times[at - 1] ?? time));
      return isOrdered ? null : "rows are not in the order of their creation, newest first";
    }),
  },
  {
    ...{ ...shared, check: "list-repeatable", part: "semantics" },
    asserts: "the same page twice, with nothing written between, has the same rows",
    without: "it reads lists up to three times, and may report them as unreadable",
    find: overLists(1, async ({ name, where, first, context }) => {
      if (first.rows.every((row) => idOf(row) === undefined)) return INCOMPARABLE;
      const again = await context.page(name, { ...where, limit: 100 });
      // Somebody may have written meanwhile.
      if (again.total !== first.total) throw new NotCheckableError("the list changed while it was read");
      return isDeepStrictEqual(again.rows.map(idOf), first.rows.map(idOf)) ? null : "the second page is another one";
    }),
  },
  {
    ...{ ...shared, check: "list-unknown-parameter", part: "semantics" },
    asserts: "unknown query parameters are ignored",
    without: "nothing today: a later release may send parameters that are new",
    find: overLists(0, async ({ name, where, context }) => {
      const refusal = await refusalOf(context.page(name, { ...where, query: { holdfast_conform: "1" }, limit: 1 }));
      return refusal === null ? null : `with an unknown parameter it answers ${refusal.status}`;
    }),
  },
  {
    ...{ level: "read", operations: LISTS, check: "list-filters", part: "interface" },
    asserts: "the filters `fqn` and `name` narrow a list to what they name",
    without: "it takes another resource for the one that it asked for",
    find: overLists(1, ({ name, first, context }) => filterFault(name, first, context, (value) => value)),
  },
  {
    ...{ level: "read", operations: LISTS, check: "list-filters-exact", part: "semantics" },
    asserts: "filters match exactly, never as patterns",
    without: "it asks for more than it needs, and compares names itself",
    find: overLists(1, ({ name, first, context }) => filterFault(name, first, context, (value) => value.slice(0, -1))),
  },
];

type ListAsked = {
  readonly name: ListOperation;
  readonly where: ListPlace;
  /** Its first rows. */
  readonly first: ReceivedPage;
  readonly context: ConformContext;
};

/** That the rows of a list lack what a check compares. */
const INCOMPARABLE = Symbol("incomparable");

/** Finds a fault in the lists that have enough rows; what is wrong with the form of a list is for its own check. */
function overLists(
  rows: number,
  find: (list: ListAsked) => Promise<string | typeof INCOMPARABLE | null>,
): Check["find"] {
  return async (context) => {
    let [checked, read] = [0, 0];
    let failure: ClientError | null = null;
    for (const { name, where } of await placesIn(context)) {
      // A list that could not be read is not asked for again by each check.
      const asked = where.path === undefined ? context.list(name) : context.deployments();
      const failed = await failureOf(asked);
      failure ??= failed;
      if (failed !== null) continue;
      read += 1;
      const first = await asked;
      if (first.rows.length < rows) continue;
      const fault = await find({ name, where, first, context });
      if (typeof fault === "string") return `${callOf(name)}: ${fault}`;
      if (fault === null) checked += 1;
    }
    if (checked > 0) return null;
    if (read === 0) throw new NotCheckableError(`no list can be read: ${failure?.message}`, { cause: failure });
    const enough = rows === 1 ? "a row" : `${rows} rows`;
    throw new NotCheckableError(`no list that this token reads has ${enough} that can be compared`);
  };
}

async function placesIn({ applicationId }: ConformContext): Promise<readonly Pick<ListAsked, "name" | "where">[]> {
  const lists = LISTS.map((name) => ({ name, where: {} }));
  try {
    return [...lists, { name: "listDeployments", where: { path: { id: await applicationId() } } }];
  } catch (error) {
    if (error instanceof NotCheckableError) return lists;
    throw error;
  }
}

function idOf(row: JsonObject | undefined): string | undefined {
  return text(row?.id) ?? text(row?.fqn) ?? text(row?.name);
}

/** What a filter answers beside the rows that have exactly its value, or that it leaves them out. */
async function filterFault(
  name: ListOperation,
  { rows: [row] }: ReceivedPage,
  { page }: ConformContext,
  asked: (value: string) => string,
): Promise<string | typeof INCOMPARABLE | null> {
  let isAsked = false;
  for (const filter of name === "listMlRepos" ? ["name"] : name === "listDeployments" ? [] : ["fqn", "name"]) {
    const value = fieldOf(row, filter);
    const given = asked(value ?? "");
    if (given === "") continue;
    isAsked = true;
    const { rows } = await page(name, { query: { [filter]: given }, limit: 100 });
    if (rows.some((one) => fieldOf(one, filter) !== given)) return `${filter}=${given} answers other resources too`;
    if (given === value && rows.length === 0) return `${filter}=${given} answers nothing, and that resource exists`;
  }
  return isAsked ? null : INCOMPARABLE;
}

function fieldOf(row: JsonObject | undefined, field: string): string | undefined {
  return text(row?.[field]) ?? text(isObject(row?.manifest) ? row.manifest[field] : undefined);
}
