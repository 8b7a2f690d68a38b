import type { Json } from "../../../src/contract/json.ts";
import type { OperationObject, ParameterObject, ReferenceObject } from "../openapi/document-types.ts";
import type { PathOperation } from "./operation-section.ts";

/** The request of an operation's example in one language. */
export type RequestExample = { readonly language: string; readonly code: string };

type Call = { readonly method: string; readonly path: string; readonly body: Json | undefined };

const writers: { readonly [language: string]: (call: Call) => string } = {
  curl: curlCommand,
  Python: pythonProgram,
  TypeScript: typeScriptProgram,
  Go: goProgram,
};

/** The example call of an operation in each language; address and token come from the environment. */
export function requestExamples({ method, path, operation }: PathOperation): readonly RequestExample[] {
  const { parameters = [], requestBody } = operation;
  const call = {
    method: method.toUpperCase(),
    path: filled(path, parameters),
    body: requestBody?.content["application/json"].example,
  };
  return Object.entries(writers).map(([language, write]) => ({ language, code: write(call) }));
}

function filled(path: string, parameters: NonNullable<OperationObject["parameters"]>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const isNamed = (one: ParameterObject | ReferenceObject): one is ParameterObject =>
      "name" in one && one.name === name;
    return encodeURIComponent(String(parameters.find(isNamed)?.example ?? name));
  });
}

function curlCommand({ method, path, body }: Call): string {
  const lines = [
    `curl --fail-with-body ${method === "GET" ? "" : `-X ${method} `}"$HOLDFAST_URL${path}"`,
    `-H "Authorization: Bearer $HOLDFAST_TOKEN"`,
    ...(body === undefined
      ? []
      : [`-H "Content-Type: application/json"`, `-d '${indented(body).replaceAll("'", `'\\''`)}'`]),
  ];
  return lines.join(" \\\n  ");
}

function pythonProgram({ method, path, body }: Call): string {
  return `import os

import requests

response = requests.${method.toLowerCase()}(
    os.environ["HOLDFAST_URL"] + ${JSON.stringify(path)},
    headers={"Authorization": "Bearer " + os.environ["HOLDFAST_TOKEN"]},${
      body === undefined ? "" : `\n    json=${pythonValue(body, "    ")},`
    }
    timeout=30,
)
response.raise_for_status()
print(response.json())`;
}

function pythonValue(value: Json, indent: string): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}    `;
  const items = Array.isArray(value)
    ? value.map((item: Json) => pythonValue(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${pythonValue(item, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}`;
}

function typeScriptProgram({ method, path, body }: Call): string {
  const token = `Authorization: \`Bearer \${process.env.HOLDFAST_TOKEN}\``;
  const options =
    body === undefined
      ? [...(method === "GET" ? [] : [`method: "${method}",`]), `headers: { ${token} },`]
      : [
          `method: "${method}",`,
          `headers: {\n    ${token},\n    "Content-Type": "application/json",\n  },`,
          `body: JSON.stringify(${indented(body).replaceAll("\n", "\n  ")}),`,
        ];
  return `const response = await fetch(\`\${process.env.HOLDFAST_URL}${path}\`, {
  ${options.join("\n  ")}
});
if (!response.ok) throw new Error(\`\${response.status}: \${await response.text()}\`);
console.log(await response.json());`;
}

function goProgram({ method, path, body }: Call): string {
  const imports = ["fmt", "io", "log", "net/http", "os", ...(body === undefined ? [] : ["strings"])];
  const [given, before] = body === undefined ? ["nil", ""] : ["body", `\tbody := strings.NewReader(${goText(body)})\n`];
  const type = body === undefined ? "" : `\n\trequest.Header.Set("Content-Type", "application/json")`;
  return `package main

import (
${imports.map((name) => `\t"${name}"`).join("\n")}
)

func main() {
${before}\trequest, err := http.NewRequest("${method}", os.Getenv("HOLDFAST_URL")+${JSON.stringify(path)}, ${given})
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("HOLDFAST_TOKEN"))${type}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	reply, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode >= 300 {
		log.Fatalf("%s: %s", response.Status, reply)
	}
	fmt.Println(string(reply))
}`;
}

function goText(body: Json): string {
  const text = indented(body);
  // A raw text ends at the first backtick, whatever is before it.
  return text.includes("`") ? JSON.stringify(text) : `\`${text}\``;
}

function indented(value: Json): string {
  return JSON.stringify(value, null, 2);
}
