import { isObject, type Json, type JsonObject, text } from "../../../contract/json.ts";

/** A runnable code sample that uses one registry version. */
export type CodeSnippet = {
  readonly display_name: string;
  readonly language: string;
  readonly libraries: readonly string[];
  readonly code: string;
};

/** Code that reads and fills in a prompt version, in each language. */
export function promptSnippets(fqn: string, manifest: JsonObject): readonly CodeSnippet[] {
  const variables = sampleVariables(manifest.variables);
  return [
    {
      display_name: "Python",
      language: "python",
      libraries: [],
      code: `${pythonRead("prompt-versions", fqn)}
variables = ${pythonLiteral(variables)}


def fill(text):
    for name, value in variables.items():
        text = text.replace("{{" + name + "}}", str(value))
    return text


for message in version["manifest"]["messages"]:
    content = message.get("content")
    print(message["role"] + ":", fill(content) if isinstance(content, str) else content)
`,
    },
    {
      display_name: "TypeScript",
      language: "typescript",
      libraries: [],
      code: `${typescriptRead("prompt-versions", fqn)}
const variables: Record<string, unknown> = ${JSON.stringify(variables, null, 2)};
const fill = (text: string) =>
  Object.entries(variables).reduce((filled, [name, value]) => filled.replaceAll(\`{{\${name}}}\`, String(value)), text);

for (const { role, content } of version.manifest.messages) {
  console.log(\`\${role}:\`, typeof content === "string" ? fill(content) : content);
}
`,
    },
    { display_name: "cURL", language: "shell", libraries: [], code: shellRead("prompt-versions", fqn) },
  ];
}

/** Code that finds a model version's files, and loads them when its framework is known. */
export function modelSnippet(fqn: string, manifest: JsonObject): string {
  return `${pythonRead("model-versions", fqn)}
source = version["manifest"].get("source") or {}
print(version["fqn"], source.get("uri"))
${loading(manifest)}`;
}

// Only local files are loaded: fetching others depends on their store.
function loading({ framework, source }: JsonObject): string {
  const uri = isObject(source) ? text(source.uri) : undefined;
  if (!isObject(framework) || framework.type !== "transformers" || !uri?.startsWith("file://")) return "";
  const task = text(framework.pipeline_tag);
  return `
# pip install transformers torch
from transformers import pipeline

location = urllib.request.url2pathname(urllib.parse.urlparse(source["uri"]).path)
model = pipeline(${task === undefined ? "" : `${JSON.stringify(task)}, `}model=location)
`;
}

// Sample values from the manifest, so that the snippet runs without changes.
function sampleVariables(variables: Json | undefined): JsonObject {
  if (!isObject(variables)) return {};
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, typeof value === "string" ? value : sampleText(value)]),
  );
}

function sampleText(value: Json): Json {
  if (!isObject(value)) return Array.isArray(value) ? JSON.stringify(value) : value;
  const { default: sample } = value;
  return sample === undefined || typeof sample === "object" ? "" : sample;
}

// JSON is valid Python except for these three words, which are only replaced as whole values.
function pythonLiteral(value: JsonObject): string {
  const words: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };
  const entries = Object.entries(value).map(([key, item]) => {
    const json = JSON.stringify(item);
    return `    ${JSON.stringify(key)}: ${words[json] ?? json},`;
  });
  return entries.length === 0 ? "{}" : `{\n${entries.join("\n")}\n}`;
}

function pythonRead(collection: string, fqn: string): string {
  return `import json
import os
import urllib.parse
import urllib.request

query = urllib.parse.urlencode({"fqn": ${JSON.stringify(fqn)}})
request = urllib.request.Request(
    os.environ["HOLDFAST_SERVER"].rstrip("/") + "/api/ml/v1/${collection}?" + query,
    headers={"Authorization": "Bearer " + os.environ["HOLDFAST_TOKEN"]},
)
with urllib.request.urlopen(request) as response:
    version = json.load(response)["data"][0]
`;
}

function typescriptRead(collection: string, fqn: string): string {
  return `const url = new URL(\`\${process.env.HOLDFAST_SERVER}/api/ml/v1/${collection}\`);
url.searchParams.set("fqn", ${JSON.stringify(fqn)});
const response = await fetch(url, { headers: { Authorization: \`Bearer \${process.env.HOLDFAST_TOKEN}\` } });
if (!response.ok) throw new Error(\`\${url} answered \${response.status}\`);
const [version] = (await response.json()).data;
`;
}

function shellRead(collection: string, fqn: string): string {
  return `curl --fail --silent --show-error --get "$HOLDFAST_SERVER/api/ml/v1/${collection}" \\
  --header "Authorization: Bearer $HOLDFAST_TOKEN" \\
  --data-urlencode 'fqn=${fqn}'
`;
}
