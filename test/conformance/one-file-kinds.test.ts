import { cpSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { manifestTypes } from "../../src/schema/schemas.ts";
import { copyCheckout } from "../support/checkout-copy.ts";
import { kindsNamedIn } from "../support/kinds-named.ts";
import { everyKind } from "../support/manifests.ts";
import { sourceOf } from "../support/source.ts";

const root = join(import.meta.dirname, "../..");

/** Files that may name kinds, and why. */
const naming: readonly (readonly [RegExp, string])[] = [
  [/generated\/|^src\/(kinds|schema\/rules)\/index\.ts$/, "generated"],
  [/^src\/server\/(resources\/|database\/migrations)/, "the server's file of the kind, and its tables"],
  [/^src\/contract\/(operations|resources)\.ts$/, "paths and replies of the interface"],
  [/^src\/commands\/(flags\/flags|declarations\/\w+|conform)\.ts$/, "the flag --workspace"],
  [/^src\/engine\/conform\//, "what is sent to a control plane to check it"],
  [/^src\/commands\/token\.ts$/, "the accounts whose tokens are reissued"],
  [/^src\/commands\/init\/starter-files\.ts$/, "the first manifests of a new source"],
  [/^src\/model\/(roles|references)\.ts$/, "role names, and how manifests name other resources"],
];

/** The kinds that a file names though it is of none of them. */
function strangersIn(file: string): readonly string[] {
  if (naming.some(([pattern]) => pattern.test(file))) return [];
  const own = /^src\/(kinds|schema\/rules)\//.test(file) ? basename(file, ".ts") : null;
  const code = readFileSync(join(root, file), "utf8");
  // A kind's file says what its manifests refer to: the beginnings of identities.
  const read = own === null ? code : code.replaceAll(/`[\w-]+\/\$\{/g, "`${");
  return kindsNamedIn(read, manifestTypes).filter((kind) => kind !== own && !isAlias(kind, own));
}

const isAlias = (kind: string, own: string | null) => own === "team" && kind === "sso-team";

test("no file names a kind but its own, its rule file and its server file", () => {
  const files = globSync("src/**/*.ts", { cwd: root });
  expect(files.length).toBeGreaterThan(300);
  expect(files.flatMap((file) => strangersIn(file).map((kind) => `${file}: ${kind}`))).toEqual([]);
  expect(naming.filter(([pattern]) => !files.some((file) => pattern.test(file)))).toEqual([]);
});

describe("an invented kind, of one file, one schema and one example,", () => {
  test("is validated, planned and applied", async () => {
    const { folder: copy, build } = await copyCheckout();
    const invented = join(import.meta.dirname, "invented-kind");
    cpSync(join(invented, "data-sync.ts.txt"), join(copy, "src/kinds/data-sync.ts"));
    cpSync(join(invented, "data-sync.json"), join(copy, "schemas/data-sync.json"));
    const built = await build();

    const example = readFileSync(join(invented, "orders.yaml"), "utf8");
    const source = await sourceOf({ ...everyKind, "orders.yaml": example });
    const holdfast = (...args: readonly string[]) => built(source.folder, ...args);
    expect(await holdfast("validate")).toContain("9 manifests in 9 files: valid");
    expect(await holdfast("plan", "--embedded")).toMatch(/^\+ data-sync\/orders /m);
    expect(await holdfast("apply", "--embedded", "--yes")).toMatch(/created +data-sync\/dev:web\/orders/);
    expect(await holdfast("apply", "--embedded", "--yes")).toMatch(/^Applying to embedded\nApplied: 9 unchanged\n$/);
    await source.write("orders.yaml", example.replace("shop", "web"));
    expect(await holdfast("plan", "--embedded")).toMatch(/manifest +labels\.owner +shop → web/);

    await source.write("orders.yaml", `${example}lables: {}\n`);
    await expect(holdfast("validate")).rejects.toMatchObject({ code: 3 });
  });
});
