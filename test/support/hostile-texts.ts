const manifest = "type: service\nname: api\nworkspace_fqn: c:w\nimage: {type: image, image_uri: x}\n";

/** Makes a text of at most so many characters. */
type Hostile = (size: number) => string;

/** The ending of the file that a text belongs into. */
export function endingOf(name: string): "json" | "yaml" {
  return name.includes("JSON") ? "json" : "yaml";
}

/** Texts that are made to hold a reader up, by what they are made of; each would be a manifest of ours. */
export const hostileTexts: { readonly [name: string]: Hostile } = {
  "B13: an alias bomb": alias,
  "B13: many aliases": repeated("x: &a y\nlabels: [", "*a,", "]\n"),
  "B11: aliases of nothing": repeated("labels: [", "*b,", "]\n"),
  "B11: many anchors": numbered("labels:\n", (n) => `  k${n}: &a${n} x\n`),
  "B14: open brackets": repeated("labels: ", "["),
  "B14: lists in lists": repeated("labels:\n  ", "- "),
  "B14: mappings in mappings": numbered("labels:\n", (n) => `${" ".repeat(Math.min(n + 1, 1000))}a:\n`),
  "B15: a wide mapping": numbered("labels:\n", (n) => `  k${n}: 1\n`),
  "B15: a wide mapping with a fault": numbered("\tbad: 1\nlabels:\n", (n) => `  k${n}: 1\n`),
  "B15: keys in braces that never end": repeated("labels: {", "a b c,"),
  "B15: many unknown fields": numbered("", (n) => `replica${n}: 1\n`),
  "B8: one key again and again": repeated("", "a: 1\n"),
  "B11: a huge key": repeated("labels:\n  ", "k", ": 1\n"),
  "B16: a long list of merges": repeated("x: &a {b: 1}\nlabels: {<<: [", "*a,", "]}\n"),
  "B10: many tags": repeated("labels: [", "!!str a,", "]\n"),
  "B10: many foreign tags": repeated("labels: [", "!x a,", "]\n"),
  "B17: many empty documents": repeated("", "---\n"),
  "B17: comments before a fault": repeated("", "#\n", "\t: [\n"),
  "B17: 199 documents with anchors": (size) => documents("labels: &x [", "a, ", "a]", size / 2),
  "B17: 199 broken documents": (size) => documents("labels: [", "a, ", "b: [", size),
  "B20: one scalar": repeated("description: ", "a"),
  "B20: a quote that never ends": repeated('description: "', "a b "),
  "B20: a scalar folded over many lines": repeated("description: >\n  a\n", "\n"),
  "B20: a plain scalar over many lines": repeated("description: a\n", "  b\n"),
  "B2: lines of nothing": repeated("", "\r\n"),
  "B2: tabs": repeated("", "\t\n"),
  "B3: marks that reorder": repeated("labels: [", "\u202e,", "]\n"),
  "B6: many octal numbers": repeated("labels: [", "0755,", "]\n"),
  "B21: beginnings of credentials": repeated("env:\n  A: ", "eyJaaaaaaaa."),
  "B22: a list of faults": repeated("ports:\n", "- {prot: 80}\n"),
  "B24: many secrets": numbered("env:\n", (n) => `  TOKEN${n}_TOKEN: hunter2hunter2hunter2\n`),
  "B26: lines that might name a manifest": repeated("a: [\n", "type: service\n"),
  "B9: the same JSON key": (size) => `{"type":"service"${filled(',"a":1', size - 20)}}`,
  "B14: JSON inside JSON": (size) => `{"type":"service","labels":${filled("[", size - 40)}`,
};

function filled(part: string, size: number): string {
  return part.repeat(Math.max(1, Math.floor(size / part.length)));
}

function repeated(head: string, part: string, tail = ""): Hostile {
  return (size) => {
    const start = manifest + head;
    return (
      start +
      filled(part, Buffer.byteLength(part) === part.length ? size - start.length - tail.length : size / 4) +
      tail
    );
  };
}

function numbered(head: string, line: (n: number) => string): Hostile {
  return (size) => {
    const lines = [manifest, head];
    for (let [n, left] = [0, size - manifest.length - head.length]; ; n++) {
      const next = line(n);
      left -= next.length;
      if (left < 0) return lines.join("");
      lines.push(next);
    }
  };
}

function alias(size: number): string {
  const nine = (n: number) => `  a${n}: &a${n} [${Array(9).fill(n === 0 ? "x" : `*a${n - 1}`)}]\n`;
  return numbered("labels:\n", nine)(size);
}

function documents(head: string, part: string, tail: string, size: number): string {
  const each = Math.floor(size / 199);
  return Array.from({ length: 199 }, (_, n) => {
    const start = `---\n${manifest.replace("api", `api-${n}`)}${head}`;
    return `${start}${filled(part, each - start.length - 8)}${tail}\n`;
  }).join("");
}
