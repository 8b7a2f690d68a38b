import { stringify } from "yaml";
import { controlPlaneObjects } from "./helm/control-plane.ts";
import { daemonObjects } from "./helm/daemon.ts";
import { withContent } from "./helm/place.ts";
import { schemaOf } from "./helm/schema.ts";
import { type ChartObject, templateOf } from "./helm/template.ts";
import { valuesOf } from "./helm/values-of.ts";

const FOLDER = "deploy/helm/holdfast";
const NOTE = "# Generated from scripts/generate/helm by `npm run generate`.\n";

/** The Helm chart of daemon and control plane, by the file that each part is kept in. */
export function helmTexts({ version, description }: { readonly version: string; readonly description: string }) {
  const parts = { daemon: daemonObjects, "control-plane": controlPlaneObjects };
  const values = valuesOf(Object.values(parts).flat());
  const tree = values.reduce<unknown>((whole, { path, content }) => withContent(whole, path.split("."), content), {});
  const chart = { apiVersion: "v2", name: "holdfast", type: "application", version, appVersion: version, description };
  const files: readonly (readonly [file: string, text: string])[] = [
    ["Chart.yaml", NOTE + stringify(chart, { lineWidth: 0 })],
    ["values.yaml", `${NOTE}# values.schema.json says what each value means.\n${stringify(tree, { lineWidth: 0 })}`],
    ["values.schema.json", `${JSON.stringify(schemaOf(values), null, 2)}\n`],
    ...Object.entries(parts).flatMap(([part, objects]) => objects.map((object) => template(part, object))),
  ];
  return files.map(([file, text]) => [`${FOLDER}/${file}`, text] as const);
}

function template(part: string, object: ChartObject): readonly [file: string, text: string] {
  return [`templates/${part}/${object.file}.yaml`, NOTE + templateOf(object)];
}
