import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isObject, type Json } from "../../../src/contract/json.ts";
import { escapePointer } from "../../../src/contract/json-pointer.ts";
import { excerptOf } from "../../../src/core/redact/masked-excerpt.ts";
import { defaultLimits } from "../../../src/source/limits.ts";
import type { ParsedFile } from "../../../src/yaml/document.ts";
import { ExactProcess } from "../../../src/yaml/exact/exact-process.ts";
import { lineFinder, locator } from "../../../src/yaml/locator.ts";
import { folderOf, loadRevision, read, write } from "../source/source.ts";
import { parsed } from "./parsed.ts";
import { runs, seed, texts, timeout } from "./texts.ts";

const formats = fc.constantFrom("yaml" as const, "json" as const);

/** Every place in a value, as JSON Pointers. */
function pointersOf(value: Json, pointer = ""): readonly string[] {
  if (typeof value !== "object" || value === null) return [pointer];
  const inside = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [
    pointer,
    ...inside.flatMap(([key, field]: readonly [string | number, Json]) =>
      pointersOf(field, `${pointer}/${escapePointer(String(key))}`),
    ),
  ];
}

function expectSound({ text, faults, documents }: ParsedFile): void {
  const at = lineFinder(text);
  for (const { offset } of [faults, ...documents.map((document) => document.faults)].flat()) {
    expect(offset).toBeGreaterThanOrEqual(0);
    expect(offset).toBeLessThanOrEqual(text.length);
  }
  for (const document of documents) {
    const lines = text.split("\n");
    const locate = locator(document, at);
    for (const pointer of pointersOf(document.value).slice(0, 200)) {
      const { line, column } = locate(pointer);
      expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
    }
  }
}

describe(`inputs of every sort (SEED=${seed})`, () => {
  test("B30: nothing throws, and every fault and every field lies within the text", { timeout }, () => {
    fc.assert(
      fc.property(fc.oneof(texts, fc.string({ unit: "binary", maxLength: 60 })), formats, (text, format) => {
        expectSound(parsed(text, format));
        expect(Reflect.ownKeys(Object.prototype)).not.toContain("1");
      }),
      runs(0.3),
    );
  });

  test("B1, B26: bytes are read or refused, never thrown at", { timeout }, () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(bytes, formats, (each, format) => expectSound(parsed(each, format))),
      runs(0.3),
    );
  });

  // In two parts, so that no scanner takes the test itself for a leak.
  const canary = `ghp_${"CaNaRy".repeat(6)}`;

  test("B31, S11: a whole source is loaded or refused, and no fault shows a credential", { timeout }, async () => {
    const root = await folderOf({});
    const spot = fc.tuple(texts, fc.nat(), fc.constantFrom("", "\nenv:\n  TOKEN: ", '"', "'", "\n- "));
    const names = ["0.yaml", "1.yaml", "2.json"];
    await fc.assert(
      fc.asyncProperty(fc.tuple(spot, spot, spot), async (spots) => {
        const files = spots.map(([text, at, before]) => {
          const from = at % (text.length + 1);
          return `${text.slice(0, from)}${before}${canary}${text.slice(from)}`;
        });
        write(root, Object.fromEntries(names.map((name, index) => [name, files[index] ?? ""])));
        const { diagnostics } = await loadRevision(await read(root));
        expect(JSON.stringify(diagnostics)).not.toContain(canary.slice(0, 12));
        for (const { file, line, column } of diagnostics) {
          const shown = files[names.indexOf(file ?? "")]?.split("\n")[(line ?? 1) - 1] ?? "";
          expect(excerptOf(shown, column ?? 1)?.line ?? "").not.toContain(canary.slice(0, 12));
        }
      }),
      runs(0.03),
    );
  });

  test("what is read aside is what would be read here", { timeout }, async () => {
    await using aside = new ExactProcess();
    // The process's start is not part of the time that there is for looking.
    await aside.read(Buffer.from(""), { format: "yaml", limits: defaultLimits, worthy: null });
    await fc.assert(
      fc.asyncProperty(texts, formats, async (text, format) => {
        const bytes = Buffer.from(text);
        const there = await aside.read(bytes, { format, limits: defaultLimits, worthy: null });
        const here = parsed(bytes, format);
        expect(there).toEqual({ ...here, documents: there.documents });
        for (const [index, document] of here.documents.entries()) {
          const other = there.documents[index];
          const plain = { fieldOffsets: null, respellings: null };
          expect({ ...other, ...plain }).toEqual({ ...document, ...plain });
          expect(other?.fieldOffsets()).toEqual(document.fieldOffsets());
          expect(other?.respellings()).toEqual(document.respellings());
          if (isObject(document.value)) expect(Object.keys(document.value)).toEqual(Object.keys(other?.value ?? {}));
        }
      }),
      runs(0.1),
    );
  });
});
