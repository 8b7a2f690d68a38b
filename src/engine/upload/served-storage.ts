import PQueue from "p-queue";
import { openTransfer, type Transfer, type TransferOptions, type TransferReply } from "../../client/transfer.ts";
import { isObject, type Json, parseJsonOrNull, text } from "../../contract/json.ts";
import { withoutSignature } from "../../contract/staged-files.ts";
import { escapeUnprintable } from "../../model/unprintable.ts";
import { readPart, type VersionFile } from "../model-files/read-file.ts";
import { StorageRefusal, type Storing, type VersionStorage } from "./storage.ts";

const CONCURRENCY = 4;
const PAGE = 1000;
const MOST_SHOWN = 500;

/** A storage root on a control plane (extension E21): its signature is the right to store files there. */
export function servedStorage(root: string, options: Omit<TransferOptions, "concurrency">): VersionStorage {
  const { origin, pathname } = new URL(root);
  const base = pathname.replace(/\/+$/, "");
  const transfer = openTransfer(origin, { ...options, concurrency: CONCURRENCY });
  const place = { transfer, base, title: withoutSignature(root) };
  return {
    store: async (files, storing) => {
      const present = await list(place, storing);
      const isThere = ({ path, size, digest }: VersionFile): boolean => present.get(path) === `${size} ${digest}`;
      for (const file of files.filter(isThere)) storing.onStored(file.size);
      const queue = new PQueue({ concurrency: CONCURRENCY });
      const failed = new AbortController();
      const each = { ...storing, signal: AbortSignal.any([storing.signal, failed.signal]) };
      const missing = files.filter((file) => !isThere(file));
      const put = (file: VersionFile) => async (): Promise<void> => {
        each.signal.throwIfAborted();
        await store(file, place, each);
      };
      try {
        await Promise.all(missing.map((file) => queue.add(put(file))));
      } catch (error) {
        // The others end too, before anything is decided about the stage.
        failed.abort(error);
        queue.clear();
        await queue.onIdle().catch(() => undefined);
        throw error;
      }
      await requireExactly(files, place, storing);
    },
    [Symbol.asyncDispose]: () => transfer[Symbol.asyncDispose](),
  };
}

type Place = { readonly transfer: Transfer; readonly base: string; readonly title: string };

async function store(file: VersionFile, place: Place, storing: Storing): Promise<void> {
  const { path, size, digest } = file;
  const reply = await place.transfer.send(
    {
      method: "PUT",
      path: `${place.base}/${path.split("/").map(encodeURIComponent).join("/")}`,
      headers: () => ({
        "content-type": "application/octet-stream",
        "repr-digest": `sha-256=:${Buffer.from(digest, "hex").toString("base64")}:`,
      }),
      content: { size, open: () => readPart(file, { first: 0, size }, storing) },
    },
    storing,
  );
  if (reply.status >= 300) throw refusal(`does not take ${path}`, reply, place);
  storing.onStored(size);
}

async function list(place: Place, storing: Storing): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (let offset = 0; ; offset += PAGE) {
    const request = {
      method: "GET",
      path: `${place.base}/?limit=${PAGE}&offset=${offset}`,
      headers: () => ({}),
    } as const;
    const reply = await place.transfer.send(request, storing);
    if (reply.status >= 300) throw refusal("cannot be listed", reply, place);
    const body: Json = parseJsonOrNull(reply.body.toString());
    const rows = isObject(body) && Array.isArray(body.data) ? body.data : null;
    if (rows === null) throw new StorageRefusal(`the storage ${place.title} lists no files: it is no control plane's`);
    for (const row of rows) {
      if (!isObject(row)) continue;
      found.set(String(row.path), `${String(row.size)} ${String(row.digest).replace(/^sha256:/, "")}`);
    }
    if (rows.length < PAGE) return found;
  }
}

async function requireExactly(files: readonly VersionFile[], place: Place, storing: Storing): Promise<void> {
  const present = await list(place, storing);
  const missing = files.find(({ path, size, digest }) => present.get(path) !== `${size} ${digest}`);
  if (missing !== undefined) {
    throw new StorageRefusal(`the storage ${place.title} accepted ${missing.path}, and does not have it`);
  }
  const names = new Set(files.map(({ path }) => path));
  const foreign = present.keys().find((path) => !names.has(path));
  if (foreign !== undefined) throw new StorageRefusal(`the storage ${place.title} has another file: ${foreign}`);
}

function refusal(what: string, { status, body }: TransferReply, { title, base }: Place): StorageRefusal {
  const value: Json = parseJsonOrNull(body.toString("utf8"));
  const message = isObject(value) ? (text(value.message) ?? "") : "";
  // What is answered may repeat the address, whose last part is the right to store files.
  const shown = message.replaceAll(base.slice(base.lastIndexOf("/") + 1), "…");
  const why = shown === "" ? "" : `: ${escapeUnprintable(shown).slice(0, MOST_SHOWN)}`;
  return new StorageRefusal(`the storage ${title} ${what} (${status})${why}`);
}
