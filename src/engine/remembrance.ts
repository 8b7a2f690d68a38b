import type { Imprint } from "../client/recall.ts";
import type { Identity } from "../core/manifest.ts";
import { keepSealed, readSealed } from "../seal/file.ts";
import type { SealKey } from "../seal/key.ts";
import { type Accord, type ListFacts, nothingRemembered, type Remembered, type Remembrance } from "./accord.ts";

/** How it lies in the file. Rows are named by their place in the list of rows, since pages and accords repeat them. */
type Written = {
  readonly lists: readonly {
    readonly kind: string;
    readonly rows: readonly (readonly [imprint: Imprint, id: string, key: string | null, version: number | null])[];
    readonly pages: readonly (readonly [imprint: Imprint, total: number, rows: readonly number[]])[];
  }[];
  readonly accords: readonly (readonly [
    identity: Identity,
    manifest: string,
    row: Imprint | null,
    receipt: string | null,
  ])[];
};

/**
 * Keeps what is remembered of one control plane in a sealed file, for this build alone: whatever cannot be read, was
 * made by another build or for another server counts as nothing.
 */
export function remembranceIn(
  path: string,
  { server, key, build }: { readonly server: string; readonly key: SealKey; readonly build: string },
): Remembrance {
  const name = `remembrance of ${server} by ${build}`;
  return {
    load: () => {
      const content = readSealed(path, key, name);
      return content === null ? nothingRemembered : read(JSON.parse(content.toString("utf8")) as Written);
    },
    save: (remembered) => keepSealed(path, key, name, JSON.stringify(write(remembered))),
  };
}

function read({ lists, accords }: Written): Remembered {
  return {
    lists: new Map(lists.map((list) => [list.kind, readList(list)])),
    accords: new Map(accords.map(([identity, manifest, row, receipt]) => [identity, { manifest, row, receipt }])),
  };
}

function readList({ rows, pages }: Written["lists"][number]): ListFacts {
  const imprints = rows.map(([imprint]) => imprint);
  return {
    rows: new Map(rows.map(([imprint, id, key, version]) => [imprint, { id, key, version }])),
    pages: new Map(
      pages.map(([imprint, total, places]) => [imprint, { total, rows: places.flatMap((at) => imprints[at] ?? []) }]),
    ),
  };
}

function write({ lists, accords }: Remembered): Written {
  return {
    lists: [...lists].map(([kind, list]) => ({ kind, ...writeList(list) })),
    accords: [...accords].map(([identity, accord]) => writeAccord(identity, accord)),
  };
}

function writeAccord(identity: Identity, { manifest, row, receipt }: Accord): Written["accords"][number] {
  return [identity, manifest, row, receipt];
}

function writeList({ rows, pages }: ListFacts): Omit<Written["lists"][number], "kind"> {
  const places = new Map([...rows.keys()].map((imprint, place) => [imprint, place]));
  return {
    rows: [...rows].map(([imprint, { id, key, version }]) => [imprint, id, key, version]),
    pages: [...pages].map(([imprint, page]) => [
      imprint,
      page.total,
      page.rows.flatMap((row) => places.get(row) ?? []),
    ]),
  };
}
