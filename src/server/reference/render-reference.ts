import { type DocumentOptions, openApiDocument } from "../openapi/document.ts";
import { referencePage } from "./reference-page.ts";
import { stylesheet } from "./stylesheet.ts";

/** The content of `/openapi.json`, `/docs` and `/docs/style.css`. */
export type RenderedReference = { readonly openApi: string; readonly page: string; readonly stylesheet: string };

/** Renders the reference. The build does this once; the bundle replaces this module by one that reads the result. */
export async function renderReference(options: DocumentOptions): Promise<RenderedReference> {
  const document = openApiDocument(options);
  return { openApi: JSON.stringify(document), page: referencePage(document), stylesheet };
}
