import { deflateRawSync } from "node:zlib";
import type { ReferenceAssets } from "../build/dashboard-page.ts";
import { type DocumentOptions, openApiDocument } from "./openapi/document.ts";
import { servedDocument } from "./openapi/served-document.ts";
import { referencePage } from "./reference/reference-page.ts";

/** The reference of the control plane in each form that a server may answer, by the name of its file. */
export function referenceForms(assets: ReferenceAssets): readonly (readonly [file: string, text: string])[] {
  return [true, false].flatMap((documentedOnly) =>
    (["refuse", "allow"] as const).map((unknownFields) => {
      const file = `${documentedOnly ? "documented" : "all"}-${unknownFields}.json`;
      return [file, referenceText({ documentedOnly, unknownFields }, assets)] as const;
    }),
  );
}

function referenceText(options: DocumentOptions, { stylesheet, script }: ReferenceAssets): string {
  const document = openApiDocument(options);
  const openApi = packed(JSON.stringify(servedDocument(options)));
  return JSON.stringify({ openApi, page: packed(referencePage(document)), stylesheet, script });
}

// Four forms of it would be a third of the package.
function packed(text: string): string {
  return deflateRawSync(text, { level: 9 }).toString("base64");
}
