import { type DocumentOptions, openApiDocument } from "../openapi/document.ts";
import { referencePage } from "./page.ts";
import { stylesheet } from "./stylesheet.ts";

/** What `/openapi.json`, `/docs` and `/docs/style.css` answer. */
export type RenderedReference = { readonly openApi: string; readonly page: string; readonly stylesheet: string };

/** Renders the reference. A build does this once; its bundle has a module in place of this one that reads the results. */
export async function renderReference(options: DocumentOptions): Promise<RenderedReference> {
  const document = openApiDocument(options);
  return { openApi: JSON.stringify(document), page: referencePage(document), stylesheet };
}
