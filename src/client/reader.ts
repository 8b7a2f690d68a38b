import PQueue from "p-queue";
import type { Stop } from "../clock/clock.ts";
import type { JsonObject } from "../contract/json.ts";
import {
  type DryRunOperation,
  type GetOperation,
  type ListOperation,
  type OperationName,
  operation,
  type Replies,
} from "../contract/operations.ts";
import type { Call } from "./call.ts";
import type { Answer } from "./call-outcome.ts";
import { ClientError } from "./client-error.ts";
import type { CallContent, PathParameters, Query } from "./compose-request.ts";
import type { BodyParser } from "./decode-body.ts";
import { type Page, readEnvelopePage, readResourceReply } from "./read-envelope.ts";
import { readError } from "./read-error.ts";
import { type Listing, type PageRange, readList } from "./read-list.ts";
import { isSameResource } from "./same-resource.ts";

type Parsing = Stop & { readonly parse?: BodyParser };
type Calling = Parsing & { readonly repeats?: boolean };
type Condense = (row: unknown) => unknown;
type Listings<Row> = Extract<Listing<Row>, { readonly state: "complete" }>;
type Where = { readonly path?: PathParameters; readonly query?: Query };

/** The requests of plan and drift, dry runs included. None of them changes the control plane. */
export type Reader = {
  /** Reads one resource. */
  readonly get: <Name extends GetOperation>(name: Name, where: Where, stop: Parsing) => Promise<Replies[Name]>;
  /** Reads one page, by default the first one with the server's own limit. */
  readonly page: <Name extends ListOperation>(
    name: Name,
    where: Where & { readonly offset?: number; readonly limit?: number },
    stop: Parsing,
  ) => Promise<Page<Replies[Name]>>;
  /**
   * Reads every row of a list; `limit` is the number of rows per page. `condense` replaces each row as soon as its page
   * is read, so that only the part that the caller needs stays in memory.
   */
  readonly list: <Name extends ListOperation>(
    name: Name,
    where: Where & { readonly limit?: number },
    stop: Parsing & { readonly condense?: Condense },
  ) => Promise<readonly Replies[Name][]>;
  /**
   * Sends a write with `dryRun: true` and returns its answer. A dry run whose reply is lost is retried only if its
   * operation may be repeated, or if it `isRepeatable` because this server honours dryRun. Otherwise it may have been
   * executed as a write.
   */
  readonly dryRun: <Name extends DryRunOperation>(
    name: Name,
    body: JsonObject & { readonly manifest: JsonObject },
    stop: Stop & { readonly isRepeatable?: boolean },
  ) => Promise<Replies[Name]>;
};

const PAGE = 1000;
// The limit for all lists together. A page may have megabytes, and more pages in memory do not speed up the reading.
const PAGES_AT_ONCE = 2;

/** Creates a reader that uses `call`. Every failure is a `ClientError`; an abort rejects with the signal's own reason. */
export function createReader(call: Call, origin: string): Reader {
  // Rows of one list have similar sizes, so a page size that was too large once is not tried again.
  const pageSizes = new Map<ListOperation, number>();
  const pages = new PQueue({ concurrency: PAGES_AT_ONCE });

  const request = async (name: OperationName, content: CallContent, { signal, repeats = true, parse }: Calling) => {
    const how = { repeats: () => repeats, fresh: false, signal };
    const answer = await call(name, content, parse === undefined ? how : { ...how, parse });
    if (answer.state === "answered") return answer;
    if (isAborted(answer)) throw answer.cause;
    throw readError(name, answer, origin);
  };

  const page: Reader["page"] = async (name, { path, query, offset, limit }, stop) => {
    mustBe(name, (row) => row.reply === "list");
    const answer = await request(name, content(path, { ...query, limit, offset }), stop);
    return readEnvelopePage(name, answer.value) ?? undocumented(name, answer);
  };

  const listing = async <Name extends ListOperation>(
    name: Name,
    { path, query, limit = PAGE }: Where & { readonly limit?: number },
    { condense = (row) => row, ...stop }: Calling & { readonly condense?: Condense },
  ): Promise<Listings<Replies[Name]>> => {
    const span = async (window: PageRange) => {
      try {
        const { rows, total } = await pages.add(() => page(name, { ...content(path, query), ...window }, stop));
        return { rows: rows.map(condense) as typeof rows, total };
      } catch (error) {
        if (error instanceof ClientError && error.reason === "oversize") return "oversize";
        throw error;
      }
    };
    const read = await readList(span, { limit: Math.min(limit, pageSizes.get(name) ?? limit) });
    if (read.state === "oversize")
      throw new ClientError("oversize", describe(name, "returns a row over 8 MiB"), { operation: name });
    if (read.state === "inconsistent")
      throw new ClientError("protocol", describe(name, read.fault), { operation: name });
    if (read.limit < limit) pageSizes.set(name, read.limit);
    return read;
  };

  return {
    page,
    get: async (name, { path, query }, stop) => {
      mustBe(name, (row) => row.reply === "one" && row.retry === "read");
      const answer = await request(name, content(path, query), stop);
      return readResourceReply(name, answer.value)?.data ?? undocumented(name, answer);
    },
    list: async (name, where, stop) => {
      const { rows } = await listing(name, where, stop);
      return rows;
    },
    dryRun: async (name, body, stop) => {
      mustBe(name, (row) => row.body?.dryRun !== undefined);
      const repeats = stop.isRepeatable === true || operation(name).retry === "repeat";
      const answer = await request(name, { body: { ...body, dryRun: true } }, { signal: stop.signal, repeats });
      const data = readResourceReply(name, answer.value)?.data ?? undocumented(name, answer);
      return isSameResource(body, data) ? data : undocumented(name, answer);
    },
  };
}

function isAborted(answer: Answer): answer is Extract<Answer, { readonly cause: unknown }> {
  if (answer.state === "not-sent") return answer.reason === "aborted";
  return answer.state === "ambiguous" && answer.ambiguity === "aborted";
}

// The types exclude this already. The check stops a caller that has bypassed them.
function mustBe(name: OperationName, holds: (row: ReturnType<typeof operation>) => boolean): void {
  if (!holds(operation(name))) throw new TypeError(`${name} is not an operation for this method of the reader`);
}

function content(path: PathParameters | undefined, query: Query | undefined): CallContent {
  return { ...(path === undefined ? {} : { path }), ...(query === undefined ? {} : { query }) };
}

function undocumented(name: OperationName, { status }: Extract<Answer, { readonly state: "answered" }>): never {
  throw new ClientError(
    "protocol",
    describe(name, `answered ${status} with a body that does not have the documented form`),
    {
      operation: name,
      status,
    },
  );
}

function describe(name: OperationName, what: string): string {
  const { method, path } = operation(name);
  return `${method} ${path} ${what}`;
}
