import { expect, test } from "vitest";
import { lineFinder, locator } from "../../../src/yaml/locator.ts";
import { parsed } from "./parsed.ts";

function finder(text: string, format: "yaml" | "json" = "yaml", nth = 0) {
  const file = parsed(text, format);
  const document = file.documents[nth];
  if (document === undefined) throw new Error("no such document");
  const locate = locator(document, lineFinder(file.text));
  return (pointer: string, at?: "key" | "value") => {
    const { line, column } = locate(pointer, at);
    return `${line}:${column}`;
  };
}

const text = `# head
type: service
"a/b": 1
'c~d': 'x'
list:
  - one
  -   name: two
      port: 80
flow: [1, {k: v}]
map:
  inner:
    deep: |
      text
empty:
anchor: &a
  x: 1
alias: *a
tagged: !!str 5
`;

test("a field is found where its value is, a block where its key is", () => {
  const at = finder(text);
  expect(at("/type")).toBe("2:7");
  expect(at("/type", "key")).toBe("2:1");
  expect(at("/a~1b")).toBe("3:8");
  expect(at("/c~0d")).toBe("4:8");
  expect(at("/list")).toBe("5:1");
  expect(at("/list/0")).toBe("6:5");
  expect(at("/list/1/port")).toBe("8:13");
  expect(at("/list/1/name", "key")).toBe("7:7");
  expect(at("/flow")).toBe("9:7");
  expect(at("/flow/1/k")).toBe("9:15");
  expect(at("/map/inner/deep")).toBe("12:5");
  expect(at("/empty")).toBe("14:1");
  expect(at("/anchor/x")).toBe("16:6");
  expect(at("/alias")).toBe("17:8");
  expect(at("/tagged", "key")).toBe("18:1");
});

test("a missing field is found where its parent is, the document where it begins", () => {
  const at = finder(text);
  expect(at("")).toBe("2:1");
  expect(at("/nowhere")).toBe("2:1");
  expect(at("/map/inner/missing")).toBe("11:3");
  expect(at("/list/1/missing/deeper")).toBe("7:7");
  expect(at("/list/9")).toBe("5:1");
  expect(at("/type/x")).toBe("2:1");
});

test("positions count from the start of the file, whatever document, line ending or mark", () => {
  expect(finder("a: 1\n---\n# c\nb:\n  c: 2\n", "yaml", 1)("/b/c")).toBe("5:6");
  expect(finder("\ufeffa: 1\r\nb: 2\r\n")("/b")).toBe("2:4");
  expect(finder("é: 1\n😀: x\n")("/😀")).toBe("2:5");
  expect(finder('{\n\t"a": {"b": [true, 5]}\n}', "json")("/a/b/1")).toBe("2:20");
  expect(finder("a:\t1\nb:\n  c: 2\n")("/b/c")).toBe("3:6");
});

test("the exact parser's positions are the fast parser's", () => {
  const [plain, delicate] = [finder(text), finder(`${text}tab: "x\ty"\n`)];
  for (const pointer of ["/type", "/list/1/port", "/flow/1/k", "/map/inner/deep", "/empty", "/anchor/x", "/c~0d"]) {
    expect(delicate(pointer)).toBe(plain(pointer));
  }
});

test("places are looked up when they are asked for, and no sooner", () => {
  const file = parsed(text);
  const [document] = file.documents;
  if (document === undefined) throw new Error("no such document");
  let [calls, offsets] = [0, 0];
  const positionAt = lineFinder(file.text);
  const locate = locator(
    {
      ...document,
      fieldOffsets: () => {
        calls += 1;
        return document.fieldOffsets();
      },
    },
    (offset) => {
      offsets += 1;
      return positionAt(offset);
    },
  );
  expect([calls, offsets]).toEqual([0, 0]);
  expect([locate("/type"), locate("/list/1")].map(({ line }) => line)).toEqual([2, 7]);
  expect([calls, offsets]).toEqual([1, 2]);
});
