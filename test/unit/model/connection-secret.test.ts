import { describe, expect, test } from "vitest";
import { changeOf } from "../../../src/core/diff/change.ts";
import { redactFailureMessage } from "../../../src/core/redact/redact-message.ts";
import { hasConnectionSecret, redactConnectionSecrets } from "../../../src/model/connection-secret.ts";
import { MASK } from "../../../src/model/credential.ts";
import { differences } from "../../../src/model/differences.ts";
import { redactValue } from "../../../src/model/sensitive-fields.ts";
import { processorMs } from "../../support/processor-time.ts";
import { service, shapeOf } from "../core/given.ts";
import { loadFiles } from "../source/source.ts";
import { withMarksInSecret, withoutSecret, withSecret } from "./connection-strings.ts";

const canary = "CaNaRy9Pw7xyZ";
const secrets = withSecret.map((form) => form.replace("~", canary));

describe("connection strings", () => {
  test("are a corpus of at least 60 forms and 60 look-alikes", () => {
    expect(new Set(withSecret).size).toBeGreaterThanOrEqual(60);
    expect(new Set(withoutSecret).size).toBeGreaterThanOrEqual(60);
  });

  test.each(withSecret)("%s holds a secret, which alone is masked in a message", (form) => {
    const text = form.replace("~", canary);
    expect(hasConnectionSecret(text)).toBe(true);
    expect(redactValue(text)).toBe(MASK);
    const shown = redactConnectionSecrets(`${text}`);
    expect(shown).not.toContain(canary);
    const [before = "", after = ""] = form.split("~");
    expect(shown.startsWith(before.replace(/["'{]$/, ""))).toBe(true);
    if (!form.includes("code=") && !form.includes("SSL Password"))
      expect(shown.endsWith(after.replace(/^["'}]/, ""))).toBe(true);
    expect(redactFailureMessage(text)).not.toContain(canary);
  });

  test.each(withMarksInSecret)("%s holds a secret with marks of its syntax", (form, shown) => {
    const text = form.replace("~", canary);
    expect(redactConnectionSecrets(text)).toBe(shown);
    expect([hasConnectionSecret(text), redactValue(text)]).toEqual([true, MASK]);
    expect(redactFailureMessage(text)).not.toContain(canary);
  });

  test.each(withSecret.filter((form) => /[?&;]\w+=~|[;]Pwd=/i.test(form)))("%s does in any case", (form) => {
    for (const changed of [form.toUpperCase(), form.toLowerCase()]) {
      expect(hasConnectionSecret(changed.replace("~", canary))).toBe(true);
    }
  });

  test.each(withoutSecret)("%s is shown", (text) => {
    expect(redactConnectionSecrets(text)).toBe(text);
    expect(redactValue(text)).toBe(text);
  });

  test("are masked on both sides of a difference, and no diff shows them", () => {
    for (const text of secrets) {
      const [before, after] = [text, text.replace(canary, `${canary}-2`)].map((url) =>
        service({ env: { URL: `${url}\n` } }),
      );
      const [found] = differences(shapeOf("service"), before, after);
      if (found === undefined) throw new Error("no difference");
      const change = changeOf(found, "manifest", { shape: shapeOf("service"), manifest: after, live: before });
      expect([change.before, change.after, change.diff]).toEqual([MASK, MASK, null]);
    }
  });

  test("are warned of as literal secrets, in free-form and in other fields, and look-alikes are not", async () => {
    const env = (texts: readonly string[]) =>
      `type: service\nname: api\nworkspace_fqn: cl1:ws1\nimage: { type: image, image_uri: x }\nenv:\n${texts
        .map((text, n) => `  V${n}: ${JSON.stringify(text)}\n`)
        .join("")}`;
    const { diagnostics } = await loadFiles({
      "a.yaml": env(secrets),
      "b.yaml": env(withoutSecret).replace("name: api", "name: b"),
    });
    expect(diagnostics.filter(({ file }) => file !== "a.yaml")).toEqual([]);
    expect(diagnostics.map(({ line }) => line)).toEqual(secrets.map((_, n) => n + 6));
    expect(new Set(diagnostics.map(({ severity, code }) => `${severity} ${code}`))).toEqual(
      new Set(["warning literal-secret"]),
    );
    expect(JSON.stringify(diagnostics)).not.toContain(canary);
    const queue = `worker_config: { input_config: { type: amqp, url: "${secrets[6]}", queue_name: q } }\nreplicas: 1\n`;
    const typed = env([]).replace("type: service", "type: async-service").replace("env:\n", queue);
    const { diagnostics: found } = await loadFiles({ "a.yaml": typed });
    expect(found.map(({ code, line }) => `${line} ${code}`)).toContain("5 literal-secret");
  });

  test("are masked in keys, whatever is said of them", async () => {
    const key = JSON.stringify(`postgres://app:${canary}@db/app`);
    const manifest = `type: service\nname: api\nworkspace_fqn: cl1:ws1\nimage: { type: image, image_uri: x }\nreplicas: 1\n`;
    const { diagnostics } = await loadFiles({
      "a.yaml": `${manifest}${key}: 1\n`,
      "b.yaml": `${manifest}env: { ${key}: 1, ${key}: 2 }\n`,
      "c.yaml": `${manifest}env: { ${key}: [1] }\n`,
      "d.yaml": `${manifest}values: { ${key}: { password: plain } }\n`,
      "e.yaml": `${manifest}env: [{ name: ${key}, value: x }]\n`,
    });
    expect(new Set(diagnostics.map(({ file }) => file))).toEqual(
      new Set(["a.yaml", "b.yaml", "c.yaml", "d.yaml", "e.yaml"]),
    );
    expect(JSON.stringify(diagnostics)).not.toContain(canary);
  });

  test("are found in linear time", () => {
    const started = processorMs();
    for (const part of [
      "a=b;",
      "a=b ",
      "a,",
      "?a=",
      ";password",
      "; ",
      "x:y@",
      "a://b:",
      "jdbc:db2:",
      "jdbc:mysql(,",
      "LoginModule a ",
      'a="',
      "a = ",
      ';a=""',
      ";a={}}",
      "%3Ba%3D",
      "?a%5B",
      "@a(",
      "x@(a)",
      "x:y@ ",
      "a:b ",
      "a/b@ ",
      "a: ",
      ",x-bindpw",
      "?,!",
      "a://b:c@",
    ]) {
      for (const end of ["", "=", "@", "=@tcp(", "=@(a)/"])
        hasConnectionSecret(part.repeat(20_000 / part.length) + end);
    }
    expect(processorMs() - started).toBeLessThan(5_000);
  });
});
